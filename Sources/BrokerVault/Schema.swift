internal import SQLite

/// The tables of a store. docs/FORMATS.md says of each column whether it is sealed, bound or neither.
enum Schema {
    /// Raised with every change that an older broker could not read. A store of a newer version is
    /// refused and left alone. A store has the version of what is in it: it begins with 1, so that it can be taken back
    /// to an older broker for as long as nothing is in it that one would lose.
    static let version: Int64 = 4

    /// What a store has that holds no row of an internal class.
    private static let firstVersion: Int64 = 1

    /// Whether a store of that version can be opened.
    static func reads(_ version: Int64) -> Bool { (firstVersion...self.version).contains(version) }

    /// Part of the change that writes a row of an internal class.
    static func admitInternalItems(in database: Database) throws(SQLiteError) {
        guard try database.number("PRAGMA user_version") == firstVersion else { return }
        try database.execute("PRAGMA user_version = 2")
    }

    /// Part of the change that writes a recovery slot.
    static func admitRecoverySlot(in database: Database) throws(SQLiteError) {
        guard let there = try database.number("PRAGMA user_version"), there < 3 else { return }
        try database.execute("PRAGMA user_version = 3")
    }

    /// Part of the change that writes the first item which is bound to fingers.
    static func admitBoundFingers(in database: Database) throws(SQLiteError) {
        guard let there = try database.number("PRAGMA user_version"), there < 4 else { return }
        try database.execute("PRAGMA user_version = 4")
    }

    /// Chosen so that a file of ours can be told from another SQLite file: "chat".
    static let applicationID: Int64 = 0x6368_6174

    static func create(in database: Database) throws(SQLiteError) {
        try database.execute(statements)
        try extend(in: database)
        try addIndexes(in: database)
        try database.execute(
            "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(firstVersion);")
    }

    /// Adds what a store of an earlier broker of this version lacks. It changes nothing where nothing is lacking.
    static func extend(in database: Database) throws(SQLiteError) {
        let there = try database.number(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'refresh_completions'")
        if there != 1 { try database.execute(refreshes) }
    }

    private static let refreshes = """
        CREATE TABLE IF NOT EXISTS refresh_grants (
            fence INTEGER PRIMARY KEY, reference BLOB NOT NULL, revision INTEGER NOT NULL,
            application TEXT NOT NULL, boot BLOB NOT NULL, deadline INTEGER NOT NULL, completed INTEGER);
        CREATE INDEX IF NOT EXISTS refresh_grants_reference ON refresh_grants (reference);
        INSERT OR IGNORE INTO numbers VALUES ('next-fence', 1);
        CREATE TABLE IF NOT EXISTS refresh_completions (
            reference BLOB PRIMARY KEY, base INTEGER NOT NULL, revision INTEGER NOT NULL,
            class_key INTEGER NOT NULL, sealed BLOB NOT NULL);
        """

    /// What later versions have beside it, for stores that were made before too: no broker has to know of it.
    static func addIndexes(in database: Database) throws(SQLiteError) {
        try database.execute(renewals(Background.self) + renewals(Foreground.self))
    }

    private static func renewals<Side: VaultSide>(_: Side.Type) -> String {
        """
        CREATE INDEX IF NOT EXISTS \(Side.table)_renewal ON \(Side.table) (group_id, \(ItemTable<Side>.renewalTime))
            WHERE fresh_until IS NOT NULL;

        """
    }

    private static let statements =
        items(Background.table) + items(Foreground.table) + """
            CREATE TABLE numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
            INSERT INTO numbers VALUES ('next-item', 1), ('next-key', 1);
            CREATE TABLE device (fingerprint BLOB NOT NULL);
            CREATE TABLE keybag_slots (id INTEGER PRIMARY KEY, header BLOB NOT NULL);
            CREATE TABLE keybag_keys (
                slot INTEGER NOT NULL REFERENCES keybag_slots ON DELETE CASCADE,
                id INTEGER NOT NULL, purpose INTEGER NOT NULL, sealed BLOB NOT NULL,
                PRIMARY KEY (slot, id)) WITHOUT ROWID;
            CREATE TABLE class_pairs (
                id INTEGER PRIMARY KEY, public_key BLOB NOT NULL, private_key BLOB NOT NULL);
            CREATE TABLE groups (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL DEFAULT 0,
                epoch INTEGER NOT NULL DEFAULT 0, background INTEGER NOT NULL DEFAULT 0,
                foreground INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE tokens (
                token BLOB NOT NULL, created INTEGER NOT NULL, item INTEGER NOT NULL, side INTEGER NOT NULL,
                group_id INTEGER NOT NULL, PRIMARY KEY (token, created, item)) WITHOUT ROWID;
            CREATE TABLE primary_keys (
                token BLOB PRIMARY KEY, item INTEGER NOT NULL, side INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE tombstones (
                token BLOB PRIMARY KEY, group_id INTEGER NOT NULL, reference BLOB NOT NULL,
                revision INTEGER NOT NULL, deleted INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE pending_logouts (id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL, service BLOB NOT NULL);

            """

    private static func items(_ table: String) -> String {
        """
        CREATE TABLE \(table) (
            id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL, item_class INTEGER NOT NULL,
            class_key INTEGER NOT NULL, reference BLOB NOT NULL UNIQUE, revision INTEGER NOT NULL,
            created INTEGER NOT NULL, modified INTEGER NOT NULL, expires INTEGER, fresh_until INTEGER,
            synchronizable INTEGER NOT NULL, gated INTEGER NOT NULL, primary_token BLOB NOT NULL,
            tokens BLOB NOT NULL, size INTEGER NOT NULL, attributes BLOB NOT NULL, secret BLOB NOT NULL);
        CREATE INDEX \(table)_expires ON \(table) (expires) WHERE expires IS NOT NULL;

        """
    }
}
