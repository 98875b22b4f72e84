internal import CSystemd
internal import Glibc

/// The journal's native protocol.
public enum Journal {
    /// Whether a journal listens on this machine; without one `send` reaches nobody.
    public static var isAvailable: Bool {
        unsafe access("/run/systemd/journal/socket", W_OK) == 0
    }

    /// Sends one entry of fields. Field names are upper-case letters, digits and underscores, and begin with a
    /// letter; others are left out. Values may hold any bytes. False when it could not be sent.
    @discardableResult
    public static func send(fields: [(String, String)]) -> Bool {
        var lines = fields.filter { isFieldName($0.0) }.map { Array("\($0)=\($1)".utf8) }
        guard !lines.isEmpty, isAvailable else { return false }
        var vectors: [iovec] = unsafe []
        for index in lines.indices {
            // A pointer per element stays valid while `lines` is neither grown nor freed, which is below.
            unsafe lines[index].withUnsafeMutableBytes { bytes in
                unsafe vectors.append(iovec(iov_base: bytes.baseAddress, iov_len: bytes.count))
            }
        }
        return withExtendedLifetime(lines) {
            unsafe sd_journal_sendv(vectors, Int32(vectors.count)) >= 0
        }
    }

    static func isFieldName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (0x41...0x5A).contains(first) else { return false }
        return name.utf8.allSatisfy { byte in
            (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
        }
    }
}
