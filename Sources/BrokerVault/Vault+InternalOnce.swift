internal import BrokerGate
public import BrokerModel
public import Sodium

extension Vault {
    /// The item of an internal class that the query means, of several the oldest; where there is none, `item` is added to the
    /// first of the grant's groups. It is one step: of several calls at once one adds. Returns when it is durable. `Decode`
    /// where all that is meant is damaged.
    public func findOrAddInternal(
        _ authorize: @escaping Authorization, _ query: Query, _ item: InternalItem, _ secret: SharedSecret
    ) async throws(Refusal) -> StoredItem {
        try await change { (writer, store) throws(Refusal) in
            let grant = try authorize()
            guard let old = try self.oldest(query, store, grant) else {
                return (try self.insert(item, secret, writer, grant), [])
            }
            return (StoredItem(reference: old.reference, revision: old.revision, created: false), [])
        }
    }

    private func oldest(
        _ query: Query, _ store: Store, _ grant: borrowing Grant
    ) throws(Refusal) -> RowHeader? {
        var (found, sawDamaged): (RowHeader?, Bool) = (nil, false)
        try selection(store.writing, store).rows(
            query, grant, withSecret: false, seenExpired: &seenExpired
        ) { (row) throws(Refusal) in
            guard try attributes(of: row, query) != nil else {
                sawDamaged = true
                return .next
            }
            found = row.header
            return .stop
        }
        if found == nil && sawDamaged { throw .damagedItem }
        return found
    }
}
