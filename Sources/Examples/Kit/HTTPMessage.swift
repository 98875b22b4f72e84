/// A request or a response of HTTP/1.1, small and whole: the examples and their server need no more.
public struct HTTPMessage: Sendable {
    /// `GET /mail HTTP/1.1`, or `HTTP/1.1 200 OK`.
    public let startLine: String
    /// By names in small letters.
    public var headers: [String: String]
    /// As long as `Content-Length` says.
    public let body: [UInt8]

    /// The head, and the body.
    public static let partBytesMax = 16 << 10

    /// A message to send, with the length of its body.
    public init(_ startLine: String, headers: [String: String] = [:], body: String = "") {
        self.startLine = startLine
        self.body = Array(body.utf8)
        self.headers = headers
        self.headers["content-length"] = "\(self.body.count)"
        self.headers["connection"] = "close"
    }

    private init(startLine: String, headers: [String: String], body: [UInt8]) {
        self.startLine = startLine
        self.headers = headers
        self.body = body
    }

    /// Its bytes.
    public var bytes: [UInt8] {
        let lines = [startLine] + headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// The words of the first line.
    public var words: [Substring] { startLine.split(separator: " ", maxSplits: 2) }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Reads one from the other end; nil where what comes is none, or too much.
    public static func receive(from socket: LoopbackSocket) -> HTTPMessage? {
        var received: [UInt8] = []
        var head = endOfHead(received)
        while head == nil {
            let more = socket.receive()
            received += more
            guard !more.isEmpty, received.count <= partBytesMax else { return nil }
            head = endOfHead(received)
        }
        guard let head else { return nil }
        let lines = String(decoding: received[..<head], as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            headers[line[..<colon].lowercased()] = String(
                line[line.index(after: colon)...].drop { $0 == " " })
        }
        guard let length = Int(headers["content-length"] ?? "0"), (0...partBytesMax).contains(length) else {
            return nil
        }
        var body = Array(received[(head + 4)...])
        while body.count < length {
            let more = socket.receive()
            guard !more.isEmpty else { return nil }
            body += more
        }
        return HTTPMessage(startLine: String(first), headers: headers, body: Array(body.prefix(length)))
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard bytes.count >= end.count else { return nil }
        return (0...(bytes.count - end.count)).first { bytes[$0..<($0 + end.count)].elementsEqual(end) }
    }
}

/// The fields of `application/x-www-form-urlencoded`.
public enum Form {
    /// Reads them; a field that comes twice is what it was first.
    public static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = plain(parts[0])
            if fields[name] == nil { fields[name] = parts.count == 2 ? plain(parts[1]) : "" }
        }
        return fields
    }

    private static func plain(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
