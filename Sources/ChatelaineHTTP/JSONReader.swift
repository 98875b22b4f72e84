internal import Sodium

/// Reads JSON (RFC 8259) from front to back, where it lies in secret memory, so that no token is ever a `String` on the
/// way. Whatever is not JSON, or deeper than `depthMax`, throws.
struct JSONReader {
    struct Malformed: Error {}

    private static let depthMax = 16

    private let text: SharedSecret
    private var place = 0

    init(_ text: SharedSecret) { self.text = text }

    /// The one value, an object: `member` is called with the name of each member and reads its value.
    mutating func wholeObject(
        _ member: (_ name: String, inout JSONReader) throws(Malformed) -> Void
    ) throws(Malformed) {
        try object(member)
        skipSpace()
        guard place == text.secret.count else { throw Malformed() }
    }

    /// A string's bytes.
    mutating func string() throws(Malformed) -> SharedSecret {
        try open(UInt8(ascii: "\""))
        var counting = self
        var count = 0
        while let piece = try counting.piece() { count += piece.count }
        return SharedSecret(
            try Secret(count: count) { (target) throws(Malformed) in
                var filled = 0
                while let piece = try self.piece() {
                    for index in 0..<piece.count { target[filled + index] = piece[index] }
                    filled += piece.count
                }
            })
    }

    /// A string or null, as nil.
    mutating func optionalString() throws(Malformed) -> SharedSecret? {
        skipSpace()
        guard peek == UInt8(ascii: "n") else { return try string() }
        try literal("null")
        return nil
    }

    /// A whole number from 0 on, or null, as nil. Some servers write it in quotes, or with a fraction, which is cut off.
    mutating func optionalNumber() throws(Malformed) -> UInt64? {
        skipSpace()
        if peek == UInt8(ascii: "n") {
            try literal("null")
            return nil
        }
        let isQuoted = peek == UInt8(ascii: "\"")
        if isQuoted { place += 1 }
        guard peek != UInt8(ascii: "-") else { throw Malformed() }
        let start = place
        let hasExponent = try skipNumber()
        guard !hasExponent else { throw Malformed() }
        let number = try whole(from: start)
        if isQuoted { try open(UInt8(ascii: "\"")) }
        return number
    }

    /// Passes over a value.
    mutating func skip(depth: Int = 1) throws(Malformed) {
        guard depth <= Self.depthMax else { throw Malformed() }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"):
            try object { (_, reader) throws(Malformed) in try reader.skip(depth: depth + 1) }
        case UInt8(ascii: "["): try skipArray(depth)
        case UInt8(ascii: "\""):
            place += 1
            while try piece() != nil {}
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: _ = try skipNumber()
        }
    }

    private mutating func object(
        _ member: (_ name: String, inout JSONReader) throws(Malformed) -> Void
    ) throws(Malformed) {
        try open(UInt8(ascii: "{"))
        skipSpace()
        if peek == UInt8(ascii: "}") { return place += 1 }
        while true {
            let name = Text.string(try string()) ?? ""
            try open(UInt8(ascii: ":"))
            try member(name, &self)
            guard try separator(or: UInt8(ascii: "}")) else { return }
            skipSpace()
        }
    }

    private mutating func skipArray(_ depth: Int) throws(Malformed) {
        try open(UInt8(ascii: "["))
        skipSpace()
        if peek == UInt8(ascii: "]") { return place += 1 }
        repeat { try skip(depth: depth + 1) } while try separator(or: UInt8(ascii: "]"))
    }

    /// True behind a comma, false behind the end.
    private mutating func separator(or end: UInt8) throws(Malformed) -> Bool {
        skipSpace()
        guard let byte = next(), byte == UInt8(ascii: ",") || byte == end else { throw Malformed() }
        return byte != end
    }

    var peek: UInt8? { place < text.secret.count ? Text.byte(text.secret, at: place) : nil }

    mutating func next() -> UInt8? {
        let byte = peek
        if byte != nil { place += 1 }
        return byte
    }

    private mutating func skipSpace() {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { place += 1 }
    }

    private mutating func open(_ byte: UInt8) throws(Malformed) {
        skipSpace()
        guard next() == byte else { throw Malformed() }
    }

    private mutating func literal(_ word: StaticString) throws(Malformed) {
        for byte in "\(word)".utf8 where next() != byte { throw Malformed() }
    }

    private mutating func skipDigits() throws(Malformed) {
        let start = place
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { place += 1 }
        guard place > start else { throw Malformed() }
    }

    private mutating func skipNumber() throws(Malformed) -> Bool {
        if peek == UInt8(ascii: "-") { place += 1 }
        if peek == UInt8(ascii: "0") { place += 1 } else { try skipDigits() }
        if peek == UInt8(ascii: ".") {
            place += 1
            try skipDigits()
        }
        guard peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") else { return false }
        place += 1
        if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { place += 1 }
        try skipDigits()
        return true
    }

    private func whole(from start: Int) throws(Malformed) -> UInt64 {
        var number: UInt64 = 0
        for index in start..<place {
            let byte = Text.byte(text.secret, at: index)
            guard byte != UInt8(ascii: ".") else { break }
            let (tens, isFull) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOver) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !isFull && !isOver else { throw Malformed() }
            number = sum
        }
        return number
    }
}
