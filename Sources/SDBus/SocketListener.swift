internal import CSystemd
internal import Glibc

/// A Unix socket with a name, which hands over every connection that it accepts. It is gone with `close` or with its
/// last reference.
@BrokerActor public final class SocketListener {
    private let path: String
    private let socket: UnixFD
    private let file: FileIdentity
    private var accepted: (@BrokerActor (consuming UnixFD) -> Void)?
    private var source: IOSource?
    private var pause: Timer?
    private var isClosed = false

    /// Connections that are taken in one turn of the loop, so that a flood of them is not all that happens.
    private static let acceptedPerTurnMax = 16
    /// What is tried again without an event, in case the descriptors were somebody else's that went.
    private static let pauseMicroseconds: UInt64 = 250_000

    /// Listens at the path: whoever connects waits for `start`. The file of a broker that is dead is replaced; one that
    /// is alive keeps it. `mode` says who may connect, whatever the process's umask.
    public init(path: String, mode: UInt32) throws(ListenFailure) {
        guard let address = UnixAddress(path: path) else { throw .pathTooLong(UnixAddress.pathBytesMax) }
        self.path = path
        do throws(BusError) {
            socket = try UnixAddress.makeSocket()
        } catch {
            throw .system(error)
        }
        try Self.bind(socket.number, to: address, path)
        // Whoever watches the folder is told of the mode, and then somebody listens.
        guard listen(socket.number, SOMAXCONN) == 0, unsafe chmod(path, mode) == 0,
            let file = FileIdentity(path)
        else { throw .system(BusError(errno: errno)) }
        self.file = file
    }

    isolated deinit {
        close()
    }

    /// Accepts from here on.
    public func start(_ accepted: @escaping @BrokerActor (consuming UnixFD) -> Void) throws(BusError) {
        self.accepted = accepted
        try watch()
    }

    /// Accepts nobody any more and takes the file away, if it is still this one's.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        source = nil
        pause = nil
        accepted = nil
        if FileIdentity(path) == file { unsafe unlink(path) }
    }

    /// Descriptors have come free: those who wait to be accepted need not wait any longer.
    public func resume() {
        guard pause != nil else { return }
        pause = nil
        do throws(BusError) { try watch() } catch { rest() }
    }

    private func watch() throws(BusError) {
        source = try BrokerActor.shared.loop.watch(socket.number, .readable) { [weak self] _ in self?.accept()
        }
    }

    private func accept() {
        for _ in 0..<Self.acceptedPerTurnMax {
            let number = Glibc.accept(socket.number, nil, nil)
            if number >= 0 {
                accepted?(UnixFD(owning: number))
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return
            default: return rest()
            }
        }
    }

    // Short of descriptors or memory: the socket stays readable, and a watch on it would turn the loop without end.
    private func rest() {
        source = nil
        let loop = BrokerActor.shared.loop
        pause = loop.timer(at: loop.now() + Self.pauseMicroseconds) { [weak self] in self?.resume() }
    }

    private static func bind(
        _ socket: Int32, to address: UnixAddress, _ path: String
    ) throws(ListenFailure) {
        let isBound = { unsafe address.withC { unsafe Glibc.bind(socket, $0, $1) } == 0 }
        if isBound() { return }
        guard errno == EADDRINUSE else { throw .system(BusError(errno: errno)) }
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { throw .noSocket }
        guard isDeserted(address) else { throw .taken }
        guard unsafe unlink(path) == 0, isBound() else { throw .system(BusError(errno: errno)) }
    }

    private static func isDeserted(_ address: UnixAddress) -> Bool {
        do throws(BusError) {
            _ = try address.connected()
            return false
        } catch {
            // Whatever else is said, a full queue for one, is said by somebody who lives.
            return error == BusError(errno: ECONNREFUSED)
        }
    }
}

/// Why a socket cannot be listened on.
public enum ListenFailure: Error, Sendable, Equatable {
    /// The path has more bytes than this, or none.
    case pathTooLong(Int)
    /// Somebody listens there.
    case taken
    /// Something else has the name.
    case noSocket
    /// What the system said.
    case system(BusError)

    /// To stand behind the path.
    public var reason: String {
        switch self {
        case .pathTooLong(let bytes): "is no name for a socket, which has 1 to \(bytes) bytes"
        case .taken: "is served by another broker"
        case .noSocket: "is there and is no socket"
        case .system(let error): "cannot be listened on: \(error.message)"
        }
    }
}

/// Which file a path names.
private struct FileIdentity: Equatable {
    let device: UInt
    let inode: UInt

    init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }
}
