internal import Chatelaine
internal import Sodium

/// Secrets that are to be used as text.
enum Text {
    /// Visible ASCII and blanks, at least one (RFC 6749, appendix A): what can stand in a header without ending it.
    static func isToken(_ secret: SharedSecret) -> Bool { isVisible(secret.secret) }

    private static func isVisible(_ secret: borrowing Secret) -> Bool {
        let bytes = secret.span
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] > 0x7E { return false }
        return !bytes.isEmpty
    }

    /// As a string, for what is no secret; nil for what is no UTF-8.
    static func string(_ secret: SharedSecret) -> String? { secret.secret.text() }

    /// One byte of it.
    static func byte(_ secret: borrowing Secret, at index: Int) -> UInt8 { secret.span[index] }

    /// An error code of a server's as it may stand in an error and in a log; nil for what is none.
    static func errorCode(_ secret: SharedSecret?) -> String? {
        guard let code = secret.flatMap(string), (1...64).contains(code.utf8.count) else { return nil }
        let isCode = code.utf8.allSatisfy {
            ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")) || $0 == UInt8(ascii: "_")
        }
        return isCode ? code : nil
    }
}
