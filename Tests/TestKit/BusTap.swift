internal import Glibc

/// Stands between one client and a bus, and shows each piece of what either says before it goes on.
public final class BusTap: Sendable {
    /// Where the client is to connect.
    public let address: String
    private let folder: TemporaryFolder
    private let listener: Int32

    /// Listens for one client of that bus. `look` is shown a piece at a time, which goes on when it returns.
    public init(_ bus: PrivateBus, _ look: @escaping @Sendable (_ said: String) async -> Void) throws {
        folder = try TemporaryFolder()
        address = "unix:path=" + folder.entry("tap")
        let listener = try RawSocket.listener(at: folder.entry("tap"))
        self.listener = listener
        let path = String(bus.address.dropFirst("unix:path=".count))
        Task {
            guard let client = await RawSocket.accept(from: listener) else { return }
            let server = try RawSocket.connected(to: path)
            Task { await Self.carry(client.from, server.to, look) }
            await Self.carry(server.from, client.to, look)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func carry(
        _ from: RawSocket, _ to: RawSocket, _ look: @Sendable (_ said: String) async -> Void
    ) async {
        while true {
            let bytes = await from.read()
            if bytes.isEmpty { break }
            await look(String(decoding: bytes, as: UTF8.self))
            guard await to.write(bytes) else { break }
        }
        from.shutdown()
        to.shutdown()
    }
}
