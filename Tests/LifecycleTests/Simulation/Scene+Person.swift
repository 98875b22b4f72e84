import BrokerDesk
import BrokerModel
import ExampleAuthority
import SDBus
import Sodium

extension Scene {
    static func query(_ account: Account) throws(CallFailure) -> WireDictionary { try item(account, nil) }

    private static func item(_ account: Account, _ accessible: String?) throws(CallFailure) -> WireDictionary
    {
        var item = WireDictionary()
        do throws(Refusal) {
            try item.append("Class", .text(Array("generic-password".utf8)))
            try item.append("Service", .text(Array(account.rawValue.utf8)))
            try item.append("Account", .text(Array("alice".utf8)))
            if let accessible { try item.append("Accessible", .text(Array(accessible.utf8))) }
            return item
        } catch {
            throw .refused(error)
        }
    }

    /// The person finds the sign-in page some time later, and signs in when the device is unlocked.
    func signInLater(_ account: Account) {
        guard isSigningIn.insert(account).inserted else { return }
        time.alarm(at: time.monotonic + dice.time(5...60)) {
            BrokerActor.start { await self.signIn(account) }
        }
    }

    func signIn(_ account: Account) async {
        let tokens = network.signIn()
        isSigningIn.remove(account)
        do throws(CallFailure) {
            try await store(tokens, account, person)
            families[account] = Ledger.token(tokens.refresh)?.family
            ledger.count("signed in")
        } catch {
            signInLater(account)
        }
    }

    /// Stores tokens as new ones.
    func store(_ tokens: TokenAuthority.Tokens, _ account: Account, _ life: Life) async throws(CallFailure) {
        let held = HeldTokens(tokens, lifeMicroseconds: network.rules.accessMicroseconds, at: time.wall)
        let item = try Self.item(account, account.accessible)
        _ = try await broker.call(life.connection) { (desk, context) throws(Refusal) in
            try desk.store(context, item, held.secret)
        }
    }

    func signOut() {
        guard let account = Account.allCases.randomElement(using: &dice) else { return }
        ledger.count("signed out")
        asPerson { (desk, context) throws(Refusal) in
            try desk.logout(context, group: Self.group, service: account.rawValue, reason: "signed out")
        }
        signInLater(account)
    }

    /// Whether the item's tokens come from another sign-in by now.
    func wasReplaced(_ account: Account, _ refresh: String) -> Bool {
        families[account] != Ledger.token(refresh)?.family
    }

    /// The same, or from none.
    func wasSignedOut(_ account: Account, _ refresh: String) -> Bool {
        isSigningIn.contains(account) || wasReplaced(account, refresh)
    }

    // What cannot be done now is not done.
    func asPerson<Value>(
        _ body: @escaping @BrokerActor (Desk, CallContext) throws(Refusal) -> Outcome<Value>
    ) {
        BrokerActor.start {
            do throws(CallFailure) {
                _ = try await self.broker.call(self.person.connection, body)
            } catch {
                self.ledger.count("refused to the person")
            }
        }
    }
}
