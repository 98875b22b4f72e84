import ExampleAuthority
import Foundation
import SDBus
import TestKit
import Testing

/// Eight processes share two rotating tokens, and everything goes wrong that can; the broker's own rooms keep them.
@Suite(.serialized) struct SimulationTests {
    init() { TestLoop.start() }

    @Test func eachExpiryIsRefreshedOnceAndNothingIsLostButToKills() async throws {
        try await holds(
            seed: UInt64(Self.number("CHATELAINE_SIMULATED_SEED") ?? 1), refreshes: Self.refreshes)
    }

    /// As many as fit into a run of all tests; more take a while.
    private static let refreshes = number("CHATELAINE_SIMULATED_REFRESHES") ?? 2_000

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    @Test(arguments: [2, 3, 4] as [UInt64]) func soItIsWithOtherSeeds(_ seed: UInt64) async throws {
        try await holds(seed: seed, refreshes: 500)
    }

    @Test func sameSeedPlaysTheSame() async throws {
        let first = try await played(seed: 7, refreshes: 200)
        let second = try await played(seed: 7, refreshes: 200)
        let other = try await played(seed: 8, refreshes: 200)
        #expect(await first.fingerprint == second.fingerprint)
        #expect(await first.fingerprint != other.fingerprint)
    }

    @Test func programsThatAskWithoutTheBrokerAreNoticed() async throws {
        try await fails { $0.refreshesWithoutLease = true }
    }

    @Test func brokerThatForgetsItsGrantsIsNoticed() async throws {
        try await fails { $0.forgetsGrants = true }
    }

    @Test func brokerThatDoesNotMissDeadHoldersIsNoticed() async throws {
        try await fails { $0.keepsConnections = true }
    }

    @Test func brokerThatRefusesForNoReasonIsNoticed() async throws {
        try await fails { $0.refusesToWait = true }
    }

    @BrokerActor private func holds(seed: UInt64, refreshes: Int) async throws {
        let scene = try await played(seed: seed, refreshes: refreshes)
        let report = scene.report(seed: seed)
        print(report)
        #expect(scene.ledger.problems.isEmpty, "\(report)")
        #expect(scene.ledger.refreshes == refreshes, "\(report)")
        let kills = scene.ledger.losses[.kill, default: []].count
        #expect(scene.network.authority.revokedCount == kills, "\(report)")
    }

    // With a rule broken, the very checks that otherwise hold have something to say.
    @BrokerActor private func fails(_ breaking: (inout Switches) -> Void) async throws {
        var switches = Switches()
        breaking(&switches)
        let scene = try await played(seed: 1, refreshes: 1000, switches)
        #expect(!scene.ledger.problems.isEmpty)
    }

    @BrokerActor private func played(
        seed: UInt64, refreshes: Int, _ switches: Switches = Switches()
    ) async throws -> Scene {
        let scene = try Scene(seed: seed, switches)
        // A task of the loop's alone: whoever passes through the pool comes back when the pool pleases.
        await BrokerActor.start { await scene.play(refreshes: refreshes) }.value
        return scene
    }
}
