internal import Sodium

extension SecretSlice {
    /// The bytes as they stand between the quotes of a JSON string.
    func escapedForJSON() -> Secret {
        let length = (0..<count).reduce(0) { $0 + Self.escapedCount(self[$1]) }
        return Secret(count: length) { target in
            var place = 0
            for index in 0..<count {
                let byte = self[index]
                let length = Self.escapedCount(byte)
                for offset in 0..<length { target[place + offset] = Self.escaped(byte, offset, of: length) }
                place += length
            }
        }
    }

    private static func escapedCount(_ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): 2
        case 0..<0x20: 6
        default: 1
        }
    }

    // One byte of the two-byte form, of the form with four digits, or the byte itself.
    private static func escaped(_ byte: UInt8, _ offset: Int, of length: Int) -> UInt8 {
        switch offset {
        case length - 1 where length < 6: byte
        case 0: UInt8(ascii: "\\")
        case 1: UInt8(ascii: "u")
        case 4: hexDigits[Int(byte >> 4)]
        case 5: hexDigits[Int(byte & 15)]
        default: UInt8(ascii: "0")
        }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
}
