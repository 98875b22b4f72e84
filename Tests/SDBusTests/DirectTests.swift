import Glibc
import SDBus
import TestKit
import Testing

@Suite struct DirectTests {
    init() { TestLoop.start() }

    @BrokerActor private func serve(
        _ interface: Interface, _ descriptor: Int32
    ) throws -> (Connection, Registration) {
        let connection = try Connection(server: UnixFD(owning: descriptor))
        return (connection, try connection.export([interface], at: Fixture.path))
    }

    /// A peer that has said its handshake by hand.
    @BrokerActor private func raw(_ interface: Interface) async throws -> (
        RawSocket, Connection, Registration
    ) {
        let (socket, other) = try RawSocket.pair()
        let (connection, registration) = try serve(interface, other)
        await socket.write(RawMessage.handshake(user: getuid()))
        var answer = ""
        while !answer.contains("AGREE_UNIX_FD") {
            let bytes = try await within("the handshake") { await socket.read() }
            if bytes.isEmpty { throw TestFailure("the handshake was refused: \(answer)") }
            answer += String(decoding: bytes, as: UTF8.self)
        }
        return (socket, connection, registration)
    }

    @BrokerActor @Test func peersCallEachOtherWithoutABus() async throws {
        let (client, server) = try pair()
        let (connection, registration) = try serve(Echo().interface, server)
        let peer = try Connection.openDirect(fd: UnixFD(owning: client))
        let reply = try await peer.call(
            nil, path: Fixture.path, interface: Fixture.name, member: "Who",
            timeoutMicroseconds: TestLoop.patienceMicroseconds)
        #expect(try reply.read(String.self, Bool.self).0 == "")
        #expect(!peer.isBus && peer.uniqueName == nil)
        let heard = Mailbox<UInt32>()
        let match = try await peer.matchSignal(
            sender: "org.lab.Any", interface: Fixture.name, member: "Changed"
        ) {
            heard.post((try? $0.read(UInt32.self)) ?? 0)
        }
        try connection.emit(
            signal: "Changed", interface: Fixture.name, path: Fixture.path, to: ":1.1", UInt32(5))
        #expect(try await heard.next("the signal") == 5)
        match.cancel()
        registration.cancel()
    }

    @BrokerActor @Test func anAnswerComesThoughItsObjectIsGone() async throws {
        let (client, server) = try pair()
        let echo = Echo()
        let (connection, registration) = try serve(echo.interface, server)
        let peer = try Connection.openDirect(fd: UnixFD(owning: client))
        let answers = Mailbox<String>()
        BrokerActor.start {
            let reply = try? await peer.call(
                nil, path: Fixture.path, interface: Fixture.name, member: "Wait", "late",
                timeoutMicroseconds: .max)
            answers.post((try? reply?.read(String.self)) ?? "error")
        }
        #expect(try await echo.gate.arrivals.next("the call to arrive") == "late")
        registration.cancel()
        echo.gate.open("late")
        #expect(try await answers.next("the answer") == "late")
        #expect(connection.isOpen)
    }

