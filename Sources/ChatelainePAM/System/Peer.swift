internal import Glibc
internal import Sodium

/// The other end of a socket: what it says counts only where the kernel says that the process said it which listens.
final class Peer {
    private let number: Int32
    private let userID: UInt32
    private var processID: pid_t = 0
    private var bytesLeft = 1 << 20

    /// A socket in the working folder. Nil where nobody listens.
    init?(connectedTo name: String, of userID: UInt32) throws(Trouble) {
        let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        number = socket(AF_UNIX, Int32(flags), 0)
        self.userID = userID
        var isOn: Int32 = 1
        guard number >= 0,
            unsafe setsockopt(number, SOL_SOCKET, SO_PASSCRED, &isOn, socklen_t(MemoryLayout<Int32>.size))
                == 0
        else { throw .silent }
        guard Self.connect(number, name) == 0 else {
            if errno == ECONNREFUSED || errno == ENOENT { return nil }
            throw .silent
        }
        // struct ucred, which glibc's header hides from Swift: process, user, group.
        var credentials: [UInt32] = [0, 0, 0]
        var size = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0,
            credentials[1] == userID, let listener = pid_t(exactly: credentials[0]), listener > 0
        else { throw .impostor("another user than the owner of the folder listens in it") }
        processID = listener
    }

    deinit { if number >= 0 { close(number) } }

    private static func connect(_ socket: Int32, _ name: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(name.utf8)) }
        return unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// The process that listens.
    func process() throws(Trouble) -> ListeningProcess { try ListeningProcess(processID) }

    func send(_ bytes: [UInt8]) throws(Trouble) {
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(number, $0.baseAddress!, $0.count, Self.noSignal)
        }
        guard sent == bytes.count else { throw .silent }
    }

    func send(_ secret: borrowing Secret) throws(Trouble) {
        let count = secret.count
        let sent = unsafe secret.span.withUnsafeBytes {
            unsafe Glibc.send(number, $0.baseAddress!, $0.count, Self.noSignal)
        }
        guard sent == count else { throw .silent }
    }

    private static let noSignal = Int32(MSG_NOSIGNAL)

    /// Some bytes, at most `max`, and of no other process than the one that listens.
    func receive(max: Int, until deadline: Deadline) throws(Trouble) -> [UInt8] {
        try awaitBytes(until: deadline)
        var bytes = [UInt8](repeating: 0, count: max)
        var control = [UInt64](repeating: 0, count: 16)
        var count = -1
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe control.withUnsafeMutableBytes { control in
                var part = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                unsafe withUnsafeMutablePointer(to: &part) { part in
                    var header = unsafe msghdr()
                    unsafe header.msg_iov = part
                    unsafe header.msg_iovlen = 1
                    unsafe header.msg_control = control.baseAddress
                    unsafe header.msg_controllen = control.count
                    // A descriptor that is passed here is of no use, and is closed by not being taken.
                    count = unsafe recvmsg(number, &header, Int32(MSG_CMSG_CLOEXEC))
                }
            }
        }
        bytesLeft -= count
        guard count > 0, bytesLeft > 0 else { throw .silent }
        guard Self.isSender(control, processID, userID) else {
            throw .impostor("another process answers than the one that listens")
        }
        return Array(bytes[..<count])
    }

    private func awaitBytes(until deadline: Deadline) throws(Trouble) {
        while let milliseconds = deadline.millisecondsLeft {
            var watched = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&watched, 1, milliseconds)
            if count > 0 { return }
            if count < 0 && errno != EINTR { throw .silent }
        }
        throw .silent
    }

    // The first control message: its length and level and type (cmsghdr), then process, user, group (ucred).
    private static func isSender(_ control: [UInt64], _ processID: pid_t, _ userID: UInt32) -> Bool {
        unsafe control.withUnsafeBytes { bytes in
            let level = unsafe bytes.load(fromByteOffset: 8, as: Int32.self)
            let kind = unsafe bytes.load(fromByteOffset: 12, as: Int32.self)
            // SCM_CREDENTIALS, which glibc's header hides from Swift.
            guard level == SOL_SOCKET, kind == 2 else { return false }
            return unsafe bytes.load(fromByteOffset: 16, as: pid_t.self) == processID
                && bytes.load(fromByteOffset: 20, as: UInt32.self) == userID
        }
    }
}

/// A process that is told from a later one of the same number.
final class ListeningProcess {
    private let folder: Folder

    init(_ processID: pid_t) throws(Trouble) {
        guard let folder = Folder("/proc/\(processID)") else {
            throw .impostor("the process that listened is gone")
        }
        self.folder = folder
    }

    /// Throws unless the process runs the very file that is installed, which root alone can change.
    func runs(_ program: String) throws(Trouble) {
        var (installed, running) = (stat(), stat())
        guard unsafe stat(program, &installed) == 0, installed.st_uid == 0, installed.st_mode & 0o022 == 0
        else {
            throw .impostor("\(program) is not there, or not root's")
        }
        guard unsafe fstatat(folder.number, "exe", &running, 0) == 0,
            running.st_dev == installed.st_dev, running.st_ino == installed.st_ino
        else { throw .impostor("who listens at the broker's socket is not \(program)") }
    }
}
