import Glibc
import SDBus
import TestKit

/// A terminal of a test's own, with the person at it.
final class Terminal: Sendable {
    /// What a program opens to be on it.
    let path: String
    private let master: Int32
    // Kept open, so that the terminal lives on without a program.
    private let slave: Int32
    private let reader = WorkThread(name: "terminal")

    init() throws {
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, isLocked) = (Int32(-1), Int32(0))
        // TIOCGPTN and TIOCSPTLCK, whose macros Swift does not import.
        guard master >= 0, unsafe ioctl(master, 0x8004_5430, &number) == 0,
            unsafe ioctl(master, 0x4004_5431, &isLocked) == 0
        else { throw TestFailure("no terminal: errno \(errno)") }
        path = "/dev/pts/\(number)"
        slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    }

    deinit {
        close(master)
        close(slave)
    }

    /// Whether what is typed is shown.
    var hasEcho: Bool {
        var mode = termios()
        unsafe tcgetattr(slave, &mode)
        return mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Types.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe write(master, bytes, bytes.count)
    }

    /// Reads until the text is on the screen, and gives all that came with it.
    func read(until text: String) async throws -> String {
        let (master, reader) = (master, reader)
        return try await within("'\(text)' on the terminal") {
            await reader.run {
                var screen: [UInt8] = []
                var chunk = [UInt8](repeating: 0, count: 256)
                while !String(decoding: screen, as: UTF8.self).contains(text) {
                    let count = unsafe Glibc.read(master, &chunk, chunk.count)
                    if count <= 0 { break }
                    screen += chunk[..<count]
                }
                return String(decoding: screen, as: UTF8.self)
            }
        }
    }
}
