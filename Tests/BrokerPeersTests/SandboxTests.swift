import BrokerModel
import Foundation
import Glibc
import Testing

@testable import BrokerPeers

/// Puts a program into a root of its own that has nothing but the system's programs and a record of Flatpak's.
private func script(root: String, info: String) -> String {
    """
    mkdir \(root) && mount -t tmpfs none \(root) && cd \(root) && mkdir usr && mount --rbind /usr usr &&
    for link in bin lib lib64; do ln -s usr/$link $link; done && cp \(info) .flatpak-info &&
    exec chroot . \(theCat)
    """
}

/// The forger's way: a root of one's own with a record in it, around a program that calls.
@TestActor @Suite struct ForgedSandboxTests {
    @Test(.enabled(if: NamespaceTests.canUnshare, "needs user namespaces"))
    func aRecordInARootOfOnesOwnIsNoEvidenceAndNoSandbox() async throws {
        let scratch = try Scratch()
        let root = "\(scratch.path)/root"
        let info = "\(scratch.path)/info"
        try Sandbox.info(application: "org.example.Mail").write(
            toFile: info, atomically: true, encoding: .utf8)
        let child = try Child(
            ["/usr/bin/unshare", "-Urm", "/bin/sh", "-c", script(root: root, info: info)])
        // It is there to be read, so that only what stands around it refuses it.
        let seen = try ProcessFolder(processID: child.processID).root()
        #expect(throws: Never.self) { try Kernel.regularFile(".flatpak-info", in: seen, limit: 4096) }
        let facts = try await facts(of: child, Meeting(policy: [theCat]))
        #expect(facts.flatpak == nil)
        #expect(facts.inReferenceNamespaces == false)
        #expect(facts.executable == nil)
    }
}

extension RealGroupTests {
    /// The same with all that Flatpak adds around it: a process in a root and a scope of its own, and a record
    /// outside that names it.
    @TestActor
    @Suite(.serialized, .enabled(if: isRoot && Group.canBeMade, "needs root and a control group to write to"))
    struct WholeSandboxTests {
        private func facts(_ pin: Meeting.Pin, changing: (Sandbox) throws -> Void = { _ in }) async throws
            -> PeerFacts
        {
            let sandbox = try Sandbox()
            let group = try Group(Sandbox.scope())
            let arguments = script(root: "\(sandbox.path)/mounted", info: "\(sandbox.path)/app/.flatpak-info")
            let child = try Child(["/usr/bin/unshare", "-m", "/bin/sh", "-c", arguments])
            try group.take(child)
            try sandbox.write("\(child.processID)", to: "\(Sandbox.outer)/pid")
            try changing(sandbox)
            let own = try Namespaces(of: ProcessFolder(path: "/proc/self"))
            let reference = ReferenceNamespaces(
                mount: [own.mount], user: [own.user],
                root: try Kernel.open(sandbox.path, in: nil, O_DIRECTORY | pathOnly))
            let found = try await BrokerPeersTests.facts(
                of: child, Meeting(pin: pin, policy: [theCat], reference: reference))
            child.end()
            withExtendedLifetime(group) {}
            return found
        }

        @Test(arguments: [
            (Meeting.Pin.byTheBus, Trust.file), (.late, .file), (.lateAndOlderThanTheBroker, .user),
        ])
        func anInstanceIsWorthWhatItsPinIs(_ pin: Meeting.Pin, _ trust: Trust) async throws {
            let facts = try await facts(pin)
            #expect(facts.flatpak == .init(id: "org.example.App", trust: trust))
            #expect(facts.unit == .init(name: Sandbox.unit, isSystem: false))
            #expect(facts.inReferenceNamespaces == false)
            #expect(facts.executable == nil)
        }

        @Test func aNumberThatIsALaterProcesssIsNoInstance() async throws {
            let facts = try await facts(.lateAndOlderThanTheProcess)
            #expect(facts.flatpak == nil)
            #expect(facts.unit == nil)
            #expect(facts.inReferenceNamespaces == nil)
        }

        @Test func oneWhoseRecordNamesAnotherProcessIsNoInstance() async throws {
            let facts = try await facts(.byTheBus) { try $0.write("\(getpid())", to: "\(Sandbox.outer)/pid") }
            #expect(facts.flatpak == nil)
            #expect(facts.inReferenceNamespaces == false)
        }
    }
}
