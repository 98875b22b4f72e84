internal import BrokerGate
internal import BrokerModel
internal import SQLite
internal import Sodium

/// Internal items whose secret is of the foreground while they themselves are of the background, so that a locked item can
/// be found: the secret has a row of its own there, under the item's reference. The item's sealed attributes say of which
/// class it is.
extension Vault {
    /// The secret of such an item; nil where it is damaged, gone or another's. `InteractionNotAllowed`.
    func foregroundSecret(of item: ItemAttributes, _ tables: Tables) throws(Refusal) -> Secret? {
        guard let keys = keyring.foreground else { throw .locked }
        let row = try stored { () throws(SQLiteError) in
            try tables.secretRow(of: item.reference, withSecret: true)
        }
        guard let row, case .item(let own) = row.open(with: keys, checking: keyring.index),
            own.accessGroup == item.accessGroup, own.created == item.created,
            own.protection.accessibility == item.attributes.secretAccessible
        else { return nil }
        return row.openSecret(with: keys)
    }
}

extension ItemWriter {
    /// Puts the secret of an item into its own row, in the place of the one before. `InteractionNotAllowed`.
    func putSecret(
        _ secret: SharedSecret, of item: RowHeader, _ accessibility: Accessibility, _ rules: GroupRules
    ) throws(Refusal) {
        let content = Content(
            itemClass: .secretServiceSecret, group: item.group, protection: .accessible(accessibility),
            synchronizable: false, attributes: AttributeSet())
        let old = try stored { () throws(SQLiteError) in
            try tables.secretRow(of: item.reference, withSecret: false)
        }
        _ = try put(
            content, secret, reference: item.reference, created: item.created,
            replacing: old.map { .foreground($0) }, rules: rules)
    }

    /// Takes the row of an item's secret away: the item has it itself from now on.
    func removeSecret(of item: RowHeader) throws(Refusal) {
        try stored { () throws(SQLiteError) in
            let row = try tables.secretRow(of: item.reference, withSecret: false)
            if let row { try tables.remove(.foreground(row)) }
        }
    }
}

extension Grant {
    /// Whether the item exists for the caller: one with a secret of the foreground for those for whom that exists.
    borrowing func sees(_ item: ItemAttributes) -> Bool { !item.isSecretForeground || sees(.foreground) }
}
