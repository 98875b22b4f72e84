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
    func open(with keys: ClassKeys<Side>, index: IndexKey) -> Opening {
        guard let key = keys[id: header.classKeyID] else { return .damaged }
        var binding = header.binding(side: Side.side)
        guard
            let content = SealedPart.open(
                attributes, .attributes, under: key.metadata, id: key.id, &binding),
            let decoded = AttributeCoding.decode(content.span, accessibility: key.accessibility)
        else { return .damaged }
        let item = ItemAttributes(
            itemClass: header.itemClass, accessGroup: header.group, protection: decoded.protection,
            synchronizable: header.synchronizable, attributes: decoded.attributes, expires: header.expires,
            freshUntil: header.freshUntil, reference: header.reference, revision: header.revision,
            created: header.created, modified: header.modified)
        return isConsistent(item, index) ? .item(item) : .damaged
    }

    /// Nil for a damaged secret.
    func openSecret(with keys: ClassKeys<Side>) -> Secret? {
        guard let key = keys[id: header.classKeyID] else { return nil }
        var binding = header.binding(side: Side.side)
        return SealedPart.open(secret, .secret, under: key.secrets, id: key.id, &binding)
    }

    // The tokens are not bound by a tag, so an index that was tampered with shows here.
    private func isConsistent(_ item: ItemAttributes, _ index: IndexKey) -> Bool {
        let tokens = index.tokens(item.attributes, itemClass: item.itemClass, group: item.accessGroup)
        return header.isGated == item.protection.isGated && header.tokens == tokens
    }

    /// The row under another class key of the same class; nil for a damaged row.
    func rewrapped(from old: ClassKey<Side>, to new: ClassKey<Side>) -> Row? {
        var binding = header.binding(side: Side.side)
        guard
            let attributes = SealedPart.rewrap(
                attributes, .attributes, from: old.metadata, id: old.id, to: new.metadata, id: new.id,
                &binding),
            let secret = SealedPart.rewrap(
                secret, .secret, from: old.secrets, id: old.id, to: new.secrets, id: new.id, &binding)
        else { return nil }
        var copy = self
        copy.header.classKeyID = new.id
        copy.attributes = attributes
        copy.secret = secret
        return copy
    }

    /// Seals an item's two parts under its class key.
    static func seal(
        _ header: RowHeader, _ attributes: AttributeSet, _ protection: Protection, _ secret: SharedSecret,
        under key: ClassKey<Side>
    ) -> Row {
        let content = AttributeCoding.encode(attributes, protection: protection)
        var binding = header.binding(side: Side.side)
        return Row(
            header: header,
            attributes: SealedPart.seal(
                content.span, .attributes, under: key.metadata, id: key.id, &binding),
            secret: SealedPart.seal(secret.secret, .secret, under: key.secrets, id: key.id, &binding))
    }
}

extension Keyring {
    func open(_ row: AnyRow) -> Opening {
        guard let index else { return .locked }
        switch row {
        case .background(let row):
            guard let background else { return .locked }
            return row.open(with: background, index: index)
        case .foreground(let row):
            guard let foreground else { return .locked }
            return row.open(with: foreground, index: index)
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
        _ header: RowHeader, _ attributes: AttributeSet, _ protection: Protection, _ secret: SharedSecret
    ) -> AnyRow? {
        var header = header
        switch protection.accessibility.side {
        case .background:
            guard let key = background?[protection.accessibility] else { return nil }
            header.classKeyID = key.id
            return .background(.seal(header, attributes, protection, secret, under: key))
        case .foreground:
            guard let key = foreground?[protection.accessibility] else { return nil }
            header.classKeyID = key.id
            return .foreground(.seal(header, attributes, protection, secret, under: key))
        }
    }
}
