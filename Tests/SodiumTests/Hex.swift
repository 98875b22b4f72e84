import Sodium

/// Bytes of a vector, as documents print them; white space does not count.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter(\.isHexDigit).compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func secret(_ bytes: [UInt8]) -> Secret { Secret(copying: bytes.span) }

func key(_ text: String) -> Key { Key(secret(hex(text)))! }

/// A secret's bytes, for a test to look at.
func bytes(_ secret: borrowing Secret) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in 0..<secret.count { bytes.append(secret.span[index]) }
    return bytes
}
