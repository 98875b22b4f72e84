import BrokerModel
import BrokerPolicy
import Testing

/// What the vectors cannot write down.
struct IdentityTests {
    @Test func theEmptyPolicyGrantsNothing() throws {
        let entitlements = Policy.empty.entitlements(of: try PeerFacts(vector: "exe=/usr/bin/busctl@file"))
        #expect(entitlements.groups.map(\.name) == ["exe./usr/bin/busctl"])
        #expect(entitlements.application == nil && !entitlements.isManager)
        #expect(Policy.empty.executables == [] && Policy.empty.carriers == [])
    }

    @Test func anUnknownUserIDHasNoGroupAndNoPower() {
        let entitlements = Policy.empty.entitlements(of: PeerFacts(userID: 0))
        #expect(entitlements == Entitlements(isSandboxed: true))
    }

    /// Two spellings of one letter are the same text to Swift and two files to the kernel.
    @Test func namesAreComparedByTheirBytes() throws {
        let file = PolicyFile("[Application a]\nExecutable=/usr/bin/caf\u{e9}\nAccessGroups=g")
        let (policy, _) = try Policy.load([file], environment: .fixture(isSystem: false))
        #expect(
            policy.entitlements(of: try PeerFacts(vector: "exe=/usr/bin/caf\u{e9}@file")).application == "a")
        let other = try PeerFacts(vector: "exe=/usr/bin/cafe\u{301}@file")
        #expect(policy.entitlements(of: other).application == nil)
    }

    @Test func aLabelOrAPathMayHoldSpaces() throws {
        let text =
            "[Application a]\nSecurityLabel=my profile (enforce)\nExecutable=/opt/My App/run\nAccessGroups=g"
        let (policy, _) = try Policy.load([PolicyFile(text)], environment: .fixture(isSystem: false))
        var facts = PeerFacts(userID: 1000)
        facts.inReferenceNamespaces = true
        facts.pin = .late
        facts.securityLabel = .init(text: "my profile", source: .process)
        facts.executable = .init(paths: ["/opt/My App/run"], trust: .file)
        // A group's name has no space, so this program has no private group.
        #expect(policy.entitlements(of: facts).groups.map(\.name) == ["g", "app.a"])
    }

    @Test func anExecutableIsNeverWorthMoreThanFileTrust() throws {
        let entitlements = Policy.empty.entitlements(of: try PeerFacts(vector: "exe=/usr/bin/a@kernel"))
        #expect(entitlements.trust == .file)
    }

    @Test func aPathThatIsToldTwiceMakesOneGroup() throws {
        let entitlements = Policy.empty.entitlements(
            of: try PeerFacts(vector: "exe=/usr/bin/a,/usr/bin/a@file"))
        #expect(entitlements.groups.map(\.name) == ["exe./usr/bin/a"])
    }

    @Test func executablesAreEachListedOnceAndWithoutCarriers() throws {
        let text = """
            [Application a]
            Executable=/usr/bin/a
            Executable=/usr/bin/b
            AccessGroups=g
            [Application b]
            Executable=/usr/bin/b
            Flatpak=x
            AccessGroups=g
            [Manager]
            Executable=/usr/bin/m
            [Carriers]
            Executable=/usr/bin/c*
            """
        let (policy, _) = try Policy.load([PolicyFile(text)], environment: .fixture(isSystem: false))
        #expect(policy.executables == ["/usr/bin/a", "/usr/bin/b", "/usr/bin/m"])
        #expect(policy.carriers == ["/usr/bin/c*"])
    }

    @Test func aSummaryTellsWhatIsGranted() throws {
        let text = """
            [Application a]
            Executable=/usr/bin/a
            User=alice
            AccessGroups=h g
            Operations=read
            [AccessGroup g]
            MaxItems=3
            """
        let (policy, _) = try Policy.load([PolicyFile(text)], environment: .fixture(isSystem: false))
        let application = try #require(policy.summary.applications.first)
        #expect(
            application.id == "a" && application.source == "policy.conf:1" && application.bestTrust == .file)
        #expect(application.matches.map(\.key) == ["Executable", "User"])
        #expect(application.matches.map(\.values) == [["/usr/bin/a"], ["alice"]])
        #expect(application.groups.map(\.name) == ["h", "g"])
        #expect(application.operations == [.read] && application.role == .full)
        #expect(policy.summary.groups.map(\.group.name) == ["g", "h"])
        #expect(policy.summary.groups.map(\.source) == ["policy.conf:6", nil])
        #expect(policy.summary.groups[0].rules.maxItems == 3)
        #expect(policy.summary.groups.allSatisfy { $0.applications == ["a"] })
    }
}
