import BrokerModel
import BrokerPolicy
import Testing

struct GroupRulesTests {
    private func rules(_ body: String, of name: String = "g") throws -> GroupRules {
        let file = PolicyFile("[AccessGroup g]\n\(body)")
        let (policy, _) = try Policy.load([file], environment: .fixture(isSystem: true))
        return policy.rules(of: try #require(AccessGroup(name)))
    }

    @Test func aGroupWithoutASectionHasTheDefaults() throws {
        #expect(try rules("MaxItems=1", of: "h") == GroupRules())
        #expect(Policy.empty.rules(of: try #require(AccessGroup("h"))) == GroupRules())
        #expect(GroupRules().requireTrust == .file)
    }

    @Test func everyKeyIsKept() throws {
        let rules = try rules(
            """
            RequireTrust=kernel
            MaxItems=1000
            MaxBytes=8M
            ReuseSeconds=300
            Mode=observe
            Accessible=after-first-unlock-this-device-only when-unlocked
            """)
        #expect(rules.requireTrust == .kernel)
        #expect(rules.maxItems == 1000)
        #expect(rules.maxBytes == 8 << 20)
        #expect(rules.reuseSeconds == 300)
        #expect(rules.mode == .observe)
        #expect(rules.accessible == [.afterFirstUnlockThisDeviceOnly, .whenUnlocked])
        #expect(rules.defaultAccessible == .afterFirstUnlockThisDeviceOnly)
    }

    @Test(arguments: [("1", 1), ("64K", 65_536), ("1G", 1 << 30), ("8589934591G", 8_589_934_591 << 30)])
    func aNumberOfBytesHasASuffix(_ text: String, _ bytes: UInt64) throws {
        #expect(try rules("MaxBytes=\(text)").maxBytes == bytes)
    }

    @Test(arguments: [
        "0", "0K", "1.5M", "1 M", "1k", "8\u{212a}", "٣", "8589934592G", "18446744073709551616",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(throws: PolicyErrors.self) { try rules("MaxBytes=\(text)") }
    }

    @Test func theSecretServiceSectionIsKeptAndHasDefaults() throws {
        #expect(Policy.empty.secretService.isolation == .application)
        #expect(Policy.empty.secretService.unidentified == .share)
        #expect(Policy.empty.secretService.portals == [])
        let file = PolicyFile(
            "[SecretService]\nIsolation=none\nUnidentified=refuse\nManager=a b.c\nPortal=d e\n")
        let (policy, warnings) = try Policy.load([file], environment: .fixture(isSystem: false))
        #expect(policy.secretService.isolation == .none)
        #expect(policy.secretService.unidentified == .refuse)
        #expect(policy.secretService.managers == ["a", "b.c"])
        #expect(policy.secretService.portals == ["d", "e"])
        #expect(warnings.count == 4)
    }

    @Test(arguments: [("User=0", true), ("Executable=/usr/libexec/a", false)])
    func aPortalThatNobodyCanBeAtFileTrustIsWarnedOf(_ key: String, _ isWarnedOf: Bool) throws {
        let file = PolicyFile("[SecretService]\nPortal=a\n[Application a]\n\(key)\n")
        let (_, warnings) = try Policy.load([file], environment: .fixture(isSystem: false))
        #expect(warnings.contains { $0.contains("come to user trust") } == isWarnedOf)
        #expect(warnings.count == (isWarnedOf ? 1 : 0))
    }
}
