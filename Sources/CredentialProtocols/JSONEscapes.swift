internal import Sodium

/// What a JSON string stands for, piece by piece.
struct JSONEscapes {
    private let text: SharedSecret
    /// How far it is read; short of the end after a mistake.
    private(set) var place: Int
    private let end: Int

    /// A byte as it stands there, or what an escape means.
    enum Piece {
        case byte(UInt8)
        case scalar(Unicode.Scalar)
    }

    init(text: SharedSecret, place: Int, end: Int) {
        self.text = text
        self.place = place
        self.end = end
    }

    /// Nil at the end, and at what is no escape.
    mutating func next() -> Piece? {
        guard place < end else { return nil }
        let byte = text.secret.byte(at: place)
        guard byte == UInt8(ascii: "\\") else {
            place += 1
            return .byte(byte)
        }
        return escape()
    }

    private mutating func escape() -> Piece? {
        guard place + 1 < end else { return nil }
        let letter = text.secret.byte(at: place + 1)
        guard letter == UInt8(ascii: "u") else {
            guard let index = Self.letters.firstIndex(of: letter) else { return nil }
            place += 2
            return .byte(Self.meanings[index])
        }
        guard let first = unit(at: place) else { return nil }
        guard (0xD800...0xDFFF).contains(first) else {
            place += 6
            return Unicode.Scalar(first).map { .scalar($0) }
        }
        // Half of a pair alone stands for nothing.
        guard first < 0xDC00, let second = unit(at: place + 6), (0xDC00...0xDFFF).contains(second) else {
            return nil
        }
        place += 12
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)).map { .scalar($0) }
    }

    // The four digits of the escape at that place; nil where none is whole.
    private func unit(at offset: Int) -> UInt32? {
        guard offset + 6 <= end, text.secret.byte(at: offset) == UInt8(ascii: "\\"),
            text.secret.byte(at: offset + 1) == UInt8(ascii: "u")
        else { return nil }
        var value: UInt32 = 0
        for index in offset + 2..<offset + 6 {
            let byte = text.secret.byte(at: index)
            guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private static let letters = Array("\"\\/bfnrt".utf8)
    private static let meanings = Array("\"\\/\u{8}\u{C}\n\r\t".utf8)
}
