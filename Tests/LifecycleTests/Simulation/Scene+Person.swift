import BrokerDesk
import BrokerModel
import Chatelaine
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
            absent.remove(account)
            ledger.count("signed in")
        } catch {
            judge(error, account, "a sign-in")
            signInLater(account)
        }
    }

    /// Stores tokens as new ones.
    func store(_ tokens: TokenAuthority.Tokens, _ account: Account, _ life: Life) async throws(CallFailure) {
        let held = SessionTokens(
            tokens, lifeMicroseconds: network.rules.accessMicroseconds, asked: time.wall)
        let item = try held.attributes(at: time.wall, addedTo: Self.item(account, account.accessible))
        _ = try await broker.call(life.connection) { (desk, context) throws(Refusal) in
            try desk.store(context, item, held.encoded())
        }
    }

    func signOut() {
        guard let account = Account.allCases.randomElement(using: &dice) else { return }
        absent.insert(account)
        BrokerActor.start {
            let isSignedOut = await self.asPerson { (desk, context) throws(Refusal) in
                try desk.logout(context, group: Self.group, service: account.rawValue, reason: "signed out")
            }
            if isSignedOut { self.ledger.count("signed out") }
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

    /// Whether it was done: with the broker away it is not. The person is never refused what a person may do.
    func asPerson<Value>(
        _ body: @escaping @BrokerActor (Desk, CallContext) throws(Refusal) -> Outcome<Value>
    ) async -> Bool {
        do throws(CallFailure) {
            _ = try await broker.call(person.connection, body)
            return true
        } catch {
            if let refusal = error.refusal { ledger.problem("the person was refused: \(refusal)") }
            return false
        }
    }

    /// A refusal that nothing explains, here and now, is a defect of the broker.
    func judge(_ failure: CallFailure, _ account: Account, _ what: String, begun: UInt64? = nil) {
        guard let refusal = failure.refusal else { return }
        let waited = time.monotonic - (begun ?? time.monotonic)
        let isExplained =
            switch refusal {
            case .itemNotFound: absent.contains(account) || isSigningIn.contains(account)
            case .interactionNotAllowed: !device.serves(account) || locks > 0
            case .busy: waited >= VirtualProcess.patienceMicroseconds
            default: false
            }
        if isExplained {
            ledger.count("refused to \(what): \(refusal.rawValue)")
        } else {
            ledger.problem("\(what) of '\(account)' was refused: \(refusal.rawValue)")
        }
    }
}
