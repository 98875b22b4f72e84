internal import BrokerModel
internal import Glibc
internal import SQLite
internal import Sodium

/// The open file: one connection that reads, where calls run, and one that writes, whose flushes run on the
/// store thread. A reader sees a commit only when it is durable (write-ahead log, `synchronous=FULL`).
final class Store {
    /// Whether it was opened on a disk that takes no writes.
    let isReadOnly: Bool
    let reading: Tables
    let writing: Tables
    let writer: Writer
    let tombstones: TombstoneTable
    let renewals = Renewals()
    let lead = LeadingName()
    private(set) var slot: KeybagSlot
    /// Tells the keybag from any other.
    private(set) var identity: [UInt8]
    private(set) var accessibilities: [UInt32: Accessibility]
    /// Nil where there is no recovery key.
    private(set) var recovery: RecoverySlot?
    /// Whether it belongs to the device key that it was opened with. If not, nothing but the recovery key opens a thing.
    private(set) var isOwn: Bool
    /// Whether the login's password is known to be another one than the passcode.
    var isOutOfStep: Bool

    private init(
        reader: Database, mark: ReadMark?, writing: Tables, isReadOnly: Bool, slot: KeybagSlot,
        isOwn: Bool, surroundings: Vault.Surroundings
    ) throws(SQLiteError) {
        recovery = try writing.keybag.recoverySlot()
        isOutOfStep = try writing.keybag.isOutOfStep()
        self.isOwn = isOwn
        identity = try writing.keybag.identity()
        self.isReadOnly = isReadOnly
        reading = Tables(reader, isReader: true)
        self.writing = writing
        tombstones = TombstoneTable(database: writing.database)
        self.slot = slot
        accessibilities = slot.accessibilities
        writer = Writer(
            mark: mark, database: writing.database, thread: surroundings.storeThread,
            didCommit: { [renewals] in
                renewals.committed()
                surroundings.tell($0)
            })
    }

    /// Takes the slot that was just stored.
    func adopt(_ slot: KeybagSlot) {
        self.slot = slot
        accessibilities = slot.accessibilities
        // An identity that cannot be read is no keybag's, so that the keys are not used on another file.
        identity = (try? reading.keybag.identity()) ?? []
    }

    /// Takes the recovery slot that was just stored, or that there is none any more.
    func adopt(recovery slot: RecoverySlot?) { recovery = slot }

    /// Belongs to this device from now on.
    func adopt(recovered slot: KeybagSlot) {
        isOwn = true
        adopt(slot)
    }

    /// Knows the class keys of a slot that is about to be stored.
    func anticipate(_ slot: KeybagSlot) { accessibilities.merge(slot.accessibilities) { old, _ in old } }

    var isPasscodeSet: Bool { slot.header != .device }

    /// Whether the file still answers.
    var isReadable: Bool {
        (try? reading.database.number("SELECT count(*) FROM keybag_slots WHERE id = 1")) == 1
    }

    /// Opens the file, or makes it where there is none and there is a device key. A file that is not ours, is empty,
    /// damaged, or of a newer version is `NotAvailable` and left as it is. On a read-only disk it can be read.
    static func open(
        _ path: String, deviceKey: DeviceKey?, surroundings: Vault.Surroundings
    ) throws(Refusal) -> Store {
        do throws(SQLiteError) {
            if let deviceKey, !DatabaseFile.exists(path) { try make(path, deviceKey: deviceKey) }
            let isReadOnly = DatabaseFile.isOnReadOnlyDisk(path)
            let writer =
                isReadOnly ? try Database(path: path, mode: .immutable) : try connect(path, surroundings)
            let tables = Tables(writer, isReader: false)
            try checkVersion(writer, surroundings)
            let isOwn = try belongs(tables, to: deviceKey)
            if isOwn && !isReadOnly { try Schema.extend(in: writer) }
            guard let slot = try tables.keybag.slot() else { throw SQLiteError.notOurs }
            // Without them, on a full disk say, what they are for takes longer.
            if isOwn && !isReadOnly { try? Schema.addIndexes(in: writer) }
            let reader = try Database(path: path, mode: isReadOnly ? .immutable : .readOnly)
            try reader.execute("PRAGMA cache_size = -1024; PRAGMA query_only = ON")
            reader.setBusyTimeout(milliseconds: 1000)
            let mark = isReadOnly ? nil : ReadMark(try Database(path: path, mode: .readOnly))
            return try Store(
                reader: reader, mark: mark, writing: tables, isReadOnly: isReadOnly, slot: slot,
                isOwn: isOwn, surroundings: surroundings)
        } catch {
            surroundings.report(Fault("open the store", code: error.code))
            throw Refusal(error)
        }
    }

