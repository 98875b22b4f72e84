internal import Glibc
internal import SDBus

/// One connection to the redirect's port, of whoever it may be.
@BrokerActor final class RedirectGuest {
    private static let patienceMicroseconds: UInt64 = 10_000_000
    private static let pieceBytes = 4096

    private let socket: UnixFD
    /// All that it has said. A code in it is worth nothing without the verifier, and has been through a browser.
    private(set) var bytes: [UInt8] = []
    private var source: IOSource?
    private var timer: Timer?

    /// Takes the connection. `heard` is called each time that something came; `gone` when it ended or took too long.
    init(
        _ socket: consuming UnixFD, heard: @escaping @BrokerActor (RedirectGuest) -> Void,
        gone: @escaping @BrokerActor (RedirectGuest) -> Void
    ) throws(BusError) {
        self.socket = socket
        let loop = BrokerActor.shared.loop
        source = try loop.watch(self.socket.number, .readable) { [weak self] _ in
            guard let self else { return }
            if self.read() { heard(self) } else { gone(self) }
        }
        timer = loop.timer(at: loop.now() + Self.patienceMicroseconds) { [weak self] in
            if let self { gone(self) }
        }
    }

    /// Sends the page, as far as the socket takes it at once, which is all of it, and says no more.
    func answer(_ page: Page) {
        let bytes = page.bytes
        let flags = Int32(MSG_NOSIGNAL)
        _ = unsafe bytes.withUnsafeBytes { unsafe send(socket.number, $0.baseAddress, $0.count, flags) }
        shutdown(socket.number, Int32(SHUT_WR))
    }

    /// Ends it: neither closure is called any more.
    func close() {
        source = nil
        timer = nil
    }

    private func read() -> Bool {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = unsafe recv(socket.number, &piece, piece.count, 0)
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        bytes += piece[..<count]
        return count > 0
    }
}
