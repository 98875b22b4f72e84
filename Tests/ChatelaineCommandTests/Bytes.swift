import Sodium

/// A copy of a test's secret.
func bytes(_ secret: borrowing Secret) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in 0..<secret.count { bytes.append(secret.span[index]) }
    return bytes
}
