import BrokerModel
import Chatelaine
import Foundation
import SDBus
import Sodium
import TestKit

/// A broker on a bus of its own, whose store's disk can be made to fail. The policy gives this program and the programs
/// `TokenClient` and `LibraryExamples` one group.
final class TokenStage: Sendable {
    private let stage: BrokerStage
    private let faults: TemporaryFolder

    /// What finds the item that the tests keep tokens in.
    static let item: Attributes = {
        var item = Attributes()
        item["Class"] = .text("generic-password")
        item["Service"] = .text("https://mail.example")
        item["Account"] = .text("alice")
        return item
    }()

    /// Starts all and waits until the broker is ready.
    init(failing: Bool = false) async throws {
        faults = try TemporaryFolder()
        var environment: [String: String] = [:]
        if failing {
            environment["LD_PRELOAD"] = try await Self.faultyLibrary(faults)
            environment["FAULTS"] = faults.path
            // The address sanitizer wants to be first in a process; this library takes none of its functions.
            let options = ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? ""
            environment["ASAN_OPTIONS"] = options + "verify_asan_link_order=0"
        }
        stage = try await BrokerStage(policy: Self.policy, environment: environment)
    }

    /// The bus.
    var bus: PrivateBus { stage.bus }

    /// The address of the broker's direct endpoint.
    var directAddress: String { stage.directAddress }

    /// Starts the broker anew after a crash.
    func crash() async throws { try await stage.crash() }

    private static var policy: String {
        """
        [Application org.chatelaine.Tests]
        Executable=\(BrokerStage.runner)
        AccessGroups=org.example.mail

        [Application org.chatelaine.TokenClient]
        Executable=\(BrokerStage.build)TokenClient
        AccessGroups=org.example.mail

        [Application org.chatelaine.LibraryExamples]
        Executable=\(BrokerStage.build)LibraryExamples
        AccessGroups=org.example.mail

        [AccessGroup org.example.mail]
        RequireTrust=user

        [Manager]
        Executable=\(BrokerStage.runner)
        """
    }

    private static func faultyLibrary(_ folder: TemporaryFolder) async throws -> String {
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../Python/faulty.c")
        let library = folder.entry("faulty.so")
        let compiler = try await ChildProcess.start(
            [
                "sh", "-c", "$(command -v cc || command -v clang) -shared -fPIC -o \"$1\" \"$2\" -ldl", "sh",
                library,
                source.path(percentEncoded: false),
            ])
        guard await compiler.waitForExit() == .exited(0) else { throw TestFailure("no faulty library") }
        return library
    }

    /// From here on the store's disk takes nothing, or takes it again.
    func setDisk(isFailing: Bool) throws {
        if isFailing {
            try faults.write("", to: "write")
        } else {
            try FileManager.default.removeItem(atPath: faults.entry("write"))
        }
    }

    /// A connection of the test's own.
    @BrokerActor func connect() throws -> Broker { try Broker.connect(to: .address(bus.address)) }

    /// The vault that holds the item.
    func vault(at address: String? = nil) -> CredentialVault {
        CredentialVault(
            service: "https://mail.example", group: "org.example.mail", accessibility: .afterFirstUnlock,
            at: .address(address ?? bus.address))
    }

    /// Stores tokens, with an end that many seconds from now, and returns the revision.
    @discardableResult func store(
        _ access: String, _ refresh: String?, endingIn seconds: Int
    ) async throws -> UInt64 {
        let now = EventClock.realtime.now
        let tokens = SessionTokens(
            accessToken: secret(access), refreshToken: refresh.map(secret), stored: now - 600_000_000,
            expires: now &+ UInt64(bitPattern: Int64(seconds) * 1_000_000))
        return try await vault().store(tokens, account: "alice")
    }

    /// What is stored.
    func stored() async throws -> SessionTokens { try await vault().tokens(account: "alice") }

    /// A gate of this process on that broker.
    func gate(
        at address: String? = nil, patience: Duration = .seconds(60),
        clock: @escaping @Sendable () -> UInt64 = { EventClock.realtime.now },
        _ exchange: @escaping RefreshGate.Exchange
    ) -> RefreshGate {
        RefreshGate(
            vault(at: address), account: "alice", patience: patience,
            pauses: [.milliseconds(10), .milliseconds(20)], clock: clock, exchange: exchange)
    }

    /// A process that asks for a token of its gate for each line of its input, and writes what came of it.
    func startClient(_ endpoint: String, environment: [String: String] = [:]) async throws -> ChildProcess {
        try await ChildProcess.start(
            [BrokerStage.build + "TokenClient", bus.address, endpoint], environment: environment,
            errors: .file(stage.folder.entry("client.log")))
    }
}
