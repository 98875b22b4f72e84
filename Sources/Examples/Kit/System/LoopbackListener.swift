/// A port that this machine alone can connect to.
public final class LoopbackListener: Sendable {
    private let socket: LoopbackSocket

    /// Listens at a free port; nil where the system gives none.
    public init?() {
        guard let socket = LoopbackSocket.makeSocket(), socket.bindAndListen(port: 0) else { return nil }
        self.socket = socket
    }

    /// Where.
    public var port: UInt16 { socket.port }

    /// Waits, blocking, for somebody to connect; nil where that cannot happen any more.
    public func accept() -> LoopbackSocket? { socket.acceptNext() }
}
