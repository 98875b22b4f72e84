import Glibc
import SDBus
import TestKit
import Testing

@Suite struct ListenerTests {
    init() { TestLoop.start() }

    /// A listener in a folder of its own, and what it accepts.
    @BrokerActor private final class Inn {
        let folder: TemporaryFolder
        let path: String
        let listener: SocketListener
        let guests = Mailbox<SocketCredentials?>()
        var kept: [Int32] = []

        init() throws {
            folder = try TemporaryFolder()
            path = folder.entry("bus")
            listener = try SocketListener(path: path, mode: 0o600)
        }

        func open() throws {
            try listener.start { [self] socket in
                guests.post(SocketCredentials(of: socket))
                kept.append(socket.release())
            }
        }

        func empty() {
            kept.forEach { close($0) }
            kept = []
        }
    }

    @BrokerActor @Test func whoConnectsIsKnownByTheKernel() async throws {
        let inn = try Inn()
        let early = try Connection.connectDirect(path: inn.path)
        try inn.open()
        let guest = try #require(try await inn.guests.next("the guest"))
        #expect(guest.userID == geteuid() && guest.processID == UInt32(getpid()))
        #expect(guest.groupIDs.first == getegid())
        // Seen from here it is who listens.
        #expect(SocketCredentials(of: early)?.processID == UInt32(getpid()))
        inn.empty()
        inn.listener.close()
    }

    @BrokerActor @Test func theFileHasItsModeAndGoesWithTheListener() throws {
        let inn = try Inn()
        var status = stat()
        #expect(unsafe lstat(inn.path, &status) == 0)
        #expect(status.st_mode == S_IFSOCK | 0o600)
        inn.listener.close()
        #expect(unsafe lstat(inn.path, &status) != 0)
    }

    @BrokerActor @Test func onlyADesertedFileIsReplaced() throws {
        let inn = try Inn()
        #expect(throws: ListenFailure.taken) { _ = try SocketListener(path: inn.path, mode: 0o600) }
        let deserted = inn.folder.entry("deserted")
        let left = UnixFD(owning: try RawSocket.listener(at: deserted))
        // A process that another test is starting has a copy of it until it runs its program.
        shutdown(left.number, Int32(SHUT_RDWR))
        _ = consume left
        let successor = try SocketListener(path: deserted, mode: 0o600)
        #expect(throws: ListenFailure.taken) { _ = try SocketListener(path: deserted, mode: 0o600) }
        successor.close()
        let file = try inn.folder.write("mine", to: "file")
        #expect(throws: ListenFailure.noSocket) { _ = try SocketListener(path: file, mode: 0o600) }
        inn.listener.close()
    }

    @BrokerActor @Test func anotherListenersFileIsLeftAlone() throws {
        let inn = try Inn()
        #expect(unsafe unlink(inn.path) == 0)
        let other = try SocketListener(path: inn.path, mode: 0o600)
        inn.listener.close()
        var status = stat()
        #expect(unsafe lstat(inn.path, &status) == 0)
        other.close()
    }

    @BrokerActor @Test(arguments: ["", "/" + String(repeating: "x", count: 107), "/a\0b"])
    func whatIsNoPathIsRefused(_ path: String) {
        #expect(throws: ListenFailure.pathTooLong(107)) { _ = try SocketListener(path: path, mode: 0o600) }
        #expect(throws: BusError.self) { _ = try Connection.connectDirect(path: path) }
    }

    @BrokerActor @Test func aPeerThatDoesNotReadIsNoticedByBytes() async throws {
        let (socket, other) = try RawSocket.pair()
        let connection = try Connection(server: UnixFD(owning: other))
        let exceeded = Mailbox<Void>()
        let limit = connection.limitBacklog(bytes: 4 << 20, messages: 1_000_000) { exceeded.post(()) }
        await socket.write(RawMessage.handshake(user: getuid()))
        let text = String(repeating: "x", count: 1 << 20)
        // sd-bus asks the kernel for 8 MiB of room, which count as taken.
        for _ in 0..<20 {
            try connection.emit(signal: "X", interface: Fixture.name, path: "/", to: nil, text)
        }
        try await exceeded.next("the limit")
        limit.cancel()
        connection.close()
    }

    @BrokerActor @Test func whatComesWithTheHandshakeIsServed() async throws {
        let (socket, other) = try RawSocket.pair()
        let connection = try Connection(server: UnixFD(owning: other))
        let object = try connection.export([Echo().interface], at: Fixture.path)
        let calls = (1...5).flatMap {
            RawMessage.call(serial: $0, path: Fixture.path, interface: Fixture.name, member: "Nothing")
        }
        await socket.write(RawMessage.handshake(user: getuid()) + calls)
        var (bytes, answered): ([UInt8], Int) = ([], 0)
        while answered < 5 {
            bytes += try await within("the answers") { await socket.read() }
            // The handshake's lines come first.
            if let start = bytes.firstIndex(of: UInt8(ascii: "l")), answered == 0 { bytes.removeFirst(start) }
            answered += RawMessage.take(from: &bytes)
        }
        connection.close()
        object.cancel()
    }
}
