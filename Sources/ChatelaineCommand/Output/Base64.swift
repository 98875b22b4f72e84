internal import Sodium

/// Base64 as in RFC 4648, section 4, with padding.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// For what is no secret.
    static func text(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: length(bytes.count))
        var span = text.mutableSpan
        encode(bytes.span, into: &span)
        return String(decoding: text, as: UTF8.self)
    }

    /// For a secret: the text is one too.
    static func text(_ secret: borrowing Secret) -> Secret {
        let source = secret.span
        return Secret(count: length(source.count)) { target in encode(source, into: &target) }
    }

    private static func length(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    private static func encode(_ bytes: Span<UInt8>, into target: inout MutableSpan<UInt8>) {
        for group in 0..<(bytes.count + 2) / 3 {
            let left = bytes.count - group * 3
            var bits = 0
            for index in 0..<3 { bits = bits << 8 | (index < left ? Int(bytes[group * 3 + index]) : 0) }
            for index in 0..<4 {
                let digit = alphabet[bits >> (18 - 6 * index) & 63]
                target[group * 4 + index] = index <= left ? digit : UInt8(ascii: "=")
            }
        }
    }
}
