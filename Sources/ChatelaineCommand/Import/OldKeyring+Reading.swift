internal import SDBus

/// A collection of another keyring.
struct OldCollection {
    let path: ObjectPath
    let label: String
    var isLocked: Bool
    let items: [ObjectPath]
    /// Whether it goes with the keyring.
    let isSession: Bool
    /// The label of the collection that its items go to; empty for the one that programs store in.
    let target: String
}

/// An item of another keyring, beside its secret.
struct OldItem: Sendable {
    let label: String
    let attributes: [(name: String, value: String)]
    /// Microseconds since the Unix epoch.
    let modified: UInt64

    static let interface = "org.freedesktop.Secret.Item"
    private static let portalSchema = "org.freedesktop.portal.Secret"

    /// The value of its schema; empty where it has none.
    var schema: String { attributes.first { $0.name == "xdg:schema" }?.value ?? "" }

    /// Whether it is the secret that a portal keeps for a sandboxed application.
    var isOfPortal: Bool { portalAttributes != nil }

    /// As Chatelaine's portal would have stored it; nil for other items. gnome-keyring's own has the schema of no schema,
    /// and others' have none: an application's id and nothing else is what tells them.
    var portalAttributes: [(name: String, value: String)]? {
        guard let id = attributes.first(where: { $0.name == "app_id" }),
            attributes.allSatisfy({ $0.name == "app_id" || $0.name == "xdg:schema" }),
            ["", "org.freedesktop.Secret.Generic", Self.portalSchema].contains(schema)
        else { return nil }
        return [id, (name: "xdg:schema", value: Self.portalSchema)]
    }
}

extension OldKeyring {
    private nonisolated static let collection = "org.freedesktop.Secret.Collection"

    /// Every collection. What programs store in by default is `login`, where the keyring has none of that name.
    func readCollections() async throws(BusError) -> [OldCollection] {
        let paths = try await property(Self.root, Self.service, "Collections").withReader {
            (reader) throws(BusError) in
            guard try reader.enterVariant("ao") else { throw .failed("The keyring lists no collections.") }
            let paths = try reader.read([ObjectPath].self)
            try reader.exit()
            return paths
        }
        let session = try await readAlias("session")
        let login = ObjectPath(Self.root + "/collection/login")
        let standard = paths.contains(login) ? login : try await readAlias("default")
        var found: [OldCollection] = []
        for path in paths {
            found.append(
                try await readCollection(
                    path, isSession: path == session || path.value.hasSuffix("/session"),
                    isDefault: path == standard))
        }
        return found
    }

    private func readAlias(_ alias: String) async throws(BusError) -> ObjectPath {
        try await connection.call(owner, path: Self.root, interface: Self.service, member: "ReadAlias", alias)
            .read(ObjectPath.self)
    }

    private func readCollection(
        _ path: ObjectPath, isSession: Bool, isDefault: Bool
    ) async throws(BusError) -> OldCollection {
        var (label, isLocked, items) = ("", true, [ObjectPath]())
        try await properties(path.value, Self.collection).withReader { (reader) throws(BusError) in
            try reader.dictionary { (key, value) throws(BusError) in
                switch key {
                case "Label": label = try value.read()
                case "Locked": isLocked = try value.read()
                case "Items": items = try value.read()
                default: break
                }
            }
        }
        return OldCollection(
            path: path, label: label, isLocked: isLocked, items: items, isSession: isSession,
            target: isDefault ? "" : label)
    }

    /// Nil for what is listed and not there.
    func readItem(_ path: ObjectPath) async throws(BusError) -> OldItem? {
        let reply: Reply
        do throws(BusError) {
            reply = try await properties(path.value, OldItem.interface)
        } catch {
            guard connection.isOpen, !error.isServiceUnknown else { throw error }
            return nil
        }
        var (label, seconds, attributes) = ("", UInt64(0), [(name: String, value: String)]())
        try reply.withReader { (reader) throws(BusError) in
            try reader.dictionary { (key, value) throws(BusError) in
                switch key {
                case "Label": label = try value.read()
                case "Modified": seconds = try value.read()
                case "Attributes": attributes = try Self.readAttributes(&value)
                default: break
                }
            }
        }
        return OldItem(
            label: label, attributes: attributes,
            modified: seconds.multipliedReportingOverflow(by: 1_000_000).partialValue)
    }

    private static func readAttributes(
        _ reader: inout MessageReader
    ) throws(BusError) -> [(name: String, value: String)] {
        var attributes: [(name: String, value: String)] = []
        _ = try reader.enter("a", "{ss}")
        while try reader.enter("e", "ss") {
            attributes.append((name: try reader.read(), value: try reader.read()))
            try reader.exit()
        }
        try reader.exit()
        return attributes
    }

    private func property(
        _ path: String, _ interface: String, _ name: String
    ) async throws(BusError) -> Reply {
        try await connection.call(
            owner, path: path, interface: "org.freedesktop.DBus.Properties", member: "Get", interface, name)
    }

    private func properties(_ path: String, _ interface: String) async throws(BusError) -> Reply {
        try await connection.call(
            owner, path: path, interface: "org.freedesktop.DBus.Properties", member: "GetAll", interface)
    }
}
