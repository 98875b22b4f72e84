extension JSONReader {
    /// One character of a string, in UTF-8: not an array, which would leave its bytes behind.
    struct Piece {
        let count: Int
        private let packed: UInt32

        init(_ byte: UInt8) {
            count = 1
            packed = UInt32(byte)
        }

        init(_ scalar: Unicode.Scalar) {
            var packed: UInt32 = 0
            var count = 0
            for byte in UTF8.encode(scalar)! {
                packed |= UInt32(byte) << UInt32(8 * count)
                count += 1
            }
            self.packed = packed
            self.count = count
        }

        subscript(index: Int) -> UInt8 { UInt8(truncatingIfNeeded: packed >> UInt32(8 * index)) }
    }

    /// The next character inside a string; nil behind its end.
    mutating func piece() throws(Malformed) -> Piece? {
        guard let byte = next(), byte >= 0x20 else { throw Malformed() }
        switch byte {
        case UInt8(ascii: "\""): return nil
        case UInt8(ascii: "\\"): return try escape()
        default: return Piece(byte)
        }
    }

    private mutating func escape() throws(Malformed) -> Piece {
        switch next() {
        case UInt8(ascii: "\""): return Piece(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): return Piece(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): return Piece(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): return Piece(0x08)
        case UInt8(ascii: "f"): return Piece(0x0C)
        case UInt8(ascii: "n"): return Piece(0x0A)
        case UInt8(ascii: "r"): return Piece(0x0D)
        case UInt8(ascii: "t"): return Piece(0x09)
        case UInt8(ascii: "u"): return Piece(try scalar())
        default: throw Malformed()
        }
    }

    private mutating func scalar() throws(Malformed) -> Unicode.Scalar {
        let first = try unit()
        guard UTF16.isLeadSurrogate(first) else {
            guard let scalar = Unicode.Scalar(first) else { throw Malformed() }
            return scalar
        }
        guard next() == UInt8(ascii: "\\"), next() == UInt8(ascii: "u") else { throw Malformed() }
        let second = try unit()
        guard UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(
                0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw Malformed() }
        return scalar
    }

    private mutating func unit() throws(Malformed) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next().flatMap(HexDigit.value) else { throw Malformed() }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}

/// The digits of a hexadecimal number.
enum HexDigit {
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
