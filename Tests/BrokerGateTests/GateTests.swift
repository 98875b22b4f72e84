import BrokerModel
@_spi(Testing) import BrokerPeers
import BrokerPolicy
import Testing

@testable import BrokerGate

/// The one door: who may, who may not, and what is written down of it.
@Suite struct GateTests {
    private static let text = """
        [Application org.example.mail]
        Executable=/usr/bin/mail
        AccessGroups=org.example.mail org.example.shared

        [Application org.example.reader]
        Executable=/usr/bin/reader
        AccessGroups=org.example.mail
        Operations=read search
        Role=background

        [AccessGroup org.example.mail]
        MaxItems=7
        """

    private let ledger = Ledger()

    private func gate(_ text: String = Self.text) throws -> Gate {
        Gate(policy: try policy(text), userID: 1000, audit: ledger)
    }

    @Test func aGrantHasTheCallersGroupsOrTheOneThatIsNamed() throws {
        let gate = try gate()
        let all = try gate.grant(caller("mail"), [.read], in: nil)
        #expect(all.groups.prefix(2).map(\.name) == ["org.example.mail", "org.example.shared"])
        let everyGroup = all.groups
        let shared = try #require(AccessGroup("org.example.shared"))
        let foreign = try #require(AccessGroup("org.example.foreign"))
        let one = try gate.grant(caller("mail"), [.read], in: shared)
        let groups = one.groups
        #expect(groups == [shared])
        for group in everyGroup { try one.checkMove(to: group) }
        let mail = try #require(AccessGroup("org.example.mail"))
        let (maxItems, otherMaxItems) = (all.rules(of: mail).maxItems, all.rules(of: shared).maxItems)
        #expect(maxItems == 7 && otherMaxItems == Limits.groupItemsDefaultMax)
        #expect(ledger.entries.isEmpty)
        #expect(
            refusal { () throws(Refusal) in try one.checkMove(to: foreign) } == .missingEntitlement)
        #expect(ledger.entries.map(\.group) == [foreign] && ledger.entries.map(\.objection) == [.group])
    }

    @Test func anAdditionGoesToTheNamedGroupOrTheCallersFirst() throws {
        let gate = try gate()
        let first = try gate.grantForAdding(caller("mail"), [.add], to: nil).groups.map(\.name)
        #expect(first == ["org.example.mail"])
        let shared = AccessGroup("org.example.shared")
        let named = try gate.grantForAdding(caller("mail"), [.add], to: shared).groups.map(\.name)
        #expect(named == ["org.example.shared"])
    }

    @Test func aCallerWithoutAGroupIsRefusedBeforeAnythingElse() throws {
        let gate = try gate()
        for group in [nil, AccessGroup("org.example.mail")] {
            #expect(
                refusal { () throws(Refusal) in _ = try gate.grant(caller("stranger"), [.read], in: group) }
                    == .missingEntitlement)
        }
        #expect(
            refusal { () throws(Refusal) in _ = try gate.grantForAdding(caller("stranger"), [.add], to: nil) }
                == .missingEntitlement)
        #expect(ledger.entries.count == 3)
        #expect(ledger.entries.allSatisfy { $0.decision == .deny && $0.application == nil })
    }

    @Test func aGroupThatIsNotTheCallersIsRefusedWhetherOrNotItExists() throws {
        let gate = try gate()
        for name in ["org.example.shared", "no.such.group", "app.org.example.mail"] {
            let group = try #require(AccessGroup(name))
            #expect(
                refusal { () throws(Refusal) in _ = try gate.grant(caller("reader"), [.read], in: group) }
                    == .missingEntitlement)
            #expect(ledger.entries.last?.group == group)
        }
    }

    @Test func anOperationThatIsNotGrantedIsRefusedAndWrittenDown() throws {
        let gate = try gate()
        #expect(refusal { () throws(Refusal) in try gate.admit(caller("reader"), [.read, .search]) } == nil)
        for operations in [[Operation.add], [.update], [.delete], [.read, .update], [.logout], [.refresh]] {
            #expect(
                refusal { () throws(Refusal) in try gate.admit(caller("reader"), operations) }
                    == .missingEntitlement)
            let entry = AuditEntry(
                operation: operations.map(\.rawValue).joined(separator: "+"),
                application: "org.example.reader", program: "/usr/bin/reader", group: nil, decision: .deny,
                objection: .operation, trust: .file, connection: ":1.7", processID: 4711, userID: 1000)
            #expect(ledger.entries.last == entry)
        }
    }

    /// Nobody but the keychain's user has anything in it, root included.
    @Test(arguments: [0, 999, 1001] as [UInt32]) func anotherUsersProgramIsNobody(userID: UInt32) throws {
        let gate = try gate(Self.text + "\n[Manager]\nExecutable=/usr/bin/chatelaine\n")
        #expect(
            refusal { () throws(Refusal) in try gate.admit(caller("mail", userID: userID), [.read]) }
                == .missingEntitlement)
        let other = caller("chatelaine", connection: ":1.8", userID: userID)
        #expect(refusal { () throws(Refusal) in _ = try gate.manageAsUser(other, "lock") } == .accessDenied)
        #expect(
            refusal { () throws(Refusal) in _ = try gate.manageAsAdministrator(other, "move") }
                == .accessDenied)
    }

    @Test func aBackgroundCallerSeesTheBackgroundAlone() throws {
        let gate = try gate()
        let grant = try gate.grant(caller("reader"), [.read], in: nil)
        let (background, foreground) = (grant.sees(.background), grant.sees(.foreground))
        #expect(background && !foreground)
        let full = try gate.grant(caller("mail", connection: ":1.8"), [.read], in: nil)
        let (ofFull, alsoOfFull) = (full.sees(.background), full.sees(.foreground))
        #expect(ofFull && alsoOfFull)
    }

    /// The one denial that is found where the item's class is known.
    @Test func aForegroundItemOfABackgroundCallerIsWrittenDown() throws {
        let gate = try gate(Self.text.replacing("Operations=read search", with: ""))
        let group = try #require(AccessGroup("org.example.mail"))
        let grant = try gate.grantForAdding(caller("reader"), [.add, .update], to: nil)
        try grant.checkStoring(.background, in: group)
        #expect(ledger.entries.isEmpty)
        #expect(
            refusal { () throws(Refusal) in try grant.checkStoring(.foreground, in: group) }
                == .missingEntitlement)
        let entry = try #require(ledger.entries.first)
        #expect(entry.operation == "add+update" && entry.objection == .role && entry.group == group)
    }

    /// Decisions are kept for a connection, and made anew by another policy from the next call on.
    @Test func anotherPolicyDecidesFromTheNextCallOn() throws {
        let gate = try gate()
        func met() -> Refusal.Kind? {
            refusal { () throws(Refusal) in
                _ = try gate.grant(caller("mail"), [.read], in: AccessGroup("org.example.mail"))
            }
        }
        #expect(met() == nil)
        gate.replace(by: .empty)
        #expect(met() == .missingEntitlement)
        gate.replace(by: try policy(Self.text))
        #expect(met() == nil)
    }

    @Test func aConnectionThatIsGoneLeavesNothingToItsName() throws {
        let gate = try gate()
        try gate.admit(caller("mail", connection: ":1.9"), [.read])
        gate.forget(":1.9")
        #expect(
            refusal { () throws(Refusal) in try gate.admit(caller("stranger", connection: ":1.9"), [.read]) }
                == .missingEntitlement)
    }

    @Test func theUsersCallsAreForProgramsThatAreProvenUnsandboxed() throws {
        let gate = try gate()
        #expect(
            refusal { () throws(Refusal) in _ = try gate.manageAsUser(caller("stranger"), "lock") } == nil)
        for namespaces in [false, nil] as [Bool?] {
            #expect(
                refusal { () throws(Refusal) in
                    _ = try gate.manageAsUser(
                        caller("mail", connection: ":1.\(namespaces.hashValue)", namespaces: namespaces),
                        "lock"
                    )
                } == .accessDenied)
            #expect(ledger.entries.last?.operation == "lock" && ledger.entries.last?.decision == .deny)
        }
        var facts = PeerFacts(userID: 1000)
        facts.inReferenceNamespaces = true
        facts.flatpak = .init(id: "org.example.Mail", trust: .file)
        let sandboxed = Caller(connection: ":1.99", facts: facts)
        #expect(
            refusal { () throws(Refusal) in _ = try gate.manageAsUser(sandboxed, "lock") } == .accessDenied)
    }

    @Test func trustAloneMakesNobodyAnAdministrator() throws {
        let gate = try gate()
        for caller in [caller("anything", connection: ":1.1", userID: 0), caller("mail")] {
            #expect(
                refusal { () throws(Refusal) in _ = try gate.manageAsAdministrator(caller, "check") }
                    == .accessDenied)
        }
        #expect(ledger.entries.map(\.operation) == ["check", "check"])
    }

    @Test func aProgramOfTheListIsAnAdministratorAndSeesNoItemByThat() throws {
        let gate = try gate(Self.text + "\n[Manager]\nExecutable=/usr/bin/chatelaine\n")
        let leave = try gate.manageAsAdministrator(caller("chatelaine"), "move")
        let (from, to) = (try #require(AccessGroup("a")), try #require(AccessGroup("b")))
        let grant = gate.administer(leave, from, reaching: to)
        let groups = grant.groups
        #expect(groups == [from])
        try grant.checkMove(to: to)
    }

    @Test func aReadIsWrittenDownWithItsGroupAndNothingOfTheItem() throws {
        let gate = try gate()
        gate.recordRead(caller("mail"), .read, AccessGroup("org.example.mail"))
        #expect(
            ledger.entries == [
                AuditEntry(
                    operation: "read", application: "org.example.mail", program: "/usr/bin/mail",
                    group: AccessGroup("org.example.mail"), decision: .allow, trust: .file,
                    connection: ":1.7", processID: 4711, userID: 1000)
            ])
    }

    /// Nothing in an entry is of a type that could hold a secret or an attribute: words of ours, names of the
    /// policy and the bus, numbers.
    @Test func anEntryHasNoFieldForAnAttribute() throws {
        let entry = AuditEntry(
            operation: "read", application: "a", program: "p", group: AccessGroup("g"), decision: .allow,
            trust: .user, connection: ":1.1", processID: 1, userID: 1)
        let fields = Mirror(reflecting: entry).children.compactMap(\.label)
        #expect(
            fields == [
                "operation", "application", "program", "group", "decision", "objection", "trust",
                "connection", "processID", "userID",
            ])
    }

    /// A path is text of the user's choosing.
    @Test func whatIsWrittenOfAProgramIsPrintableAndBounded() throws {
        let gate = try gate()
        let path = "a b\n\u{1b}[2J\u{9b}\u{202e}"
        gate.recordRead(caller(path), .read, nil)
        #expect(ledger.entries.last?.program == "/usr/bin/a b??[2J?????")
        gate.recordRead(caller(String(repeating: "x", count: 5000), connection: ":1.8"), .read, nil)
        #expect(ledger.entries.last?.program?.utf8.count == 255)
    }
}
