public import BrokerGate
public import BrokerModel
internal import Sodium

extension Vault {
    /// The oldest match. A match that is locked or gated is said to be so rather than passed over; a damaged
    /// one is passed over (K16). `ItemNotFound`, `InteractionNotAllowed`, which says what is demanded of a person that the
    /// proofs do not meet, `Decode`.
    public func read(
        _ grant: borrowing Grant, _ query: Query, _ proofs: Proofs = .none
    ) throws(Refusal) -> ItemWithSecret {
        var found: ItemWithSecret?
        try visit(grant, query, proofs, limit: 1, withSecret: true) { (row, attributes) throws(Refusal) in
            guard let secret = try secret(of: row, attributes) else { return .damaged }
            found = ItemWithSecret(attributes, secret)
            return .whole
        }
        guard let found else { throw .itemNotFound }
        return found
    }

    /// Every match with its secret, oldest first, all or nothing. `ItemNotFound` where there is none. What all of them
    /// together demand of a person is said at once.
    public func readAll(
        _ grant: borrowing Grant, _ query: Query, _ proofs: Proofs = .none
    ) throws(Refusal) -> [ItemWithSecret] {
        var found: [ItemWithSecret] = []
        var bytes = 0
        try visit(grant, query, proofs, limit: query.limit, withSecret: true) {
            (row, attributes) throws(Refusal) in
            guard let secret = try secret(of: row, attributes) else { return .damaged }
            if attributes.isSecretForeground { bytes += secret.count }
            try Self.count(max(0, row.header.size), &bytes)
            found.append(ItemWithSecret(attributes, secret))
            return .whole
        }
        guard !found.isEmpty else { throw .itemNotFound }
        return found
    }

    /// Every match without its secret, oldest first; none is no error. No secret is decrypted.
    public func search(
        _ grant: borrowing Grant, _ query: Query, _ proofs: Proofs = .none
    ) throws(Refusal) -> [ItemAttributes] {
        var found: [ItemAttributes] = []
        var bytes = 0
        try visit(grant, query, proofs, limit: query.limit, withSecret: false) {
            (row, attributes) throws(Refusal) in
            try Self.count(attributes.attributes.byteCount, &bytes)
            found.append(attributes)
            return .whole
        }
        return found
    }

    private enum Visited {
        case whole
        case damaged
    }

    // Goes over the open rows that match. Where all matches were damaged, the caller learns that. What is gated is only
    // counted until the proofs meet it: a locked row behind it must be found before anybody is asked.
    private func visit(
        _ grant: borrowing Grant, _ query: Query, _ proofs: Proofs, limit: Int?, withSecret: Bool,
        _ body: (AnyRow, ItemAttributes) throws(Refusal) -> Visited
    ) throws(Refusal) {
        let store = try openStore()
        store.writer.prepareRead()
        var (sawDamaged, met) = (false, 0)
        var demands: [Demand] = []
        try check { () throws(Refusal) in
            try selection(store.reading, store).rows(
                query, grant, withSecret: withSecret, seenExpired: &seenExpired
            ) { (row) throws(Refusal) in
                guard let attributes = try attributes(of: row, query, checkingTokens: false) else {
                    if !isAnother(row) { sawDamaged = true }
                    return .next
                }
                if !grant.sees(attributes) { return .next }
                if let demand = Demand(attributes, withSecret: withSecret), !proofs.meet(demand) {
                    if query.skipGated { return .next }
                    demands.append(demand)
                } else if try body(row, attributes) == .damaged {
                    sawDamaged = true
                    return .next
                }
                met += 1
                return met == limit ? .stop : .next
            }
        }
        if !demands.isEmpty { throw .gated(demands) }
        if sawDamaged && met == 0 { throw .damagedItem }
    }

    /// The attributes of a row that matches by its tokens; nil for a damaged row, which includes one that
    /// does not match the query after all.
    func attributes(
        of row: AnyRow, _ query: Query, checkingTokens: Bool = true
    ) throws(Refusal) -> ItemAttributes? {
        switch keyring.open(row, checkingTokens: checkingTokens) {
        case .locked: throw .locked
        case .damaged: return nil
        case .item(let attributes): return attributes.matches(query) ? attributes : nil
        }
    }

    /// Whether a row that does not match is whole, and another item: the index is asked for no more than so many of a
    /// filter's attributes.
    func isAnother(_ row: AnyRow) -> Bool {
        guard row.header.itemClass.isInternal, case .item = keyring.open(row) else { return false }
        return true
    }

    private func secret(of row: AnyRow, _ attributes: ItemAttributes) throws(Refusal) -> Secret? {
        if case .accessControl(let control) = attributes.protection, control.flags.contains(.privateKeyUsage)
        {
            throw Refusal(.authFailed, "The item's access control lets its key be used, and not be read.")
        }
        if attributes.isSecretForeground {
            return try foregroundSecret(of: attributes, openStore().reading)
        }
        return keyring.secret(of: row)
    }

    // The sizes before sealing stand beside the rows, so a reply that is too large is refused before it
    // is built.
    private static func count(_ size: Int, _ bytes: inout Int) throws(Refusal) {
        bytes += size + 256
        if bytes > Limits.replyBytesMax { throw .replyTooLarge }
    }
}
