import BrokerModel
import SDBus
import Sodium
import TestKit
import Testing

@testable import BrokerBus

/// A secret structure as a client writes it, right or wrong.
struct RawSecret: BusCodable, Equatable {
    static var signature: String { "(oayay)" }

    var session: ObjectPath
    var parameters: [UInt8]
    var value: [UInt8]

    init(_ session: String, _ parameters: [UInt8], _ value: [UInt8]) {
        self.session = ObjectPath(session)
        self.parameters = parameters
        self.value = value
    }

    init(from reader: inout MessageReader) throws(BusError) {
        _ = try reader.enter("r", "oayay")
        session = try reader.read()
        parameters = try reader.read()
        value = try reader.read()
        try reader.exit()
    }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "oayay")
        try writer.append(session)
        try writer.append(parameters)
        try writer.append(value)
        try writer.close()
    }
}

/// The two ends of a session with a bus between them: what one end writes arrives at the other as bytes of a
/// message.
@BrokerActor final class Wire {
    static let path = "/org/chatelaine/Broker1/session/7"

    let broker: SecretSession
    let client: SecretSession
    private let bus: PrivateBus
    private let service: Connection
    private let caller: Connection
    private var kept: [Registration] = []

    /// `broker` in the place of the end that a pair would have.
    init(broker other: SecretSession? = nil) async throws {
        TestLoop.start()
        let pair = Self.pair(Self.path)
        (broker, client) = (other ?? pair.broker, pair.client)
        bus = try await PrivateBus.start()
        service = try Connection.open(address: bus.address)
        caller = try Connection.open(address: bus.address)
        kept = [try service.export([interface], at: "/t")]
        try await service.requestName("org.example.Test")
    }

    /// Both ends over one shared secret.
    static func pair(_ path: String) -> (broker: SecretSession, client: SecretSession) {
        let ours = X25519KeyPair()
        let theirs = X25519KeyPair()
        let (brokerKey, clientKey) = (ours.publicKey, theirs.publicKey)
        guard let first = ours.sharedSecret(with: clientKey),
            let second = theirs.sharedSecret(with: brokerKey)
        else { fatalError("two fresh keys agree") }
        return (
            SecretSession(
                path: path, end: .broker, sharedSecret: first, clientKey: clientKey, brokerKey: brokerKey),
            SecretSession(
                path: path, end: .client, sharedSecret: second, clientKey: clientKey, brokerKey: brokerKey)
        )
    }

    private var interface: Interface {
        Interface("org.example.Test") {
            Method("Take", in: ["secret"], out: ["opened"]) {
                (call: borrowing Call, sealed: SealedSecret) throws(BusError) -> [UInt8] in
                try self.take(sealed)
            }
            Method("Echo", in: ["secret"], out: ["secret"]) {
                (call: borrowing Call, raw: RawSecret) throws(BusError) -> RawSecret in raw
            }
            Method("Give", in: ["content"], out: ["secret"]) {
                (call: borrowing Call, content: [UInt8]) throws(BusError) -> OutgoingSecret in
                OutgoingSecret(Self.secret(content), for: self.broker)
            }
        }
    }

    private func take(_ sealed: SealedSecret) throws(BusError) -> [UInt8] {
        do throws(Refusal) {
            return Self.copy(try broker.open(sealed).secret)
        } catch {
            throw BusError(error)
        }
    }

    private static func secret(_ content: [UInt8]) -> SharedSecret {
        SharedSecret(Secret(copying: content.span))
    }

    private static func copy(_ secret: borrowing Secret) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<secret.count { bytes.append(secret.span[index]) }
        return bytes
    }

    /// The client seals, the broker opens.
    func send(_ content: [UInt8]) async throws(BusError) -> [UInt8] {
        let outgoing = OutgoingSecret(Self.secret(content), for: client)
        return try await caller.call(
            "org.example.Test", path: "/t", interface: "org.example.Test", member: "Take", outgoing,
            timeoutMicroseconds: TestLoop.patienceMicroseconds
        ).read([UInt8].self)
    }

    /// What the client writes, as bytes that nobody has opened yet.
    func sealed(_ content: [UInt8]) async throws(BusError) -> RawSecret {
        let outgoing = OutgoingSecret(Self.secret(content), for: client)
        return try await caller.call(
            "org.example.Test", path: "/t", interface: "org.example.Test", member: "Echo", outgoing,
            timeoutMicroseconds: TestLoop.patienceMicroseconds
        ).read(RawSecret.self)
    }

    /// Bytes as they are to the broker.
    func send(_ raw: RawSecret) async throws(BusError) -> [UInt8] {
        try await caller.call(
            "org.example.Test", path: "/t", interface: "org.example.Test", member: "Take", raw,
            timeoutMicroseconds: TestLoop.patienceMicroseconds
        ).read([UInt8].self)
    }

    /// What the broker sends, as bytes.
    func receive(_ content: [UInt8]) async throws(BusError) -> RawSecret {
        try await caller.call(
            "org.example.Test", path: "/t", interface: "org.example.Test", member: "Give", content,
            timeoutMicroseconds: TestLoop.patienceMicroseconds
        ).read(RawSecret.self)
    }

    func kind(_ raw: RawSecret) async -> Refusal.Kind? {
        do throws(BusError) {
            _ = try await send(raw)
            return nil
        } catch {
            return error.kind
        }
    }
}
