internal import Chatelaine
internal import Sodium

/// What a connection to the redirect's port has said so far.
enum RedirectRequest {
    /// It is not whole yet.
    case incomplete
    /// It is not what a browser that was redirected sends.
    case refused(Page)
    /// The fields of its query, each at most once.
    case query([String: SharedSecret])

    /// All of a request must fit.
    static let bytesMax = 16 << 10

    /// Reads a request for `path` on `host`, such as `127.0.0.1:4711`.
    init(_ bytes: [UInt8], host: String, path: String) {
        guard let end = Self.end(of: bytes) else {
            self = bytes.count < Self.bytesMax ? .incomplete : .refused(.tooLarge)
            return
        }
        guard let head = String(validating: bytes[..<end], as: UTF8.self) else {
            self = .refused(.badRequest)
            return
        }
        self = Self.read(head, host, path)
    }

    private static func end(of bytes: [UInt8]) -> Int? {
        let mark: [UInt8] = [13, 10, 13, 10]
        guard bytes.count >= mark.count else { return nil }
        return (0...bytes.count - mark.count).first { Array(bytes[$0..<$0 + mark.count]) == mark }
    }

    private static func read(_ head: String, _ host: String, _ path: String) -> RedirectRequest {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return .refused(.badRequest) }
        guard words[0] == "GET" else { return .refused(.notGet) }
        // A page of elsewhere that has its own name lead here would say that name.
        let hosts = lines.dropFirst().filter { $0.lowercased().hasPrefix("host:") }
        guard hosts.count == 1, hosts[0].dropFirst(5).allSatisfy({ $0 != "\t" }),
            hosts[0].dropFirst(5).split(separator: " ").joined() == host
        else { return .refused(.badRequest) }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target[0] == path else { return .refused(.notFound) }
        guard let fields = fields(target.count == 2 ? target[1] : "") else { return .refused(.badRequest) }
        return .query(fields)
    }

    /// Nil for a field that comes twice or is not well written.
    private static func fields(_ query: Substring) -> [String: SharedSecret]? {
        var fields: [String: SharedSecret] = [:]
        for field in query.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = unescaped(parts[0]).flatMap(Text.string), fields[name] == nil,
                let value = unescaped(parts.count == 2 ? parts[1] : "")
            else { return nil }
            fields[name] = value
        }
        return fields
    }

    private static func unescaped(_ text: Substring) -> SharedSecret? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(HexDigit.value),
                    let low = rest.popFirst().flatMap(HexDigit.value)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return SharedSecret(Secret(bytes))
    }
}
