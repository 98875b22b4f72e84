import Sodium

/// A secret of a test's.
func secret(_ text: String) -> SharedSecret { SharedSecret(Secret(copying: Array(text.utf8).span)) }

func secret(_ bytes: [UInt8]) -> SharedSecret { SharedSecret(Secret(copying: bytes.span)) }

/// A copy of a test's secret.
func bytes(_ secret: SharedSecret) -> [UInt8] { copy(secret.secret) }

func text(_ secret: SharedSecret?) -> String? { secret.map { String(decoding: bytes($0), as: UTF8.self) } }

private func copy(_ secret: borrowing Secret) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in 0..<secret.count { bytes.append(secret.span[index]) }
    return bytes
}
