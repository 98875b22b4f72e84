import BrokerModel
import BrokerPeers
import BrokerPolicy
import Testing

@testable import BrokerGate

/// `Portal=`: who may have the secrets of all applications.
@Suite struct PortalTests {
    private static let text = """
        [Application portal]
        Executable=/usr/libexec/portal
        Executable=/usr/bin/portal
        AccessGroups=keys

        [Application packed]
        Flatpak=org.example.Portal

        [Application mail]
        Executable=/usr/bin/mail
        AccessGroups=keys

        [AccessGroup keys]
        RequireTrust=user

        [SecretService]
        Isolation=none
        Manager=mail
        Portal=portal packed
        """

    private let ledger = Ledger()

    private func gate() throws -> Gate { Gate(policy: try policy(Self.text), userID: 1000, audit: ledger) }

    @Test func thePortalHasItsOwnGroupsAlone() throws {
        let grant = try gate().grantForPortal(caller("portal"))
        #expect(grant.groups.map(\.name) == ["keys", "app.portal", "exe./usr/bin/portal"])
        #expect(ledger.entries.isEmpty)
    }

    /// A program at user trust, of another user, in a sandbox or perhaps in one; one that shares the group and sees all.
    @Test(arguments: [
        caller("portal", trust: .user), caller("portal", userID: 1001), caller("portal", namespaces: false),
        caller("portal", namespaces: nil), caller("portal", flatpak: "org.example.Other"),
        caller("x", flatpak: "org.example.Portal"), caller("mail"), caller("stranger"),
    ])
    func othersAreRefusedAndWrittenDown(_ caller: Caller) throws {
        let gate = try gate()
        #expect(refusal { () throws(Refusal) in _ = try gate.grantForPortal(caller) } == .accessDenied)
        #expect(ledger.entries.map(\.objection) == [.portal])
        #expect(ledger.entries.map(\.operation) == ["retrieve-secret"])
    }
}
