internal import Chatelaine

/// What a credential of git's is for: which item, or which items, a message is about.
struct GitPlace: Equatable {
    private let scheme: [UInt8]
    private let server: [UInt8]
    private let port: UInt32
    private let path: [UInt8]?
    private let username: [UInt8]?

    /// Nil where the message does not say enough to find one by: a protocol, and a host or a path.
    init?(_ message: GitMessage) {
        guard let scheme = message[.protocol]?.openBytes, !scheme.isEmpty else { return nil }
        self.scheme = scheme
        (server, port) = Self.split(message[.host]?.openBytes ?? [])
        path = message[.path]?.openBytes
        username = message[.username]?.openBytes
        guard !server.isEmpty || path?.isEmpty == false else { return nil }
    }

    /// The place of a credential that stands in a file, by its parts.
    init(scheme: [UInt8], host: [UInt8], path: [UInt8]?, username: [UInt8]) {
        self.scheme = scheme
        (server, port) = Self.split(host)
        self.path = path
        self.username = username
    }

    // A host with a port that is written otherwise than we would write it stays whole, so that the two are not one.
    private static func split(_ host: [UInt8]) -> (server: [UInt8], port: UInt32) {
        guard let colon = host.lastIndex(of: UInt8(ascii: ":")),
            let text = String(validating: host[(colon + 1)...], as: UTF8.self),
            let port = UInt16(text), port > 0, String(port) == text
        else { return (host, 0) }
        return (Array(host[..<colon]), UInt32(port))
    }

    /// The item that keeps what git stores, and what the broker is asked for: of its answer ``matches(_:)`` says what is
    /// meant.
    func primaryKey(group: String?) -> Attributes {
        var key = Attributes()
        key["Class"] = .text("internet-password")
        if let group { key["AccessGroup"] = .text(group) }
        key["Protocol"] = .init(openBytes: scheme)
        if !server.isEmpty { key["Server"] = .init(openBytes: server) }
        if port != 0 { key["Port"] = .number(port) }
        key["Path"] = path.map { .init(openBytes: $0) }
        key["Account"] = username.map { .init(openBytes: $0) }
        return key
    }

    /// Whether git means this item: the same protocol, host and port, and what it says of path and user.
    func matches(_ item: Attributes) -> Bool {
        isAt(item) && (path == nil || path == Self.bytes(item["Path"]))
            && (username == nil || username == Self.bytes(item["Account"]))
    }

    /// Whether a store replaces this item: what is left out is empty then.
    func isReplaced(_ item: Attributes) -> Bool {
        isAt(item) && isForItsPath(item)
            && (username ?? []) == Self.bytes(item["Account"])
    }

    /// Whether an item that matches is for the path that git names, or for no path where it names none.
    func isForItsPath(_ item: Attributes) -> Bool { (path ?? []) == Self.bytes(item["Path"]) }

    private func isAt(_ item: Attributes) -> Bool {
        scheme == Self.bytes(item["Protocol"]) && server == Self.bytes(item["Server"])
            && (item["Port"] ?? .number(0)) == .number(port) && Self.bytes(item["SecurityDomain"]).isEmpty
            && Self.bytes(item["AuthenticationType"]).isEmpty
    }

    /// An attribute's bytes; none where it is left out.
    static func bytes(_ value: Attributes.Value?) -> [UInt8] {
        switch value {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        default: []
        }
    }
}
