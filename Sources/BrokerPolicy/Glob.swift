/// A shell's pattern: `*` is any run of bytes and `?` any one byte, neither ever a `/`; `[a-z]` is one of
/// the set and `[!a-z]` one that is not in it. A backslash is itself, since unit names hold it.
struct Glob: Sendable, Hashable {
    let text: String
    private let parts: [Part]

    private enum Part: Sendable, Hashable {
        case any
        case one
        case byte(UInt8)
        case set([ClosedRange<UInt8>], negated: Bool)

        func matches(_ byte: UInt8) -> Bool {
            switch self {
            case .any: false
            case .one: byte != 0x2f
            case .byte(let wanted): byte == wanted
            case .set(let ranges, let negated):
                byte != 0x2f && ranges.contains { $0.contains(byte) } != negated
            }
        }
    }

    /// Refuses a set that does not end, is empty or runs backwards.
    init(_ text: String) throws(ValueError) {
        var rest = Array(text.utf8)[...]
        var parts: [Part] = []
        while let byte = rest.popFirst() {
            switch byte {
            case 0x2a: if parts.last != .any { parts.append(.any) }
            case 0x3f: parts.append(.one)
            case Ascii.openBracket: parts.append(try Self.set(&rest, of: text))
            default: parts.append(.byte(byte))
            }
        }
        self.text = text
        self.parts = parts
    }

    private static func set(_ rest: inout ArraySlice<UInt8>, of text: String) throws(ValueError) -> Part {
        let negated = rest.first == 0x21
        if negated { rest.removeFirst() }
        // A bracket that comes first belongs to the set, as in every shell.
        guard let end = rest.dropFirst().firstIndex(of: Ascii.closeBracket) else {
            throw ValueError("A '[' in \(text.quoted) is never closed.")
        }
        var members = rest[..<end]
        rest = rest[(end + 1)...]
        var ranges: [ClosedRange<UInt8>] = []
        while let low = members.popFirst() {
            var high = low
            if members.first == 0x2d, members.count > 1 {
                members.removeFirst()
                high = members.removeFirst()
            }
            guard low <= high else { throw ValueError("A range in \(text.quoted) runs backwards.") }
            ranges.append(low...high)
        }
        return .set(ranges, negated: negated)
    }

    /// Whether the pattern has anything but plain bytes.
    var isLiteral: Bool { parts.allSatisfy { if case .byte = $0 { true } else { false } } }

    /// Whether the whole of `candidate` fits. It takes at most the product of both lengths, since only the
    /// last `*` is ever tried again.
    func matches(_ candidate: String) -> Bool {
        let bytes = Array(candidate.utf8)
        var part = 0
        var byte = 0
        var retry: (part: Int, byte: Int)?
        while byte < bytes.count {
            if part < parts.count, parts[part] == .any {
                retry = (part, byte)
                part += 1
            } else if part < parts.count, parts[part].matches(bytes[byte]) {
                part += 1
                byte += 1
            } else if let last = retry, bytes[last.byte] != 0x2f {
                retry = (last.part, last.byte + 1)
                part = last.part + 1
                byte = last.byte + 1
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .any }
    }

    static func == (left: Self, right: Self) -> Bool { left.text == right.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
