import BrokerModel
import Glibc
import Testing

@testable import BrokerPeers

/// In namespaces of its own a process mounts what it likes, so that the kernel gives its program the path of
/// a trusted one.
@TestActor @Suite struct NamespaceTests {
    nonisolated static let canUnshare =
        (try? Child.run(["/usr/bin/unshare", "-Urm", "/bin/true"])) ?? false

    @Test(.enabled(if: canUnshare, "needs user namespaces"), arguments: [Meeting.Pin.byTheBus, .late])
    func aProgramMountedOverATrustedPathHasNoFileEvidence(_ pin: Meeting.Pin) async throws {
        let scratch = try Scratch()
        let copy = try scratch.copyOfCat()
        let script = "mount --bind \(copy) \(theCat) && exec \(theCat)"
        let child = try Child(["/usr/bin/unshare", "-Urm", "/bin/sh", "-c", script])
        let facts = try await facts(of: child, Meeting(pin: pin, policy: [theCat, copy]))
        #expect(facts.inReferenceNamespaces == false)
        #expect(facts.executable == nil)
        #expect(facts.userID == geteuid())
    }

    @Test(.enabled(if: canUnshare, "needs user namespaces"))
    func aTrustedProgramInAUserNamespaceOfItsOwnHasNoFileEvidence() async throws {
        let child = try Child(["/usr/bin/unshare", "-Ur", theCat])
        let facts = try await facts(of: child, Meeting(policy: [theCat]))
        #expect(facts.inReferenceNamespaces == false)
        #expect(facts.executable == nil)
    }

    @Test(.enabled(if: isRoot, "needs root: makes a mount namespace without a user namespace"))
    func aTrustedProgramInAMountNamespaceOfItsOwnHasNoFileEvidence() async throws {
        let child = try Child(["/usr/bin/unshare", "-m", theCat])
        let facts = try await facts(of: child, Meeting(policy: [theCat]))
        #expect(facts.inReferenceNamespaces == false)
        #expect(facts.executable == nil)
    }

    @Test func theBrokersOwnNamespacesAreReferenceOnes() throws {
        let own = try Namespaces(of: ProcessFolder(path: "/proc/self"))
        #expect(try ReferenceNamespaces.current().contain(own, of: 0) == true)
    }

    @Test func bothNamespacesMustBeReferenceOnes() throws {
        let own = try Namespaces(of: ProcessFolder(path: "/proc/self"))
        let other = FileID(device: own.mount.device, inode: 1)
        #expect(try ReferenceNamespaces(mount: [own.mount], user: [own.user]).contain(own, of: 0) == true)
        #expect(try ReferenceNamespaces(mount: [own.mount], user: [other]).contain(own, of: 0) == false)
        #expect(try ReferenceNamespaces(mount: [other], user: [own.user]).contain(own, of: 0) == false)
    }

    @Test func withoutAReferenceNothingIsKnownOfAnybodysNamespaces() async throws {
        let blind = ReferenceNamespaces(mount: [], user: [])
        let facts = try await facts(of: Child([theCat]), Meeting(policy: [theCat], reference: blind))
        #expect(facts.inReferenceNamespaces == nil)
        #expect(facts.executable == nil)
        #expect(facts.userID == geteuid())
        #expect(try #require(blind.trouble).contains("CAP_SYS_PTRACE"))
        #expect(try ReferenceNamespaces.current().trouble == nil)
    }
}
