internal import BrokerModel
internal import Sodium

/// A row of either side, for code that goes over both; its keys stay apart.
enum AnyRow {
    case background(Row<Background>)
    case foreground(Row<Foreground>)

    var header: RowHeader {
        switch self {
        case .background(let row): row.header
        case .foreground(let row): row.header
        }
    }

    var side: Accessibility.Side {
        switch self {
        case .background: .background
        case .foreground: .foreground
        }
    }

    var entry: IndexTable.Entry { IndexTable.Entry(header: header, side: side) }
}

/// What looking into a row gave.
enum Opening {
    case item(ItemAttributes)
    /// Its class key is not in memory.
    case locked
    /// A tag failed, or the row is not what its own tokens and header say.
    case damaged
}

extension Row {
    /// A nil `index` leaves the row's tokens alone: the tokens are not bound by a tag, so whoever takes them at their
    /// word holds them against the item that they stand for.
    func open(with keys: ClassKeys<Side>, checking index: IndexKey?) -> Opening {
        guard let key = keys[id: header.classKeyID] else { return .damaged }
        var binding = binding
        guard
            let content = SealedPart.open(
                attributes, .attributes, under: key.metadata, id: key.id, &binding),
            let decoded = AttributeCoding.decode(content.span, accessibility: key.accessibility)
        else { return .damaged }
        let item = ItemAttributes(
            itemClass: header.itemClass, accessGroup: header.group, protection: decoded.protection,
            fingers: decoded.fingers, synchronizable: header.synchronizable, attributes: decoded.attributes,
            expires: header.expires,
            freshUntil: header.freshUntil, reference: header.reference, revision: header.revision,
            created: header.created, modified: header.modified)
        guard header.isGated == item.protection.isGated else { return .damaged }
        return index.map { hasTokens(of: item, $0) } ?? true ? .item(item) : .damaged
    }

    /// Nil for a damaged secret.
    func openSecret(with keys: ClassKeys<Side>) -> Secret? {
        guard let key = keys[id: header.classKeyID] else { return nil }
        var binding = binding
        return SealedPart.open(secret, .secret, under: key.secrets, id: key.id, &binding)
    }

    private func hasTokens(of item: ItemAttributes, _ index: IndexKey) -> Bool {
        header.tokens == index.tokens(item.attributes, itemClass: item.itemClass, group: item.accessGroup)
    }

    /// The row under another class key of the same class; nil for a damaged row.
    func rewrapped(from old: ClassKey<Side>, to new: ClassKey<Side>) -> Row? {
        var binding = binding
        guard
            let attributes = SealedPart.rewrap(
                attributes, .attributes, from: old.metadata, id: old.id, to: new.metadata, id: new.id,
                &binding),
            let secret = SealedPart.rewrap(
                secret, .secret, from: old.secrets, id: old.id, to: new.secrets, id: new.id, &binding)
        else { return nil }
        return changed(classKeyID: new.id, attributes: attributes, secret: secret)
    }

    /// The row with its attributes sealed anew, bound to no fingers; nil where the class key is another.
    func unbound(_ item: ItemAttributes, under keys: ClassKeys<Side>) -> Row? {
        guard let key = keys[id: header.classKeyID] else { return nil }
        let content = AttributeCoding.encode(item.attributes, protection: item.protection)
        var binding = binding
        return changed(
            classKeyID: key.id,
            attributes: SealedPart.seal(
                content.span, .attributes, under: key.metadata, id: key.id, &binding),
            secret: secret)
    }

    /// Seals an item's two parts under its class key.
    static func seal(
        _ header: RowHeader, _ attributes: AttributeSet, _ protection: Protection, _ fingers: FingerSet?,
        _ secret: SharedSecret, under key: ClassKey<Side>
    ) -> Row {
        let content = AttributeCoding.encode(attributes, protection: protection, fingers: fingers)
        var binding = header.binding(side: Side.side)
        return Row(
            header: header,
            attributes: SealedPart.seal(
                content.span, .attributes, under: key.metadata, id: key.id, &binding),
            secret: SealedPart.seal(secret.secret, .secret, under: key.secrets, id: key.id, &binding))
    }
}

extension Keyring {
    /// Without `checkingTokens` for a read, which holds the item against the query itself.
    func open(_ row: AnyRow, checkingTokens: Bool = true) -> Opening {
        guard let index else { return .locked }
        let checking = checkingTokens ? index : nil
        switch row {
        case .background(let row):
            guard let background else { return .locked }
            return row.open(with: background, checking: checking)
        case .foreground(let row):
            guard let foreground else { return .locked }
            return row.open(with: foreground, checking: checking)
        }
    }

    /// Nil for a damaged or locked secret.
    func secret(of row: AnyRow) -> Secret? {
        switch row {
        case .background(let row):
            guard let background else { return nil }
            return row.openSecret(with: background)
        case .foreground(let row):
            guard let foreground else { return nil }
            return row.openSecret(with: foreground)
        }
    }

    /// Seals an item for the side of its class; nil when the class key is not in memory.
    func seal(
        _ header: RowHeader, _ attributes: AttributeSet, _ protection: Protection, _ fingers: FingerSet?,
        _ secret: SharedSecret
    ) -> AnyRow? {
        var header = header
        switch protection.accessibility.side {
        case .background:
            guard let key = background?[protection.accessibility] else { return nil }
            header.classKeyID = key.id
            return .background(.seal(header, attributes, protection, fingers, secret, under: key))
        case .foreground:
            guard let key = foreground?[protection.accessibility] else { return nil }
            header.classKeyID = key.id
            return .foreground(.seal(header, attributes, protection, fingers, secret, under: key))
        }
    }

    /// The row of an open item, bound to no fingers any more; nil where its class key is not in memory.
    func unbound(_ row: AnyRow, _ item: ItemAttributes) -> AnyRow? {
        switch row {
        case .background(let row):
            guard let background else { return nil }
            return row.unbound(item, under: background).map { .background($0) }
        case .foreground(let row):
            guard let foreground else { return nil }
            return row.unbound(item, under: foreground).map { .foreground($0) }
        }
    }
}
