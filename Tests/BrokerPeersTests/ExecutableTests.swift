import BrokerModel
import Foundation
import Testing

@testable import BrokerPeers

@TestActor @Suite struct ExecutableTests {
    @Test func aProgramOfRootsIsKnownByItsFileAtFileTrust() async throws {
        let child = try Child([theCat])
        let facts = try await facts(of: child)
        #expect(facts.executable == .init(paths: [theCat], trust: .file))
        #expect(facts.inReferenceNamespaces == true)
        #expect(facts.processID == child.processID)
        #expect(facts.userID == geteuid())
    }

    @Test(.enabled(if: theCat == "/usr/bin/cat", "needs /bin to be a link to /usr/bin"))
    func aPathOfThePolicyThatLeadsToTheSameFileOverRootsLinksIsListedToo() async throws {
        let facts = try await facts(of: Child([theCat]), Meeting(policy: ["/bin/cat", "/usr/bin/env"]))
        #expect(facts.executable == .init(paths: [theCat, "/bin/cat"], trust: .file))
    }

    @Test func aCopyIsAnotherProgramThanItsOriginal() async throws {
        let scratch = try Scratch()
        let copy = try scratch.copyOfCat()
        let facts = try await facts(of: Child([copy]), Meeting(policy: [theCat]))
        #expect(facts.executable == .init(paths: [copy], trust: .user))
    }

    @Test func aLinkInAFolderOfTheUsersDoesNotLendItsPathToAProgramOfRoots() async throws {
        let scratch = try Scratch()
        let path = try scratch.link("mine", to: theCat)
        let facts = try await facts(of: Child([theCat]), Meeting(policy: [path]))
        #expect(facts.executable == .init(paths: [theCat], trust: .file))
    }

    @Test func aLinkThatItsUserCouldTurnNamesAProgramAtUserTrustOnly() async throws {
        let scratch = try Scratch()
        let copy = try scratch.copyOfCat()
        let path = try scratch.link("alias", to: copy)
        let facts = try await facts(of: Child([copy]), Meeting(policy: [path]))
        #expect(facts.executable == .init(paths: [copy, path], trust: .user))
    }

    @Test func aNameThatEndsLikeADeletedOneIsANameLikeAnyOther() async throws {
        let scratch = try Scratch()
        let copy = try scratch.copyOfCat("program (deleted)")
        let facts = try await facts(of: Child([copy]))
        #expect(facts.executable == .init(paths: [copy], trust: .user))
    }

    @Test func aDeletedProgramIsNotTakenForTheFileThatHasTheTextOfItsLink() async throws {
        let scratch = try Scratch()
        let copy = try scratch.copyOfCat()
        let child = try Child([copy])
        try FileManager.default.removeItem(atPath: copy)
        let decoy = try scratch.copyOfCat("program (deleted)")
        let facts = try await facts(of: child, Meeting(policy: [copy, decoy]))
        #expect(facts.executable == nil)
        #expect(facts.inReferenceNamespaces == true)
    }

    @Test func aReplacedProgramKeepsItsConnectionsIdentityAndANewConnectionOfItHasNone() async throws {
        let scratch = try Scratch()
        let program = try scratch.copyOfCat()
        let child = try Child([program])
        let number = child.processID
        let credentials: @Sendable () -> ConnectionCredentials = { .of(number, pidfd: true) }
        let peers = Peers(
            source: FixedSource([":1.1": credentials, ":1.2": credentials]), reader: ThreadReader(),
            reference: try .current())
        let before = try await peers.identify(":1.1", policyExecutables: [program])
        try scratch.replace(program)
        let kept = try await peers.identify(":1.1", policyExecutables: [program])
        #expect(kept.facts == before.facts)
        #expect(kept.facts.executable == .init(paths: [program], trust: .user))
        // At `user` trust anybody could have put the file there, so nothing is remembered of it.
        let new = try await peers.identify(":1.2", policyExecutables: [program])
        #expect(new.facts.executable == nil)
    }

    @Test func anExecAfterTheFirstCallChangesNothing() async throws {
        let script = "read line; echo \"$line\"; read line; exec \(theCat)"
        let child = try Child(["/bin/sh", "-c", script])
        let number = child.processID
        let peers = Peers(
            source: FixedSource([":1.1": { .of(number, pidfd: true) }]), reader: ThreadReader(),
            reference: try .current())
        let before = try await peers.identify(":1.1", policyExecutables: [theCat])
        try child.say("go\n")
        try child.echo()
        let after = try await peers.identify(":1.1", policyExecutables: [theCat])
        #expect(after.facts == before.facts)
        #expect(after.facts.executable?.paths.contains(theCat) == false)
        #expect(try await facts(of: child).executable?.paths == [theCat])
    }
}
