import BrokerModel
import Glibc
import Synchronization
import Testing

@testable import BrokerPeers

@TestActor @Suite struct PinTests {
    /// A caller that sends and is gone at once was taken for root by others, whose look-up had failed and
    /// whose error was ignored.
    @Test func aProcessThatIsGoneBeforeTheLookUpIsNobodyEveryTime() async throws {
        let dead = FixedSource([":1.1": { .of(try? Child.ended(), userID: 0, groupIDs: [0]) }])
        let peers = Peers(source: dead, reader: ThreadReader(), reference: try .current())
        for _ in 0..<300 {
            await #expect(throws: identityUnavailable) {
                try await peers.identify(":1.1", policyExecutables: [])
            }
        }
        #expect(peers.known(":1.1") == nil)
        #expect(peers.callers.isEmpty)
    }

    @Test func aProcessThatIsGoneBehindItsPidfdIsNobody() async throws {
        let child = try Child([theCat])
        let credentials = ConnectionCredentials.of(child.processID, pidfd: true)
        child.end()
        let peers = Peers(
            source: FixedSource([":1.1": { credentials }]), reader: ThreadReader(), reference: try .current())
        await #expect(throws: identityUnavailable) {
            try await peers.identify(":1.1", policyExecutables: [])
        }
    }

    @Test func aProcessThatHasEndedIsNoticedWhilePinned() throws {
        let child = try Child([theCat])
        let pin = try #require(try ProcessPin.take(descriptor: nil, processID: child.processID))
        try pin.check()
        child.end()
        #expect(throws: Doubt.ended) { try pin.check() }
    }

    @Test func thePidfdSaysWhichProcessItIsAndTheNumberBesideItDoesNot() async throws {
        let child = try Child([theCat])
        let number = child.processID
        let source = FixedSource([
            ":1.1": {
                var credentials = ConnectionCredentials.of(number, pidfd: true)
                credentials.processID = 1
                return credentials
            }
        ])
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        let facts = try await peers.identify(":1.1", policyExecutables: []).facts
        #expect(facts.processID == number)
        #expect(facts.executable?.paths == [theCat])
    }

    @Test func aPidfdOfTheBusNeedsNoAges() async throws {
        let child = try Child([theCat])
        let number = child.processID
        let source = FixedSource([":1.1": { .of(number, pidfd: true) }])
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        peers.noteAppeared(":1.1", bootTimeMicroseconds: 1)
        let facts = try await peers.identify(":1.1", policyExecutables: []).facts
        #expect(facts.executable == .init(paths: [theCat], trust: .file))
        #expect(facts.pin == .atConnect)
    }

    @Test func aLatePinCountsWhereTheProcessIsOlderThanItsConnection() async throws {
        let facts = try await facts(of: Child([theCat]), Meeting(pin: .late))
        #expect(facts.executable == .init(paths: [theCat], trust: .file))
        #expect(facts.pin == .late)
    }

    @Test func aLatePinOfAProcessYoungerThanTheConnectionSaysNothing() async throws {
        let meeting = Meeting(pin: .lateAndOlderThanTheProcess, groupIDs: [getegid()])
        let facts = try await facts(of: Child([theCat]), meeting)
        #expect(facts.executable == nil)
        #expect(facts.inReferenceNamespaces == nil)
        #expect(facts.userID == geteuid())
        #expect(facts.groups.map(\.id) == [getegid()])
    }

    @Test func aLatePinOnAConnectionOlderThanTheBrokerIsUserTrust() async throws {
        let facts = try await facts(of: Child([theCat]), Meeting(pin: .lateAndOlderThanTheBroker))
        #expect(facts.executable == .init(paths: [theCat], trust: .user))
        #expect(facts.inReferenceNamespaces == true)
        #expect(facts.pin == .unproven)
    }

    @Test(arguments: [Meeting.Pin.late, .byTheBus])
    func aProcessOfAnotherUserThanTheConnectionsSaysNothing(_ pin: Meeting.Pin) async throws {
        let facts = try await facts(of: Child([theCat]), Meeting(pin: pin, userID: 4242))
        #expect(facts.userID == 4242)
        #expect(facts.executable == nil)
        #expect(facts.inReferenceNamespaces == nil)
    }

    @Test func whatIsNoPidfdIsRefusedAndClosed() async throws {
        let pipe = try Pipe()
        let source = FixedSource([":1.1": { pipe.credentials }])
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        await #expect(throws: identityUnavailable) {
            try await peers.identify(":1.1", policyExecutables: [])
        }
        #expect(pipe.isClosedByTheReceiver)
    }

    @Test func theDescriptorIsClosedWhenTheLookUpIsRefused() async throws {
        let pipe = try Pipe()
        let reader = RefusingReader()
        let peers = Peers(
            source: FixedSource([":1.1": { pipe.credentials }]), reader: reader, reference: try .current())
        await #expect(throws: identityUnavailable) {
            try await peers.identify(":1.1", policyExecutables: [])
        }
        #expect(pipe.isClosedByTheReceiver)
        let asked = reader.asked.withLock { $0 }
        #expect(asked?.key == geteuid())
        #expect(asked?.deadlineMicroseconds == Limits.peerLookupMicroseconds)
    }

    @Test func theDescriptorIsClosedWhenTheBusNamesNoUser() async throws {
        let pipe = try Pipe()
        let source = FixedSource([
            ":1.1": {
                var credentials = pipe.credentials
                credentials.userID = nil
                return credentials
            }
        ])
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        await #expect(throws: identityUnavailable) {
            try await peers.identify(":1.1", policyExecutables: [])
        }
        #expect(pipe.isClosedByTheReceiver)
    }
}

/// Its writing end stands in for a pidfd: when that is closed, the reading end is at its end.
private struct Pipe {
    private let reading: Int32
    let credentials: ConnectionCredentials

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Child.Failure(step: "pipe", code: errno) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        reading = ends[0]
        var credentials = ConnectionCredentials.of(UInt32(getpid()))
        credentials.processFD = ends[1]
        self.credentials = credentials
    }

    var isClosedByTheReceiver: Bool {
        var byte: UInt8 = 0
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
        return unsafe read(reading, &byte, 1) == 0
    }
}
