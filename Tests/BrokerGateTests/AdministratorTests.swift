@_spi(Testing) import BrokerPeers
import BrokerModel
import BrokerPolicy
import Testing

@testable import BrokerGate

/// Who may manage, where the machine says who is an administrator.
@Suite struct AdministratorTests {
    private static let text = """
        [Application org.example.mail]
        Executable=/usr/bin/mail
        AccessGroups=org.example.mail
        """

    private let ledger = Ledger()

    private func machineGate(of userID: UInt32? = 1000) throws -> Gate {
        Gate(policy: try policy(Self.text), userID: userID, administrators: .machine, audit: ledger)
    }

    @Test func rootIsTheMachinesAdministratorAndNothingElse() throws {
        let gate = try machineGate()
        let root = caller("mail", userID: 0)
        let holder = try gate.manageAsAdministrator(root, "check").holder
        #expect(holder == .administrator)
        #expect(refusal { () throws(Refusal) in _ = try gate.manageAsUser(root, "lock") } == .accessDenied)
        #expect(refusal { () throws(Refusal) in try gate.admit(root, [.read]) } == .missingEntitlement)
        #expect(try !gate.asksAuthority(about: root, "check", false))
    }

    /// Whatever the policy lists in `[Manager]`, and whoever the user is.
    @Test(arguments: [Authorization.denied, .unreachable])
    func nobodyElseIsWithoutTheAuthoritysWord(_ authorization: Authorization) throws {
        let gate = try Gate(
            policy: policy(Self.text + "\n[Manager]\nExecutable=/usr/bin/mail"), userID: 1000,
            administrators: .machine, audit: ledger)
        #expect(try gate.asksAuthority(about: caller("mail"), "check", false))
        #expect(
            refusal { () throws(Refusal) in
                _ = try gate.manageAsAdministrator(caller("mail"), "check", authorization)
            } == .accessDenied)
        _ = try gate.manageAsAdministrator(caller("mail"), "check", .allowed)
    }

    @Test func aSandboxedCallerIsNoAdministratorWhateverTheAuthoritySays() throws {
        let gate = try machineGate(of: nil)
        var facts = PeerFacts(userID: 0)
        facts.snap = "tool"
        let callers = [
            Caller(connection: ":1.1", facts: facts), caller("mail", connection: ":1.2", namespaces: nil),
            caller("mail", connection: ":1.3", namespaces: false),
        ]
        for caller in callers {
            #expect(try !gate.asksAuthority(about: caller, "check", false))
            #expect(
                refusal { () throws(Refusal) in
                    _ = try gate.manageAsAdministrator(caller, "check", .allowed)
                } == .accessDenied)
        }
    }

    /// Where somebody logs in root speaks, with `--user` too; nobody else, and no sandbox that says it is root.
    @Test(arguments: [Gate.Administrators.machine, .programs])
    func rootAloneSpeaksForALogin(_ administrators: Gate.Administrators) throws {
        let gate = Gate(
            policy: try policy(Self.text), userID: 1000, administrators: administrators, audit: ledger)
        let holder = try gate.manageAsRoot(caller("mail", namespaces: nil, userID: 0), "unlock").holder
        #expect(holder == .root)
        var facts = PeerFacts(userID: 0)
        facts.snap = "tool"
        for other in [caller("mail"), caller("mail", userID: 1001), Caller(connection: ":1.1", facts: facts)]
        {
            #expect(
                refusal { () throws(Refusal) in _ = try gate.manageAsRoot(other, "unlock") } == .accessDenied)
        }
    }

    /// The passcode is the proof, and the authority may forbid it all the same.
    @Test func theAuthorityMayDenyTheUsersOwnCall() throws {
        let gate = try machineGate()
        #expect(try gate.asksAuthority(about: caller("mail"), "set-passcode", true))
        for authorization in [Authorization.allowed, .unreachable] {
            _ = try gate.manageAsUser(caller("mail"), "set-passcode", authorization)
        }
        #expect(
            refusal { () throws(Refusal) in
                _ = try gate.manageAsUser(caller("mail"), "set-passcode", .denied)
            } == .accessDenied)
        #expect(
            refusal { () throws(Refusal) in
                _ = try gate.asksAuthority(about: caller("mail", userID: 1001), "set-passcode", true)
            } == .accessDenied)
    }

    @Test func withUserNoAuthorityIsAsked() throws {
        let gate = Gate(policy: try policy(Self.text), userID: 1000, audit: ledger)
        #expect(try !gate.asksAuthority(about: caller("mail"), "check", false))
    }
}
