internal import BrokerGate
internal import BrokerModel
internal import SQLite
internal import Sodium

extension Vault {
    // Without the index key no service can be found. The logout is remembered under the device key, which
    // is there, and carried out at the first unlock before anything can be read; its epoch and its signal
    // do not wait.
    func rememberLogout(
        of service: String, _ group: AccessGroup, _ store: Store
    ) throws(SQLiteError) {
        guard let deviceKey else { return }
        let insert = try store.writing.database.statement(
            "INSERT INTO pending_logouts (group_id, service) VALUES (?1, ?2)")
        insert.bind(try store.writing.groups.makeID(of: group), at: 1)
        insert.bind(Self.seal(service, group, deviceKey), at: 2)
        try insert.run()
    }

    /// Carries out the logouts that came before the first unlock, as a part of the change that ends that
    /// state. Their signals went out then.
    func carryOutPendingLogouts(
        _ store: Store, _ deviceKey: DeviceKey, _ index: IndexKey
    ) throws(SQLiteError) {
        let writer = itemWriter(store, index)
        for (group, service) in try Self.pending(store, deviceKey) {
            for row in try rows(of: service, group, writer) { try writer.remove(row) }
            needsCheckpoint = true
        }
        try store.writing.database.execute("DELETE FROM pending_logouts")
    }

    private static func pending(
        _ store: Store, _ deviceKey: DeviceKey
    ) throws(SQLiteError) -> [(AccessGroup, String)] {
        let query = try store.writing.database.statement("SELECT group_id, service FROM pending_logouts")
        defer { query.reset() }
        var found: [(AccessGroup, String)] = []
        while try query.step() {
            guard let group = try store.writing.groups.name(of: query.number(0)),
                let service = open(query.bytes(1), group, deviceKey)
            else { continue }
            found.append((group, service))
        }
        return found
    }

    private static func associatedData(_ group: AccessGroup) -> [UInt8] {
        Array("chatelaine-pending-logout".utf8) + Array(group.name.utf8)
    }

    private static func seal(_ service: String, _ group: AccessGroup, _ deviceKey: DeviceKey) -> [UInt8] {
        let key = deviceKey.key.subkey(1, context: "chatpend")
        return XChaCha20Poly1305.seal(
            Array(service.utf8).span, key: key, associatedData: associatedData(group))
    }

    private static func open(
        _ sealed: [UInt8], _ group: AccessGroup, _ deviceKey: DeviceKey
    ) -> String? {
        let key = deviceKey.key.subkey(1, context: "chatpend")
        let opened = XChaCha20Poly1305.open(sealed.span, key: key, associatedData: associatedData(group))
        guard let opened else { return nil }
        return String(decoding: (0..<opened.count).map { opened.span[$0] }, as: UTF8.self)
    }
}
