internal import BrokerModel
internal import SQLite
internal import Sodium

/// The keybag's rows, and the X25519 pair of each class.
struct KeybagTable {
    let database: Database

    private enum Place: Int64 {
        case own = 1
        case recovery = 2
    }

    /// The slot that the passcode, or the device key alone, opens. Nil for a header or a purpose that this version does
    /// not know.
    func slot() throws(SQLiteError) -> KeybagSlot? {
        guard let header = try header(.own).flatMap(KeybagSlot.Header.init),
            let wrapped = try wrapped(.own)
        else { return nil }
        return KeybagSlot(header: header, wrapped: wrapped)
    }

    /// The slot that a recovery key opens; nil where there is none, or none of this version.
    func recoverySlot() throws(SQLiteError) -> RecoverySlot? {
        guard let header = try header(.recovery).flatMap(RecoverySlot.Header.init),
            let wrapped = try wrapped(.recovery)
        else { return nil }
        return RecoverySlot(header: header, wrapped: wrapped)
    }

    private func header(_ place: Place) throws(SQLiteError) -> [UInt8]? {
        let query = try database.statement("SELECT header FROM keybag_slots WHERE id = ?1")
        query.bind(place.rawValue, at: 1)
        defer { query.reset() }
        return try query.step() ? query.bytes(0) : nil
    }

    private func wrapped(_ place: Place) throws(SQLiteError) -> [KeybagSlot.WrappedKey]? {
        let rows = try database.statement(
            "SELECT id, purpose, sealed FROM keybag_keys WHERE slot = ?1 ORDER BY id")
        rows.bind(place.rawValue, at: 1)
        defer { rows.reset() }
        var wrapped: [KeybagSlot.WrappedKey] = []
        while try rows.step() {
            guard let id = UInt32(exactly: rows.number(0)),
                let purpose = UInt8(exactly: rows.number(1)).flatMap(KeyPurpose.init(rawValue:))
            else { return nil }
            wrapped.append(.init(id: id, purpose: purpose, sealed: rows.bytes(2)))
        }
        return wrapped.isEmpty ? nil : wrapped
    }

    /// Puts the slot in the place of the one before.
    func replace(by slot: KeybagSlot) throws(SQLiteError) {
        try put(slot.header.bytes, slot.wrapped, .own)
    }

    /// Puts the recovery slot in the place of the one before, in a store that an older broker then refuses: it would
    /// roll class keys without it. Nil takes the slot away.
    func replaceRecovery(by slot: RecoverySlot?) throws(SQLiteError) {
        guard let slot else { return try clear(.recovery) }
        try Schema.admitRecoverySlot(in: database)
        try put(slot.header.bytes, slot.wrapped, .recovery)
    }

    private func clear(_ place: Place) throws(SQLiteError) {
        try database.execute(
            """
            DELETE FROM keybag_keys WHERE slot = \(place.rawValue);
            DELETE FROM keybag_slots WHERE id = \(place.rawValue);
            """)
    }

    private func put(
        _ header: [UInt8], _ wrapped: [KeybagSlot.WrappedKey], _ place: Place
    ) throws(SQLiteError) {
        try clear(place)
        let slot = try database.statement("INSERT INTO keybag_slots (id, header) VALUES (?1, ?2)")
        slot.bind(place.rawValue, at: 1)
        slot.bind(header, at: 2)
        try slot.run()
        for entry in wrapped {
            let row = try database.statement("INSERT INTO keybag_keys VALUES (?1, ?2, ?3, ?4)")
            row.bind(place.rawValue, at: 1)
            row.bind(Int64(entry.id), at: 2)
            row.bind(Int64(entry.purpose.rawValue), at: 3)
            row.bind(entry.sealed, at: 4)
            try row.run()
        }
    }

    /// Whether the login's password is known to be another one than the passcode.
    func isOutOfStep() throws(SQLiteError) -> Bool {
        try database.number("SELECT count(*) FROM numbers WHERE name = 'passcode-out-of-step'") == 1
    }

    /// Keeps that it is, or that it is not any more.
    func note(outOfStep: Bool) throws(SQLiteError) {
        try database.execute(
            outOfStep
                ? "INSERT OR IGNORE INTO numbers VALUES ('passcode-out-of-step', 1)"
                : "DELETE FROM numbers WHERE name = 'passcode-out-of-step'")
    }

