/// What one line of a policy file says.
enum Line: Equatable {
    case empty
    case header(kind: String, name: String)
    case entry(key: String, value: String)

    /// Reads a line without its line feed.
    init(_ raw: ArraySlice<UInt8>) throws(LineError) {
        let bytes = raw.last == Ascii.carriageReturn ? raw.dropLast() : raw
        if let bad = bytes.firstIndex(where: Ascii.isForbidden) {
            let what = bytes[bad] == 0 ? "A NUL byte" : "A control character"
            throw LineError("\(what) has no place in a policy.", column: bad - raw.startIndex + 1)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LineError("The line is not valid UTF-8.")
        }
        let content = Self.withoutComment(text).trimmed
        switch content.utf8.first {
        case nil: self = .empty
        case Ascii.openBracket: self = try Self.header(content)
        default: self = try Self.entry(content)
        }
    }

    private static func withoutComment(_ text: String) -> Substring {
        var previous = Ascii.space
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if byte == Ascii.hash && Ascii.isBlank(previous) { return text[..<index] }
            previous = byte
        }
        return text[...]
    }

    private static func header(_ content: Substring) throws(LineError) -> Line {
        guard content.utf8.last == Ascii.closeBracket else {
            throw LineError("A section's header ends with ']'.", isHeader: true)
        }
        let inner = Substring(content.utf8.dropFirst().dropLast()).trimmed
        let kindEnd = inner.utf8.firstIndex(where: Ascii.isBlank) ?? inner.endIndex
        let kind = inner[..<kindEnd]
        if kind.isEmpty { throw LineError("A section's header names its kind.", isHeader: true) }
        return .header(kind: String(kind), name: String(inner[kindEnd...].trimmed))
    }

    private static func entry(_ content: Substring) throws(LineError) -> Line {
        guard let equals = content.utf8.firstIndex(of: Ascii.equals) else {
            throw LineError("\(content.quoted) is no '[Section]', no 'Key=value' and no '# comment'.")
        }
        let key = content[..<equals].trimmed
        if key.isEmpty { throw LineError("A key is missing before '='.") }
        let value = Substring(content.utf8[equals...].dropFirst()).trimmed
        if value.isEmpty { throw LineError("\(key.printable)= has no value.") }
        return .entry(key: String(key), value: String(value))
    }
}

/// A line that is none.
struct LineError: Error {
    let text: String
    var column: Int?
    /// Whether the line would have begun a section.
    var isHeader = false

    init(_ text: String, column: Int? = nil, isHeader: Bool = false) {
        self.text = text
        self.column = column
        self.isHeader = isHeader
    }
}

/// The bytes that mean something in a policy.
enum Ascii {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0a
    static let carriageReturn: UInt8 = 0x0d
    static let space: UInt8 = 0x20
    static let hash: UInt8 = 0x23
    static let equals: UInt8 = 0x3d
    static let openBracket: UInt8 = 0x5b
    static let closeBracket: UInt8 = 0x5d

    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }
    static func isForbidden(_ byte: UInt8) -> Bool { (byte < space && byte != tab) || byte == 0x7f }
    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            || [0x2d, 0x2e, 0x5f].contains(byte)
    }
}

extension Substring {
    /// Without white space at either end.
    var trimmed: Substring {
        var bytes = utf8
        while let first = bytes.first, Ascii.isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, Ascii.isBlank(last) { bytes.removeLast() }
        return Substring(bytes)
    }

    /// The words between its white space.
    var words: [Substring] {
        utf8.split(whereSeparator: Ascii.isBlank).map { Substring($0) }
    }
}
