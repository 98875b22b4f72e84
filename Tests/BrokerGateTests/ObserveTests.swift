import BrokerModel
import BrokerPeers
import BrokerPolicy
import Testing

@testable import BrokerGate

/// `Mode=observe`: what the policy denies is written down and let through, and nothing else is.
@Suite struct ObserveTests {
    private static let text = """
        [Application mail]
        Executable=/usr/bin/mail
        AccessGroups=own watched

        [Application reader]
        Executable=/usr/bin/reader
        AccessGroups=watched own
        Operations=read
        Role=background

        [Carriers]
        Executable=/usr/bin/proxy

        [AccessGroup watched]
        Mode=observe
        MaxItems=7
        """

    /// A program that its user could have written, in no section: it has no group at all.
    private static func stranger(_ connection: String = ":1.7") -> Caller {
        caller("written", connection: connection, trust: .user)
    }

    private let ledger = Ledger()
    private let watched = AccessGroup("watched")

    private func gate(_ text: String = Self.text) throws -> Gate {
        Gate(policy: try policy(text), userID: 1000, audit: ledger)
    }

    private func decisions() -> [String] {
        ledger.entries.map {
            "\($0.decision.rawValue) \($0.operation) \($0.group?.name ?? "-") \($0.objection?.rawValue ?? "-")"
        }
    }

    private func groups(
        _ gate: Gate, _ caller: Caller, _ operations: [Operation], _ group: AccessGroup?
    ) -> [AccessGroup]? {
        try? gate.grant(caller, operations, in: group).groups
    }

    @Test func whoLacksTheGroupIsLetInAndWrittenDown() throws {
        let gate = try gate()
        let stranger = Self.stranger()
        for operation in Operation.allCases {
            try gate.admit(stranger, [operation], naming: watched)
            #expect(groups(gate, stranger, [operation], watched) == [try #require(watched)])
        }
        #expect(decisions() == Operation.allCases.map { "observe \($0.rawValue) watched no-group" })
        let entry = try #require(ledger.entries.last)
        #expect(entry.connection == ":1.7" && entry.userID == 1000 && entry.trust == .user)
        let other = caller("other", connection: ":1.8")
        #expect(groups(gate, other, [.read], watched) != nil)
        #expect(decisions().last == "observe read watched group")
    }

    @Test func whoseTrustIsTooLowIsLetInAndWrittenDown() throws {
        let gate = try gate()
        #expect(groups(gate, caller("mail", trust: .user), [.read], watched) != nil)
        #expect(decisions() == ["observe read watched trust"])
    }

    @Test func whoLacksTheOperationIsLetThroughThere() throws {
        let gate = try gate()
        let reader = caller("reader")
        #expect(groups(gate, reader, [.delete], watched) != nil)
        #expect(groups(gate, reader, [.delete], AccessGroup("own")) == nil)
        #expect(groups(gate, reader, [.delete], AccessGroup("app.reader")) == nil)
        // What names no group reaches those of its own that are in the mode, and no others.
        #expect(groups(gate, reader, [.delete], nil) == [try #require(watched)])
        #expect(
            decisions() == [
                "observe delete watched operation", "deny delete own operation",
                "deny delete app.reader operation", "observe delete - operation",
            ])
    }

    @Test func whoHasTheGroupIsNotWrittenDown() throws {
        let gate = try gate()
        #expect(groups(gate, caller("mail"), Operation.allCases, watched) != nil)
        #expect(groups(gate, caller("reader", connection: ":1.8"), [.read], watched) != nil)
        #expect(ledger.entries.isEmpty)
    }

    @Test func aCallThatNamesNoGroupFindsWhatItAlwaysFound() throws {
        let gate = try gate()
        let other = caller("other")
        #expect(groups(gate, other, [.read], nil)?.map(\.name) == ["exe./usr/bin/other"])
        #expect(
            try gate.grantForAdding(other, [.add], to: nil).groups.map(\.name) == ["exe./usr/bin/other"])
        let stranger = Self.stranger(":1.8")
        #expect(refusal { () throws(Refusal) in try gate.admit(stranger, [.read]) } == .missingEntitlement)
        #expect(groups(gate, stranger, [.read], nil) == nil)
        #expect(
            refusal { () throws(Refusal) in _ = try gate.grantForAdding(stranger, [.add], to: nil) }
                == .missingEntitlement)
        #expect(decisions().allSatisfy { $0.hasPrefix("deny") })
    }

    /// A sandbox narrows a caller; "could not be read" is never "not sandboxed"; others' users are nobody.
    @Test func nobodyElseGainsByIt() throws {
        let gate = try gate()
        let callers = [
            caller("mail", connection: ":1.1", flatpak: "org.example.F"),
            caller("other", connection: ":1.2", namespaces: false),
            caller("other", connection: ":1.3", namespaces: nil),
            caller("stranger", connection: ":1.4"), caller("proxy", connection: ":1.7"),
            caller("mail", connection: ":1.5", userID: 1001), caller("mail", connection: ":1.6", userID: 0),
        ]
        for caller in callers {
            #expect(groups(gate, caller, [.read], watched) == nil, "\(caller.connection)")
            #expect(!gate.isAudible(try #require(watched), to: caller))
        }
        #expect(decisions().count == 7 && decisions().allSatisfy { $0.hasPrefix("deny read watched") })
    }

    @Test func oneCallIsWrittenDownOnce() throws {
        let gate = try gate()
        let stranger = Self.stranger()
        _ = try gate.grant(stranger, [.update], in: watched)
        _ = try gate.grant(stranger, [.update], in: watched, again: true)
        _ = try gate.grantForAdding(stranger, [.add], to: watched, again: true)
        #expect(decisions() == ["observe update watched no-group"])
    }

    @Test func theGroupsOwnRulesAreInForce() throws {
        let gate = try gate()
        let grant = try gate.grant(Self.stranger(), [.add], in: watched)
        let maxItems = grant.rules(of: try #require(watched)).maxItems
        #expect(maxItems == 7)
    }

    /// The role is no denial: what it hides is absent.
    @Test func aRoleStaysWhatItIs() throws {
        let gate = try gate()
        let grant = try gate.grant(caller("reader"), [.delete], in: watched)
        let seesForeground = grant.sees(.foreground)
        #expect(!seesForeground)
    }

    @Test func anItemMayBeMovedThere() throws {
        let gate = try gate()
        let watched = try #require(watched)
        let grant = try gate.grant(caller("other"), [.update], in: nil)
        try grant.checkMove(to: watched)
        let own = try #require(AccessGroup("own"))
        #expect(refusal { () throws(Refusal) in try grant.checkMove(to: own) } == .missingEntitlement)
    }

    @Test func enforcedAgainTheNextCallIsDenied() throws {
        let gate = try gate()
        let stranger = Self.stranger()
        let watched = try #require(watched)
        #expect(groups(gate, stranger, [.read], watched) != nil && gate.isAudible(watched, to: stranger))
        gate.replace(by: try policy(Self.text.replacing("observe", with: "enforce")))
        #expect(groups(gate, stranger, [.read], watched) == nil && !gate.isAudible(watched, to: stranger))
        #expect(gate.audible(to: stranger).isEmpty)
        #expect(decisions() == ["observe read watched no-group", "deny read watched no-group"])
    }
}
