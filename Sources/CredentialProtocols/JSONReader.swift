internal import Sodium

/// Reads a JSON object whose members are strings, as RFC 8259 has it and no laxer, without a copy outside locked memory.
///
/// Members that are not asked for may have any value of theirs; a name that comes twice is an error.
struct JSONReader {
    private let text: SharedSecret
    private(set) var place = 0

    /// A text that is not such an object. It says where, and nothing of what stands there.
    struct Mistake: Error, Equatable {
        let offset: Int
    }

    /// The strings of the members that are asked for, by name.
    static func strings(
        _ names: Set<String>, of text: SharedSecret
    ) throws(Mistake) -> [String: SecretSlice] {
        var reader = JSONReader(text: text)
        let strings = try reader.object(names)
        reader.skipSpace()
        guard reader.isAtEnd else { throw reader.mistake }
        return strings
    }

    init(text: SharedSecret) { self.text = text }

    private mutating func object(_ names: Set<String>) throws(Mistake) -> [String: SecretSlice] {
        var found: [String: SecretSlice] = [:]
        var seen: Set<String> = []
        try members { (reader, name) throws(Mistake) in
            guard seen.insert(name).inserted else { throw reader.mistake }
            if names.contains(name) {
                found[name] = try reader.string()
            } else {
                try reader.skipValue(depth: 0)
            }
        }
        return found
    }

    /// Goes over the members of an object; the body reads the value.
    mutating func members(
        _ body: (inout JSONReader, String) throws(Mistake) -> Void
    ) throws(Mistake) {
        try expect("{")
        skipSpace()
        if take("}") { return }
        repeat {
            guard let name = try string().openText else { throw mistake }
            try expect(":")
            try body(&self, name)
            skipSpace()
        } while take(",")
        try expect("}")
    }

    /// Passes over a value, whatever it is.
    mutating func skipValue(depth: Int) throws(Mistake) {
        guard depth < Self.depthMax else { throw mistake }
        skipSpace()
        switch current {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "{"):
            try members { (reader, _) throws(Mistake) in try reader.skipValue(depth: depth + 1) }
        case UInt8(ascii: "["):
            try expect("[")
            skipSpace()
            if take("]") { return }
            repeat {
                try skipValue(depth: depth + 1)
                skipSpace()
            } while take(",")
            try expect("]")
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private static let depthMax = 16
}

extension JSONReader {
    /// A string, with what its escapes stand for.
    mutating func string() throws(Mistake) -> SecretSlice {
        try expect("\"")
        let start = place
        while let byte = current, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw mistake }
            place += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        let end = place
        guard take("\"") else { throw mistake }
        // Never longer than its source, so one allocation of that length does.
        var count = 0
        var failure: Mistake?
        let value = Secret(count: end - start) { target in
            var source = JSONEscapes(text: text, place: start, end: end)
            while let piece = source.next() {
                switch piece {
                case .byte(let byte):
                    target[count] = byte
                    count += 1
                case .scalar(let scalar):
                    for byte in Unicode.UTF8.encode(scalar) ?? .init() {
                        target[count] = byte
                        count += 1
                    }
                }
            }
            if source.place != end { failure = Mistake(offset: source.place) }
        }
        if let failure { throw failure }
        return SecretSlice(SharedSecret(value), 0..<count)
    }

    private mutating func number() throws(Mistake) {
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
    }

    private mutating func digits() throws(Mistake) {
        let start = place
        while let byte = current, (0x30...0x39).contains(byte) { place += 1 }
        guard place > start else { throw mistake }
    }

    private mutating func word(_ word: String) throws(Mistake) {
        for byte in word.utf8 {
            guard current == byte else { throw mistake }
            place += 1
        }
    }

    /// The byte that comes next.
    var current: UInt8? { isAtEnd ? nil : text.secret.byte(at: place) }

    var isAtEnd: Bool { place >= text.secret.count }

    /// That something is wrong here.
    var mistake: Mistake { Mistake(offset: min(place, text.secret.count)) }

    mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    mutating func expect(_ character: Unicode.Scalar) throws(Mistake) {
        skipSpace()
        guard take(character) else { throw mistake }
    }
}