    @BrokerActor @Test func aPeerThatGoesIsTold() async throws {
        let (client, server) = try pair()
        let (connection, registration) = try serve(Echo().interface, server)
        let gone = Mailbox<Void>()
        let watch = try connection.onDisconnect { gone.post(()) }
        let peer = try Connection.openDirect(fd: UnixFD(owning: client))
        _ = try await peer.call(
            nil, path: Fixture.path, interface: Fixture.name, member: "Nothing",
            timeoutMicroseconds: TestLoop.patienceMicroseconds)
        peer.close()
        try await gone.next("the disconnect")
        #expect(!connection.isOpen)
        #expect(throws: BusError.self) {
            try connection.emit(signal: "X", interface: Fixture.name, path: "/", to: nil)
        }
        watch.cancel()
        registration.cancel()
    }

    @BrokerActor @Test func busctlTalksToADirectSocket() async throws {
        let folder = try TemporaryFolder()
        let path = folder.entry("bus")
        let listener = UnixFD(owning: try RawSocket.listener(at: path))
        let hello = Interface("org.freedesktop.DBus") {
            Method("Hello", out: ["name"]) { _ in ":1.1" }
        }
        var kept: [(Connection, [Registration])] = []
        let source = try BrokerActor.shared.loop.watch(listener.number, .readable) { _ in
            let accepted = accept(listener.number, nil, nil)
            guard accepted >= 0, let peer = try? Connection(server: UnixFD(owning: accepted)),
                let object = try? peer.export([Echo().interface], at: Fixture.path),
                let bus = try? peer.export([hello], at: "/org/freedesktop/DBus")
            else { return }
            kept.append((peer, [object, bus]))
        }
        let busctl = try await ChildProcess.start([
            "busctl", "--address=unix:path=\(path)", "call", "org.any.Name", Fixture.path, Fixture.name,
            "Flag", "b",
            "true",
        ])
        #expect(try await within("busctl's line") { await busctl.output.next() } == "b false")
        #expect(await busctl.waitForExit() == .exited(0))
        #expect(kept.count == 1)
        source.cancel()
    }

    @BrokerActor
    @Test(arguments: [
        [UInt8](repeating: 0, count: 100), Array("GET / HTTP/1.1\r\n\r\n".utf8),
        (0..<5_000).map { UInt8($0 & 0xFF) },
        [0] + Array("AUTH ANONYMOUS\r\nBEGIN\r\n".utf8), [0] + Array("AUTH EXTERNAL 7a7a\r\nBEGIN\r\n".utf8),
        [0] + [UInt8](repeating: 0x41, count: 100_000),
    ])
    func garbageInTheHandshakeEndsThatPeerAlone(_ bytes: [UInt8]) async throws {
        let (socket, other) = try RawSocket.pair()
        let (connection, registration) = try serve(Echo().interface, other)
        let gone = Mailbox<Void>()
        let watch = try connection.onDisconnect { gone.post(()) }
        await socket.write(bytes)
        socket.shutdown()
        try await gone.next("the disconnect")
        try await checkOthersAreServed()
        watch.cancel()
        registration.cancel()
    }

    @BrokerActor
    @Test(arguments: [
        [UInt8](repeating: 0xFF, count: 64),
        Array("l\u{1}".utf8) + [0, 9] + [UInt8](repeating: 0, count: 12),
        [0x6C, 1, 0, 1, 0xFF, 0xFF, 0xFF, 0x0F, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x0F],
        Array(RawMessage.call(serial: 0, path: "/", interface: "a.b", member: "c")),
        Array(RawMessage.call(serial: 1, path: "nopath", interface: "a.b", member: "c")),
        Array(RawMessage.call(serial: 1, path: "/", interface: "a.b", member: "1c").dropLast()) + [0xFF],
    ])
    func garbageAfterTheHandshakeEndsThatPeerAlone(_ bytes: [UInt8]) async throws {
        let (socket, connection, registration) = try await raw(Echo().interface)
        let gone = Mailbox<Void>()
        let watch = try connection.onDisconnect { gone.post(()) }
        await socket.write(bytes)
        socket.shutdown()
        try await gone.next("the disconnect")
        try await checkOthersAreServed()
        watch.cancel()
        registration.cancel()
    }

    @BrokerActor @Test func aForgedSenderIsNotBelieved() async throws {
        let senders = Mailbox<String>()
        let (socket, connection, registration) = try await raw(
            Interface(Fixture.name) {
                Method("Who") { call in
                    senders.post(
                        "\(call.sender ?? "nobody") \(call.senderHash) \(call.senderMatches(":1.7"))")
                }
            })
        await socket.write(
            RawMessage.call(
                serial: 1, path: Fixture.path, interface: Fixture.name, member: "Who", sender: ":1.7"))
        #expect(try await senders.next("the call") == "nobody 0 false")
        connection.close()
        registration.cancel()
    }

    @BrokerActor @Test func tenThousandCallsWithoutReadingAReplyAreAllAnswered() async throws {
        let count = 10_000
        let (socket, connection, registration) = try await raw(
            Interface(Fixture.name) {
                Method("Next", out: ["text"]) { _ in String(repeating: "x", count: 1_000) }
            })
        let calls = (1...UInt32(count)).flatMap {
            RawMessage.call(serial: $0, path: Fixture.path, interface: Fixture.name, member: "Next")
        }
        #expect(try await within("the calls to be taken") { await socket.write(calls) })
        try await waitUntil("the replies to queue up") { @BrokerActor in connection.queuedMessages > 1_000 }
        try await checkOthersAreServed()
        var (bytes, answered) = ([UInt8](), 0)
        while answered < count {
            let more = try await within("the replies") { await socket.read() }
            if more.isEmpty { break }
            bytes += more
            answered += RawMessage.take(from: &bytes)
        }
        #expect(answered == count && bytes.isEmpty)
        registration.cancel()
    }

    @BrokerActor @Test func whoeverSendsWithoutPauseLeavesOthersTheirTurn() async throws {
        let count = 5_000
        var served = 0
        let servedBefore = Mailbox<Result<Int, any Error>>()
        let (socket, connection, registration) = try await raw(
            Interface(Fixture.name) {
                Method("Next") { _ in
                    served += 1
                    guard served == 1 else { return }
                    BrokerActor.start {
                        do {
                            try await self.checkOthersAreServed()
                            servedBefore.post(.success(served))
                        } catch {
                            servedBefore.post(.failure(error))
                        }
                    }
                }
            })
        let calls = (1...UInt32(count)).flatMap {
            RawMessage.call(serial: $0, path: Fixture.path, interface: Fixture.name, member: "Next")
        }
        #expect(try await within("the calls to be taken") { await socket.write(calls) })
        #expect(try await servedBefore.next("the other's answer").get() < count)
        try await waitUntil("the last of them") { @BrokerActor in served == count }
        connection.close()
        registration.cancel()
    }

    @BrokerActor private func checkOthersAreServed() async throws {
        let (client, server) = try pair()
        let (connection, registration) = try serve(Echo().interface, server)
        let peer = try Connection.openDirect(fd: UnixFD(owning: client))
        let reply = try await peer.call(
            nil, path: Fixture.path, interface: Fixture.name, member: "Flag", true,
            timeoutMicroseconds: TestLoop.patienceMicroseconds)
        #expect(try reply.read(Bool.self) == false)
        connection.close()
        registration.cancel()
    }

    private func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw TestFailure("no socket pair") }
        return (ends[0], ends[1])
    }
}
