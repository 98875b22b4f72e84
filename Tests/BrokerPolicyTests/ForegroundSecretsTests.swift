import BrokerModel
import BrokerPolicy
import Testing

/// `WhenUnlocked=` and `WhenUnlockedSchema=` of `[SecretService]`.
struct ForegroundSecretsTests {
    private let applications = """
        [Application mail]
        Executable=/usr/bin/mail
        AccessGroups=letters suite
        [Application chat]
        Flatpak=chat
        [Application other]
        Executable=/usr/bin/other
        AccessGroups=suite

        """

    private func load(_ section: String) throws -> (Policy, warnings: [String]) {
        let file = PolicyFile(applications + "[SecretService]\n\(section)\n")
        return try Policy.load([file], environment: .fixture(isSystem: false))
    }

    private func isForeground(_ section: String, _ group: String, _ schema: String? = nil) throws -> Bool {
        let lookup = LookupAttributes(schema.map { ["xdg:schema": $0] } ?? [:])
        let secrets = try load(section).0.foregroundSecrets
        let group = try #require(AccessGroup(group))
        return secrets.accessibility(of: lookup, in: group, under: GroupRules()) != nil
    }

    @Test func withoutALineThereAreNone() throws {
        #expect(try !isForeground("Isolation=none", "letters", "org.example.Bank"))
        #expect(Policy.empty.secretService.whenUnlocked == [])
    }

    /// Where the application's items go, and its private group; not what it has a part in.
    @Test(arguments: [
        ("letters", true), ("app.mail", true), ("suite", false), ("app.chat", true), ("flatpak.chat", false),
        ("app.other", false), ("mail", false), ("unidentified", false),
    ])
    func anApplicationIsMeantWithTheGroupsThatAreItsOwn(_ group: String, _ isMeant: Bool) throws {
        #expect(try isForeground("WhenUnlocked=mail chat", group) == isMeant)
        #expect(try isForeground("WhenUnlocked=mail\nWhenUnlocked=chat", group) == isMeant)
    }

    @Test(arguments: [
        ("org.example.Bank", true), ("org.example.Bank.Card", true), ("org.example.bank", false),
        ("org.gnome.A", true), ("org.gnome.AB", false), ("", false), ("org.other", true), (nil, false),
    ])
    func aSchemaIsAPattern(_ schema: String?, _ isMeant: Bool) throws {
        let section = "WhenUnlockedSchema=org.example.Bank*  org.gnome.?\nWhenUnlockedSchema=org.other"
        #expect(try isForeground(section, "suite", schema) == isMeant)
    }

    @Test func theSummaryHasBoth() throws {
        let service = try load("WhenUnlockedSchema=b* c\nWhenUnlocked=mail\nWhenUnlocked=chat").0.summary
            .secretService
        #expect(service.whenUnlocked == ["mail", "chat"] && service.whenUnlockedSchemas == ["b*", "c"])
    }

    @Test(arguments: [
        ("WhenUnlocked=a/b", "WhenUnlocked=: 'a/b' is not an application's id"),
        ("WhenUnlocked=mail mail", "WhenUnlocked=: 'mail' stands there twice."),
        ("WhenUnlockedSchema=org.[a", "WhenUnlockedSchema=: A '[' in 'org.[a' is never closed."),
        ("WhenUnlockedSchemas=a", "[SecretService] has no key 'WhenUnlockedSchemas'."),
        ("Whenunlocked=mail", "[SecretService] has no key 'Whenunlocked'."),
    ])
    func aMistakeIsRefusedWithItsLine(_ line: String, _ error: String) throws {
        do {
            _ = try load("Isolation=none\n" + line)
            Issue.record("It was taken.")
        } catch let errors as PolicyErrors {
            #expect(errors.lines.count == 1)
            #expect(errors.lines.first?.hasPrefix("policy.conf:11: \(error)") == true, "\(errors.lines)")
        }
    }

    @Test func whatIsUnwiseIsWarnedOfWithItsLine() throws {
        let text = """
            [Application a]
            Executable=/usr/bin/a
            AccessGroups=shared
            [Application b]
            Executable=/usr/bin/b
            AccessGroups=shared own
            [Application c]
            Executable=/usr/bin/c
            AccessGroups=c
            Role=background
            [SecretService]
            WhenUnlocked=mial a
            WhenUnlocked=c
            """
        let warnings = try Policy.load([PolicyFile(text)], environment: .fixture(isSystem: false)).warnings
        #expect(
            warnings == [
                "policy.conf:12: WhenUnlocked=: there is no [Application mial]; nobody is it.",
                "policy.conf:12: WhenUnlocked=: shared is where [Application b] stores too, whose items are "
                    + "meant as well.",
                "policy.conf:13: WhenUnlocked=: [Application c] has Role=background, so it can store nothing "
                    + "there.",
            ])
        #expect(try load("WhenUnlocked=mail chat").warnings == [])
    }

    /// The group of those of whom nothing is known can have rules, as long as there is one.
    @Test(arguments: [("share", 0), ("refuse", 1)])
    func theUnidentifiedsGroupCanHaveRules(_ word: String, _ warned: Int) throws {
        let (policy, warnings) = try load(
            "Unidentified=\(word)\n[AccessGroup unidentified]\nAccessible=when-unlocked")
        // One application without a group is warned of in either case.
        #expect(warnings.filter { $0.contains("unidentified") }.count == warned)
        #expect(policy.rules(of: AccessGroup("unidentified")!).internalSecretAccessible == .whenUnlocked)
    }

    @Test func explainSaysWhichLineDecides() throws {
        let section = "WhenUnlocked=mail\nWhenUnlockedSchema=bank* card"
        let (policy, _) = try load(section)
        func told(_ group: String) throws -> String? {
            let facts = try PeerFacts(vector: "exe=/usr/bin/mail@file")
            return policy.explain(facts, group: try #require(AccessGroup(group))).reasons.last
        }
        let own =
            "The secrets of its items of org.freedesktop.secrets are read while unlocked alone: WhenUnlocked= "
            + "(policy.conf:10)."
        #expect(try told("letters") == own)
        #expect(try told("app.mail") == own)
        #expect(
            try told("suite") == "By their xdg:schema some secrets of org.freedesktop.secrets are read while "
                + "unlocked alone: bank* (line 11), card (line 11) of policy.conf.")
    }
}