    /// The public key of a class key's pair; nil for a class key that is gone.
    func publicKey(of classKeyID: UInt32) throws(SQLiteError) -> [UInt8]? {
        let query = try database.statement("SELECT public_key FROM class_pairs WHERE id = ?1")
        query.bind(Int64(classKeyID), at: 1)
        defer { query.reset() }
        return try query.step() ? query.bytes(0) : nil
    }

    /// The pair of a class key; nil where it is damaged.
    func pair(of entry: OpenedKeybag.ClassKeyEntry) throws(SQLiteError) -> X25519KeyPair? {
        let query = try database.statement("SELECT public_key, private_key FROM class_pairs WHERE id = ?1")
        query.bind(Int64(entry.id), at: 1)
        defer { query.reset() }
        guard try query.step() else { return nil }
        let publicKey = query.bytes(0)
        let opened = XChaCha20Poly1305.open(
            query.bytes(1).span, key: Self.wrappingKey(of: entry),
            associatedData: Self.binding(entry.id, publicKey))
        guard let opened, let privateKey = Key(opened) else { return nil }
        return X25519KeyPair(privateKey: privateKey)
    }

    private static func wrappingKey(of entry: OpenedKeybag.ClassKeyEntry) -> Key {
        entry.key.subkey(3, context: "chatpair")
    }

    private static func binding(_ id: UInt32, _ publicKey: [UInt8]) -> [UInt8] {
        var data = ByteWriter(capacity: 64)
        data.raw("chatelaine-pair".utf8)
        data.number(id)
        data.raw(publicKey)
        return data.bytes
    }

    /// Gives every class key a pair that has none yet, and drops the pairs of keys that are gone.
    func renewPairs(for opened: OpenedKeybag) throws(SQLiteError) {
        let kept = opened.classKeys.map { String($0.id) }.joined(separator: ",")
        try database.execute("DELETE FROM class_pairs WHERE id NOT IN (\(kept))")
        for entry in opened.classKeys {
            let pair = X25519KeyPair()
            let row = try database.statement("INSERT OR IGNORE INTO class_pairs VALUES (?1, ?2, ?3)")
            row.bind(Int64(entry.id), at: 1)
            row.bind(pair.publicKey, at: 2)
            row.bind(
                XChaCha20Poly1305.seal(
                    pair.privateKey.bytes, key: Self.wrappingKey(of: entry),
                    associatedData: Self.binding(entry.id, pair.publicKey)), at: 3)
            try row.run()
        }
    }

    /// Tells this keybag from any other: its class keys' numbers and public keys.
    func identity() throws(SQLiteError) -> [UInt8] {
        let rows = try database.statement("SELECT id, public_key FROM class_pairs ORDER BY id")
        defer { rows.reset() }
        var identity = ByteWriter()
        while try rows.step() {
            identity.number(rows.number(0))
            identity.counted(rows.bytes(1))
        }
        return identity.bytes
    }

    /// Numbers for `count` new keys; no number is used twice.
    func takeKeyIDs(_ count: UInt32) throws(SQLiteError) -> UInt32 {
        UInt32(truncatingIfNeeded: try Numbers(database: database).take(.nextKey, count: Int64(count)))
    }
}

/// Counters that only grow.
struct Numbers {
    let database: Database

    /// Which counter.
    enum Name: String {
        case nextItem = "next-item"
        case nextKey = "next-key"
        case nextFence = "next-fence"
    }

    /// The number that the next taking would begin with.
    func next(_ name: Name) throws(SQLiteError) -> Int64 {
        let query = try database.statement("SELECT value FROM numbers WHERE name = ?1")
        query.bind(name.rawValue, at: 1)
        defer { query.reset() }
        guard try query.step() else { throw .notOurs }
        return query.number(0)
    }

    /// The first of `count` new numbers.
    func take(_ name: Name, count: Int64 = 1) throws(SQLiteError) -> Int64 {
        let update = try database.statement(
            "UPDATE numbers SET value = value + ?2 WHERE name = ?1 RETURNING value")
        update.bind(name.rawValue, at: 1)
        update.bind(count, at: 2)
        defer { update.reset() }
        guard try update.step() else { throw .notOurs }
        return update.number(0) - count
    }
}
