public import BrokerGate
public import BrokerModel
public import Sodium

extension Vault {
    /// Tells the right passcode from a wrong one, and changes nothing by it: what was locked stays so. `AuthFailed` after
    /// the same growing pause as an unlock, `NotAvailable` without a passcode.
    public func confirm(_ grant: borrowing ManagerGrant, _ passcode: SharedSecret) async throws(Refusal) {
        try await oneAttempt(grant.holder) { () throws(Refusal) in
            let store = try openStore()
            guard store.isPasscodeSet else { throw .noPasscode }
            _ = try await open(store, passcode)
        }
    }
}
