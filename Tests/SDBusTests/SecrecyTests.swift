import SDBus
import TestKit
import Testing

/// A secret that is made byte by byte, so that it stands nowhere but in messages.
private enum Pattern {
    static let count = 100_000
    static let mask: UInt8 = 0xA5

    static func byte(_ index: Int) -> UInt8 {
        var value = UInt64(index) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1
        value ^= value >> 29
        value = value &* 0xBF58_476D_1CE4_E5B9
        return UInt8(truncatingIfNeeded: value >> 40)
    }

    static func write(_ writer: inout MessageWriter) throws(BusError) {
        try writer.appendSpace(count) { span in
            for index in 0..<count { span[index] = byte(index) }
        }
    }

    static func isWhole(_ span: Span<UInt8>) -> Bool {
        guard span.count == count else { return false }
        for index in 0..<count where span[index] != byte(index) { return false }
        return true
    }

    /// Copies of pieces of it anywhere in this process. The ends are left out: a freed block's ends are overwritten.
    static func copies() async throws -> Int {
        let windows = stride(from: 1_000, to: count - 1_000, by: 24_000).map { start in
            (start..<start + 24).map { byte($0) ^ mask }
        }
        return try await MemoryScan.count(masked: windows, mask: mask)
    }
}

/// Checks the secret where it lies in the message.
private struct SecretArgument: BusDecodable {
    static var signature: String { "ay" }

    let isWhole: Bool

    init(from reader: inout MessageReader) throws(BusError) {
        isWhole = try reader.withBytes { bytes in Pattern.isWhole(bytes) }
    }
}

/// Fills itself in.
private struct SecretResult: ~Copyable, BusEncodable {
    static var signature: String { "say" }

    borrowing func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.append("parameters")
        try Pattern.write(&writer)
    }
}

// One after the other: a secret in flight of one test would be found by another.
@Suite(.serialized) struct SecrecyTests {
    init() { TestLoop.start() }

    @BrokerActor private var interface: Interface {
        Interface(Fixture.name) {
            Method("Give", out: ["parameters", "secret"]) { _ in SecretResult() }.sensitive
            Method("GiveLate", out: ["parameters", "secret"]) { _ -> Answer<SecretResult> in
                .later {
                    await Task.yield()
                    return SecretResult()
                }
            }.sensitive
            Method("Take", in: ["secret"], out: ["whole"]) { (_, secret: SecretArgument) in secret.isWhole }
                .sensitive
        }
    }

    @Test func theScanSeesACopy() async throws {
        var copy = (0..<Pattern.count).map { Pattern.byte($0) }
        let seen = try await Pattern.copies()
        #expect(seen == 5)
        for index in copy.indices { copy[index] = 0 }
        #expect(try await Pattern.copies() == 0)
    }

    @BrokerActor @Test(arguments: ["Give", "GiveLate"])
    func aSecretReplyLeavesNoCopyOnEitherSide(_ member: String) async throws {
        let fixture = try await Fixture(interface)
        for _ in 0..<3 {
            let isWhole = try await fixture.client.call(
                Fixture.name, path: Fixture.path, interface: Fixture.name, member: member,
                timeoutMicroseconds: TestLoop.patienceMicroseconds, sensitive: true
            ).withReader { (reader) throws(BusError) in
                _ = try reader.read(String.self)
                return try SecretArgument(from: &reader).isWhole
            }
            #expect(isWhole)
        }
        try await expectNoCopies()
    }

    @BrokerActor @Test func aSecretArgumentLeavesNoCopyOnEitherSide() async throws {
        let fixture = try await Fixture(interface)
        for _ in 0..<3 {
            let reply = try await fixture.client.call(
                Fixture.name, path: Fixture.path, interface: Fixture.name, member: "Take",
                timeoutMicroseconds: TestLoop.patienceMicroseconds, sensitive: true,
                write: Pattern.write)
            #expect(try reply.read(Bool.self))
        }
        try await expectNoCopies()
    }

    @BrokerActor @Test func aSecretThatIsRefusedForItsSignatureLeavesNoCopy() async throws {
        let fixture = try await Fixture(interface)
        await #expect(throws: BusError.self) {
            try await fixture.client.call(
                Fixture.name, path: Fixture.path, interface: Fixture.name, member: "Take", sensitive: true
            ) { (writer) throws(BusError) in
                try writer.append(UInt32(1))
                try Pattern.write(&writer)
            }
        }
        try await expectNoCopies()
    }

    /// Messages go when the last turn of the loop that held them is over.
    private func expectNoCopies() async throws {
        try await waitUntil("the secret to be gone") { try await Pattern.copies() == 0 }
    }
}
