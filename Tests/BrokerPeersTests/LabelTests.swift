import BrokerModel
import Testing

@testable import BrokerPeers

@Suite struct LabelTests {
    private static let profiles: [(text: String, name: String?)] = [
        ("mail (enforce)\n", "mail"),
        ("mail (enforce)", "mail"),
        ("mail (kill)\n", "mail"),
        ("/usr/bin/my program (enforce)\n", "/usr/bin/my program"),
        ("a (complain) (enforce)\n", "a (complain)"),
        ("a//&b (enforce)\n", "a//&b"),
        ("mail (complain)\n", nil),
        ("mail (unconfined)\n", nil),
        ("a (enforce)//&b (complain)\n", nil),
        ("mail (mixed)\n", nil),
        ("unconfined\n", nil),
        ("unconfined", nil),
        (" (enforce)\n", nil),
        ("(enforce)\n", nil),
        ("mail(enforce)\n", nil),
        ("ma\0il (enforce)\n", nil),
        ("\n", nil),
        ("", nil),
    ]

    @Test(arguments: profiles.indices) func onlyAProfileThatIsEnforcedIsOne(_ index: Int) {
        let row = Self.profiles[index]
        #expect(AppArmorProfile(text: Array(row.text.utf8))?.name == row.name)
    }

    private struct Row: Sendable, CustomTestStringConvertible {
        let label: String
        let enforcing: Bool?
        let fact: PeerFacts.SecurityLabel?
        var testDescription: String { "\(label.debugDescription), \(String(describing: enforcing))" }

        init(_ label: String, _ enforcing: Bool?, _ text: String?, _ source: PeerFacts.SecurityLabel.Source) {
            self.label = label
            self.enforcing = enforcing
            fact = text.map { .init(text: $0, source: source) }
        }
    }

    private static let domain = "system_u:system_r:mail_t:s0-s0:c0.c1023"

    private static let rows: [Row] = [
        Row(domain, true, domain, .selinux),
        Row(domain, false, domain, .permissiveSELinux),
        // Several NULs, or one inside: the bus room takes one off the end.
        Row(domain + "\0", true, nil, .selinux),
        Row("system_u\0system_r", true, nil, .selinux),
        Row("", true, nil, .selinux),
        Row("mail (enforce)", nil, "mail", .connection),
        Row("mail (complain)", nil, nil, .connection),
        Row("unconfined", nil, nil, .connection),
        Row("System", nil, "System", .connection),
        Row("", nil, nil, .connection),
    ]

    @Test(arguments: rows) private func aConnectionsLabelIsWhatTheModuleMeansByIt(_ row: Row) {
        let found = SecurityLabels.find(
            ofConnection: Array(row.label.utf8), profile: nil, isEnforcing: row.enforcing)
        #expect(found == row.fact)
    }

    @Test func aLabelThatIsNotTextIsNone() {
        #expect(SecurityLabels.find(ofConnection: [0xff, 0x41], profile: nil, isEnforcing: true) == nil)
    }

    @Test func theConnectionsLabelComesBeforeTheProcesss() throws {
        let profile = try #require(AppArmorProfile(text: Array("mail (enforce)\n".utf8)))
        let alone = SecurityLabels.find(ofConnection: nil, profile: profile, isEnforcing: nil)
        #expect(alone == .init(text: "mail", source: .process))
        let both = SecurityLabels.find(
            ofConnection: Array("other (enforce)".utf8), profile: profile, isEnforcing: nil)
        #expect(both == .init(text: "other", source: .connection))
    }

    private static let snaps: [(label: String, unit: String, name: String?)] = [
        ("snap.hello.hello (enforce)", "snap.hello.hello.5bd3.scope", "hello"),
        ("snap.hello.hello (enforce)", "snap.hello.hello-5bd3.scope", "hello"),
        ("snap.hello_key.app (enforce)", "snap.hello_key.app.service", "hello_key"),
        ("snap.hello.hook.configure (enforce)", "snap.hello.hook.configure-1.scope", "hello"),
        // A unit alone, or a label alone.
        ("unconfined", "snap.hello.hello.1.scope", nil),
        ("snap.hello.hello (complain)", "snap.hello.hello.1.scope", nil),
        ("snap.hello.hello (enforce)", "other.scope", nil),
        ("snap.hello.hello (enforce)", "snap.hello.hello2.scope", nil),
        ("snap.hello.hello (enforce)", "snap.hello.other.1.scope", nil),
        ("snap.hello.hello (enforce)", "snap.hello.hello.mount", nil),
        ("snap.hello (enforce)", "snap.hello.scope", nil),
        ("snap..hello (enforce)", "snap..hello.scope", nil),
        ("snap.Hello.hello (enforce)", "snap.Hello.hello.scope", nil),
        ("snap.a/b.hello (enforce)", "snap.a/b.hello.scope", nil),
        ("snap._key.hello (enforce)", "snap._key.hello.scope", nil),
        ("snap.hello. (enforce)", "snap.hello..scope", nil),
        ("nap.hello.hello (enforce)", "nap.hello.hello.scope", nil),
    ]

    @Test(arguments: snaps) func aSnapIsWhatLabelAndUnitAgreeOn(
        _ row: (label: String, unit: String, name: String?)
    ) {
        let profile = AppArmorProfile(text: Array(row.label.utf8))
        #expect(SnapProof.find(profile: profile, group: .systemUnit(row.unit)) == row.name)
        #expect(SnapProof.find(profile: profile, group: .userUnit(row.unit, userID: 1)) == row.name)
        #expect(SnapProof.find(profile: profile, group: nil) == nil)
    }
}

@TestActor @Suite struct ReadLabelTests {
    private nonisolated static let selinuxRuns = (try? SecurityLabels.selinuxIsEnforcing()) != .some(nil)

    /// What the bus fixed at connect stands whatever became of the process's namespaces.
    @Test(.enabled(if: !selinuxRuns, "needs a machine without SELinux: the label is one of AppArmor's"))
    func theBussLabelIsAFactWhereTheProcessCannotBeReadAbout() async throws {
        let blind = ReferenceNamespaces(mount: [], user: [])
        let label = Array("mail (enforce)".utf8)
        let facts = try await facts(
            of: Child([theCat]), Meeting(pin: .lateAndOlderThanTheProcess, label: label, reference: blind))
        #expect(facts.inReferenceNamespaces == nil)
        #expect(facts.securityLabel == .init(text: "mail", source: .connection))
        #expect(facts.pin == .unproven)
    }

    @Test func whatTheKernelSaysOfThisProcessIsTaken() throws {
        let own = try ProcessFolder(path: "/proc/self")
        let text = try? own.appArmorText()
        // Without AppArmor there is no such file, or it cannot be read.
        #expect(try AppArmorProfile.of(own) == text.flatMap { AppArmorProfile(text: $0) })
    }
}
