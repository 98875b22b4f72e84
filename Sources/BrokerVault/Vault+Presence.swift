public import BrokerGate
public import BrokerModel
internal import SQLite
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

    /// Takes from items the fingers that they are bound to: no finger opens them any more, whoever is enrolled. Returns when
    /// that is durable. What has changed since the demand is left alone. `InteractionNotAllowed` where a class key is
    /// not in memory.
    public func close(_ demands: [Demand]) async throws(Refusal) {
        try await change { (_, store) throws(Refusal) in
            for demand in demands { try self.close(demand, store.writing) }
            return ((), [])
        }
    }

    private func close(_ demand: Demand, _ tables: Tables) throws(Refusal) {
        let row = try stored { () throws(SQLiteError) in
            try tables.row(of: demand.reference, withSecret: true)
        }
        guard let row, row.header.revision == demand.revision else { return }
        switch keyring.open(row) {
        case .locked: throw .locked
        case .damaged: return
        case .item(let item):
            guard item.fingers != nil, item.fingers == demand.constraint.fingers else { return }
            guard let closed = keyring.unbound(row, item) else { throw .locked }
            try stored { () throws(SQLiteError) in try tables.put(closed, replacing: row) }
        }
    }
}
