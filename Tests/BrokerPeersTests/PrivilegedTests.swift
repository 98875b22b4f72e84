import BrokerModel
import Foundation
import Testing

@testable import BrokerPeers

/// What takes root to set up: other users' processes, folders that only root can write, mounts.
@TestActor @Suite(.enabled(if: isRoot, "needs root: starts processes of another user, mounts, owns folders"))
struct PrivilegedTests {
    private let blind = ThreadReader { OwnThread.becomeNobody() }
    private let perl = "/usr/bin/perl"

    @Test func anotherUsersProgramOfRootsIsFileTrustToABrokerOfRoots() async throws {
        let facts = try await facts(of: Child(asNobody + [theCat]), Meeting(userID: nobody))
        #expect(facts.executable == .init(paths: [theCat], trust: .file))
    }

    /// The same program twice, so that nothing but the flag can make the difference.
    @Test func aProgramThatIsNotDumpableKeepsWhatTheKernelFixedAndNothingElse() async throws {
        let echo = "$| = 1; print while <STDIN>;"
        let setDumpable = "syscall(\(OwnThread.prctl), 4, 0) == 0 or die;"
        let meeting = Meeting(userID: nobody, groupIDs: [nobody], reader: blind)
        let open = try await facts(of: Child(asNobody + [perl, "-e", echo]), meeting)
        #expect(open.executable == .init(paths: [perl], trust: .file))
        let closed = try await facts(of: Child(asNobody + [perl, "-e", setDumpable + echo]), meeting)
        #expect(closed.executable == nil)
        #expect(closed.inReferenceNamespaces == nil)
        #expect(closed.userID == nobody)
        #expect(closed.groups == open.groups)
    }

    @Test(arguments: [Meeting.Pin.byTheBus, .late])
    func aHiddenProcessKeepsWhatTheKernelFixedAndNothingElse(_ pin: Meeting.Pin) async throws {
        let child = try Child([theCat])
        let reader = ThreadReader {
            OwnThread.leaveMounts()
            OwnThread.mountProcess(options: "hidepid=2")
            OwnThread.becomeNobody()
        }
        let facts = try await facts(of: child, Meeting(pin: pin, userID: 0, groupIDs: [0], reader: reader))
        #expect(facts.userID == 0)
        #expect(facts.groups.map(\.name) == ["root"])
        #expect(facts.executable == nil)
        #expect(facts.inReferenceNamespaces == nil)
    }

    @Test func theGroupOfASetGroupIDProgramStandsWhereItsProcessCannotBeRead() async throws {
        let scratch = try Scratch()
        let games: UInt32 = 60
        let program = try scratch.copyOfCat()
        try setOwner(0, group: games, of: program)
        try setPermissions(0o2755, of: program)
        let meeting = Meeting(userID: nobody, groupIDs: [games, nobody], policy: [program], reader: blind)
        let facts = try await facts(of: Child(asNobody + [program]), meeting)
        #expect(facts.executable == nil)
        #expect(facts.groups.map(\.userIsMember) == [false, true])
    }

    @Test func anOldImageIsRememberedByAnUpgradedFileAtFileTrust() async throws {
        let scratch = try Scratch(trusted: true)
        let program = try scratch.copyOfCat()
        let child = try Child([program])
        let number = child.processID
        let credentials: @Sendable () -> ConnectionCredentials = { .of(number, pidfd: true) }
        let source = FixedSource([":1.1": credentials, ":1.2": credentials])
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        let before = try await peers.identify(":1.1", policyExecutables: [])
        #expect(before.facts.executable == .init(paths: [program], trust: .file))
        try scratch.replace(program)
        #expect(try await peers.identify(":1.2", policyExecutables: []).facts == before.facts)
        // A broker that never saw the old image at work knows nothing of it.
        #expect(try await facts(of: child, Meeting(policy: [program])).executable == nil)
        let new = try await facts(of: Child([program]))
        #expect(new.executable == .init(paths: [program], trust: .file))
    }

    @Test func aReplacedProgramThatOthersMayWriteByNowIsNotRemembered() async throws {
        let scratch = try Scratch(trusted: true)
        let program = try scratch.copyOfCat()
        let child = try Child([program])
        let number = child.processID
        let credentials: @Sendable () -> ConnectionCredentials = { .of(number, pidfd: true) }
        let source = FixedSource([":1.1": credentials, ":1.2": credentials])
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        _ = try await peers.identify(":1.1", policyExecutables: [])
        try setPermissions(0o777, of: program)
        try scratch.replace(program)
        #expect(try await peers.identify(":1.2", policyExecutables: []).facts.executable == nil)
    }

    @Test func aMovedProgramGoesByItsNewNameAlone() async throws {
        let scratch = try Scratch(trusted: true)
        let program = try scratch.copyOfCat()
        let child = try Child([program])
        let number = child.processID
        let credentials: @Sendable () -> ConnectionCredentials = { .of(number, pidfd: true) }
        let source = FixedSource([":1.1": credentials, ":1.2": credentials])
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        _ = try await peers.identify(":1.1", policyExecutables: [program])
        try FileManager.default.moveItem(atPath: program, toPath: program + "-moved")
        let moved = try await peers.identify(":1.2", policyExecutables: [program])
        #expect(moved.facts.executable == .init(paths: [program + "-moved"], trust: .file))
    }

    @Test func aProgramThatWasMovedToWhereOthersMayWriteIsNotKnownByItsOldName() async throws {
        let scratch = try Scratch(trusted: true)
        let program = try scratch.copyOfCat()
        let child = try Child([program])
        let number = child.processID
        let credentials: @Sendable () -> ConnectionCredentials = { .of(number, pidfd: true) }
        let source = FixedSource([":1.1": credentials, ":1.2": credentials])
        let peers = Peers(source: source, reader: ThreadReader(), reference: try .current())
        _ = try await peers.identify(":1.1", policyExecutables: [program])
        let folder = "\(scratch.path)/open"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try setPermissions(0o777, of: folder)
        try FileManager.default.moveItem(atPath: program, toPath: "\(folder)/program")
        let moved = try await peers.identify(":1.2", policyExecutables: [program])
        #expect(moved.facts.executable == .init(paths: ["\(folder)/program"], trust: .user))
    }
}
