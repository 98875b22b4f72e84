import BrokerModel
import Glibc
import Testing

@testable import BrokerPeers

@Suite struct CrowdTests {
    private let program = Crowd.Key(programOf: PeerFacts(userID: 1_000))

    @Test func aFullHouseHasRoomAgainWhenOneLeaves() {
        var crowd = Crowd()
        for number in 0..<Limits.connectionsPerProgramMax {
            #expect(crowd.refusal([.user(1_000), program]) == nil)
            crowd.enter(":1.\(number)", [.user(1_000), program])
        }
        #expect(crowd.refusal([.user(1_000), program])?.kind == .quotaExceeded)
        #expect(crowd.refusal([.user(1_000)]) == nil)
        #expect(crowd.leave(":1.7") == [.user(1_000), program])
        #expect(crowd.leave(":1.7").isEmpty)
        #expect(crowd.refusal([.user(1_000), program]) == nil)
    }

    @Test func aUsersPlacesAreThatUsersAlone() {
        var crowd = Crowd()
        for number in 0..<Limits.connectionsPerUserMax { crowd.enter(":1.\(number)", [.user(1_000)]) }
        #expect(crowd.refusal([.user(1_000)])?.kind == .quotaExceeded)
        #expect(crowd.refusal([.user(1_001)]) == nil)
    }

    @Test func aProgramIsItsSandboxThenItsFile() {
        var plain = PeerFacts(userID: 1_000, processID: 7)
        #expect(Crowd.Key(programOf: plain) == Crowd.Key(programOf: PeerFacts(userID: 1_000, processID: 8)))
        #expect(Crowd.Key(programOf: plain) != Crowd.Key(programOf: PeerFacts(userID: 1_001)))
        plain.executable = PeerFacts.Executable(paths: ["/usr/bin/a"], trust: .file)
        let byFile = Crowd.Key(programOf: plain)
        #expect(byFile != program)
        plain.flatpak = PeerFacts.Flatpak(id: "org.example.A", trust: .file)
        let bySandbox = Crowd.Key(programOf: plain)
        #expect(bySandbox != byFile)
        plain.executable = nil
        #expect(Crowd.Key(programOf: plain) == bySandbox)
        plain.flatpak?.trust = .user
        #expect(Crowd.Key(programOf: plain) != bySandbox)
    }
}

@TestActor @Suite struct CrowdedPeersTests {
    private static let names = (0...Limits.connectionsPerProgramMax).map { ":1.\($0)" }

    @Test func oneTooManyIsTurnedAwayWithoutALookAndLetInLater() async throws {
        let credentials: @Sendable () -> ConnectionCredentials = {
            var own = ConnectionCredentials()
            own.userID = getuid()
            own.processID = UInt32(getpid())
            return own
        }
        let source = FixedSource(Dictionary(uniqueKeysWithValues: Self.names.map { ($0, credentials) }))
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        for name in Self.names.dropLast() { _ = try await peers.identify(name, policyExecutables: []) }
        let last = Self.names[Limits.connectionsPerProgramMax]
        for _ in 0..<3 {
            await #expect(throws: Refusal(.quotaExceeded, "")) {
                try await peers.identify(last, policyExecutables: [])
            }
        }
        #expect(source.asked == Self.names.count)
        peers.forget(":1.0")
        #expect(try await peers.identify(last, policyExecutables: []).connection == last)
        #expect(peers.callers.count == Limits.connectionsPerProgramMax)
        // A process that is asked about is no connection.
        let asked = try await peers.identify(":1.0", policyExecutables: [], takesPlace: false)
        #expect(asked.connection == ":1.0")
    }
}