    /// Makes the file where there is none, on the store thread.
    static func makeAside(
        _ path: String, deviceKey: DeviceKey, surroundings: Vault.Surroundings
    ) async throws(Refusal) {
        let failure = await surroundings.storeThread.run { () -> SQLiteError? in
            do throws(SQLiteError) {
                if !DatabaseFile.exists(path) { try make(path, deviceKey: deviceKey) }
                return nil
            } catch {
                return error
            }
        }
        guard let failure else { return }
        surroundings.report(Fault("make the store", code: failure.code))
        throw Refusal(failure)
    }

    private static func connect(
        _ path: String, _ surroundings: Vault.Surroundings
    ) throws(SQLiteError) -> Database {
        try checkIsOurs(path, surroundings)
        let database = try Database(path: path, mode: .readWrite)
        database.setBusyTimeout(milliseconds: 1000)
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
            PRAGMA secure_delete = ON; PRAGMA cache_size = -512; PRAGMA temp_store = MEMORY;
            PRAGMA journal_size_limit = 4194304;
            """)
        return database
    }

    // Before anything is opened for writing, which alone may change a file that is not ours.
    private static func checkIsOurs(
        _ path: String, _ surroundings: Vault.Surroundings
    ) throws(SQLiteError) {
        let database: Database
        do throws(SQLiteError) {
            database = try Database(path: path, mode: .readOnly)
        } catch {
            // The opening for writing says what is wrong with it.
            return
        }
        database.setBusyTimeout(milliseconds: 1000)
        try checkVersion(database, surroundings)
    }

    private static func checkVersion(
        _ database: Database, _ surroundings: Vault.Surroundings
    ) throws(SQLiteError) {
        guard try database.number("PRAGMA application_id") == Schema.applicationID else { throw .notOurs }
        let version = try database.number("PRAGMA user_version") ?? 0
        if version > Schema.version { surroundings.report(Fault("this store is of a newer version")) }
        guard Schema.reads(version) else { throw .notOurs }
    }

    private static func belongs(_ tables: Tables, to deviceKey: DeviceKey?) throws(SQLiteError) -> Bool {
        let fingerprint = try tables.database.statement("SELECT fingerprint FROM device")
        defer { fingerprint.reset() }
        guard try fingerprint.step() else { throw .notOurs }
        return fingerprint.bytes(0) == deviceKey?.fingerprint
    }

    /// Ties the store to the device key, as a part of the change that wraps its keys by it.
    func bind(to deviceKey: DeviceKey) throws(SQLiteError) {
        try Schema.extend(in: writing.database)
        try Schema.addIndexes(in: writing.database)
        let update = try writing.database.statement("UPDATE device SET fingerprint = ?1")
        update.bind(deviceKey.fingerprint, at: 1)
        try update.run()
    }

    // A new store is made under another name: an empty file of the store's own name is never one of ours.
    private static func make(_ path: String, deviceKey: DeviceKey) throws(SQLiteError) {
        let draft = path + ".new"
        DatabaseFile.discard(draft)
        try fill(Tables(try Database(path: draft, mode: .create), isReader: false), deviceKey: deviceKey)
        try DatabaseFile.publish(draft, as: path)
    }

    private static func fill(_ tables: Tables, deviceKey: DeviceKey) throws(SQLiteError) {
        let database = tables.database
        try database.execute("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
        try Schema.create(in: database)
        let device = try database.statement("INSERT INTO device VALUES (?1)")
        device.bind(deviceKey.fingerprint, at: 1)
        try device.run()
        let opened = OpenedKeybag.make(firstID: try tables.keybag.takeKeyIDs(5))
        let slotKey = KeybagSlot.Header.device.slotKey(derived: nil, deviceKey: deviceKey)
        try tables.keybag.replace(by: KeybagSlot(header: .device, slotKey: slotKey, sealing: opened))
        try tables.keybag.renewPairs(for: opened)
        try database.execute("COMMIT")
    }
}
