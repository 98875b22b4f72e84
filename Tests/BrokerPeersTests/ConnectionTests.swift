import BrokerModel
import Glibc
import Testing

@testable import BrokerPeers

@TestActor @Suite struct ConnectionTests {
    private nonisolated static func own() -> ConnectionCredentials {
        .of(UInt32(getpid()), pidfd: true)
    }

    private func peers(_ source: FixedSource, _ reader: any DeadlineReader = ThreadReader()) throws -> Peers {
        Peers(source: source, reader: reader, reference: try .current())
    }

    @Test func aConnectionIsUnknownUntilItsFirstCallAndAskedAboutOnce() async throws {
        let source = FixedSource([":1.1": Self.own])
        let peers = try peers(source)
        #expect(peers.known(":1.1") == nil)
        let caller = try await peers.identify(":1.1", policyExecutables: [])
        #expect(peers.known(":1.1")?.facts == caller.facts)
        #expect(peers.callers == [caller])
        #expect(try caller.facts.startTicks == ProcessFolder(path: "/proc/self").startTicks())
        _ = try await peers.identify(":1.1", policyExecutables: [])
        #expect(source.asked == 1)
    }

    @Test func callsOfOneConnectionShareALookUp() async throws {
        let gate = Gate()
        let source = FixedSource([":1.1": Self.own], gate: gate)
        let peers = try peers(source)
        var begun = 0
        let calls = (0..<5).map { _ in
            Task { @TestActor in
                begun += 1
                return try await peers.identify(":1.1", policyExecutables: [])
            }
        }
        while begun < 5 { await Task.yield() }
        await gate.open()
        for call in calls {
            #expect(try await call.value.facts.userID == geteuid())
        }
        #expect(source.asked == 1)
    }

    @Test func callsOfOneConnectionShareARefusalAndTheNextOneLooksAnew() async throws {
        let gate = Gate()
        let source = FixedSource([:], gate: gate)
        let peers = try peers(source)
        var begun = 0
        let calls = (0..<3).map { _ in
            Task { @TestActor in
                begun += 1
                return try await peers.identify(":1.1", policyExecutables: [])
            }
        }
        while begun < 3 { await Task.yield() }
        await gate.open()
        for call in calls {
            await #expect(throws: identityUnavailable) { try await call.value }
        }
        #expect(source.asked == 1)
        await #expect(throws: identityUnavailable) {
            try await peers.identify(":1.1", policyExecutables: [])
        }
        #expect(source.asked == 2)
    }

    @Test func aConnectionThatGoesWhileItIsLookedUpIsNobodyAndNotKept() async throws {
        let gate = Gate()
        let peers = try peers(FixedSource([":1.1": Self.own], gate: gate))
        var begun = 0
        let calls = (0..<2).map { _ in
            Task { @TestActor in
                begun += 1
                return try await peers.identify(":1.1", policyExecutables: [])
            }
        }
        while begun < 2 { await Task.yield() }
        peers.forget(":1.1")
        await gate.open()
        for call in calls {
            await #expect(throws: identityUnavailable) { try await call.value }
        }
        #expect(peers.callers.isEmpty)
    }

    @Test func aConnectionThatWentIsForgotten() async throws {
        let peers = try peers(FixedSource([":1.1": Self.own, ":1.2": Self.own]))
        _ = try await peers.identify(":1.1", policyExecutables: [])
        let other = try await peers.identify(":1.2", policyExecutables: [])
        #expect(peers.known(":1.1") != other)
        peers.forget(":1.1")
        #expect(peers.known(":1.1") == nil)
        #expect(peers.callers == [other])
    }

    @Test func aReadingThatComesTooLateIsNobodyAndChangesNothing() async throws {
        let reader = LateReader(release: Gate(), done: Gate())
        let peers = try peers(FixedSource([":1.1": Self.own]), reader)
        await #expect(throws: identityUnavailable) {
            try await peers.identify(":1.1", policyExecutables: [])
        }
        await reader.release.open()
        await reader.done.wait()
        #expect(peers.known(":1.1") == nil)
    }

    @Test func whatTheBusFixedAtConnectStandsWhereItNamesNoProcess() async throws {
        let source = FixedSource([
            ":1.1": { .of(nil, userID: 4242, groupIDs: [0]) },
            ":1.2": { .of(0, userID: 4242) },
        ])
        let peers = try peers(source)
        for connection in [":1.1", ":1.2"] {
            let facts = try await peers.identify(connection, policyExecutables: [theCat]).facts
            #expect(facts.userID == 4242)
            #expect(facts.executable == nil)
            #expect(facts.inReferenceNamespaces == nil)
        }
        #expect(peers.known(":1.1")?.facts.groups.map(\.id) == [0])
    }

    @Test func aConnectionWithoutAUserIsNobody() async throws {
        let peers = try peers(FixedSource([":1.1": { .of(UInt32(getpid()), userID: nil) }]))
        await #expect(throws: identityUnavailable) {
            try await peers.identify(":1.1", policyExecutables: [])
        }
    }

    @Test func everyDoubtIsTheSameRefusalWithASentenceOfItsOwn() {
        #expect(Doubt.allCases.allSatisfy { $0.refusal == identityUnavailable })
        #expect(Set(Doubt.allCases.map(\.refusal.text)).count == Doubt.allCases.count)
    }

    @Test func appearancesAreBoundedAndOnePastTheBoundIsAsOldAsTheBroker() async throws {
        let number = try Child([theCat])
        let last = ":1.\(Peers.appearancesMax)"
        let processID = number.processID
        let peers = try peers(FixedSource([":1.0": { .of(processID) }, last: { .of(processID) }]))
        let now = bootTimeMicroseconds()
        for index in 0...Peers.appearancesMax { peers.noteAppeared(":1.\(index)", bootTimeMicroseconds: now) }
        let first = try await peers.identify(":1.0", policyExecutables: [])
        #expect(first.facts.executable?.trust == .file)
        #expect(try await peers.identify(last, policyExecutables: []).facts.executable?.trust == .user)
    }
}
