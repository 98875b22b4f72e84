internal import BrokerModel
internal import Sodium

/// Makes the tokens by which items are found: BLAKE2b of a value under a key that is there after first
/// unlock. Equality only; without the key a token tells nothing about the value (docs/FORMATS.md).
final class IndexKey {
    /// Keyed, so 16 bytes are out of reach of a chosen collision.
    static let tokenBytes = 16

    private let key: Key

    /// Nil unless there are 32 bytes.
    init?(_ bytes: consuming Secret) {
        guard let key = Key(bytes) else { return nil }
        self.key = key
    }

    private enum Domain: UInt8 {
        case attribute = 1
        case itemClass = 2
        case primaryKey = 3
        case lookup = 4
        case reference = 5
    }

    /// The token of one attribute's value, in whatever group.
    func token(of key: AttributeKey, _ value: AttributeValue, itemClass: ItemClass) -> [UInt8] {
        var message = ByteWriter(capacity: 64)
        message.raw([Domain.attribute.rawValue, itemClass.rawValue, key.rawValue])
        Self.write(value, to: &message)
        return hash(message)
    }

    /// The token of one of an item's lookup attributes, in whatever group and collection.
    func token(of pair: LookupAttributes.Pair, itemClass: ItemClass) -> [UInt8] {
        var message = ByteWriter(capacity: 64)
        message.raw([Domain.lookup.rawValue, itemClass.rawValue])
        message.counted(pair.name)
        message.counted(pair.value)
        return hash(message)
    }

    /// The token of what is known by its reference alone.
    func primaryToken(_ reference: Reference, itemClass: ItemClass) -> [UInt8] {
        var message = ByteWriter(capacity: 32)
        message.raw([Domain.reference.rawValue, itemClass.rawValue])
        message.raw(reference.bytes)
        return hash(message)
    }

    /// The token of all items of a class in a group.
    func token(of itemClass: ItemClass, in group: AccessGroup) -> [UInt8] {
        var message = ByteWriter(capacity: 64)
        message.raw([Domain.itemClass.rawValue, itemClass.rawValue])
        message.counted(group.name.utf8)
        return hash(message)
    }

    /// The token of a primary key. An omitted attribute equals the empty one.
    func primaryToken(
        _ attributes: AttributeSet, itemClass: ItemClass, group: AccessGroup, synchronizable: Bool
    ) -> [UInt8] {
        var message = ByteWriter(capacity: 128)
        message.raw([Domain.primaryKey.rawValue, itemClass.rawValue, synchronizable ? 1 : 0])
        message.counted(group.name.utf8)
        for key in itemClass.primaryKey {
            Self.write(attributes[key] ?? key.emptyValue, to: &message)
        }
        return hash(message)
    }

    /// Every token that an item stands in the index under, its class first, one behind the other.
    func tokens(_ attributes: AttributeSet, itemClass: ItemClass, group: AccessGroup) -> [UInt8] {
        var tokens = token(of: itemClass, in: group)
        for pair in attributes.pairs where pair.key.isIndexed(in: itemClass) {
            tokens += token(of: pair.key, pair.value, itemClass: itemClass)
        }
        if itemClass == .secretServiceItem {
            for pair in attributes.lookup.pairs { tokens += token(of: pair, itemClass: itemClass) }
        }
        for key in itemClass.primaryKey where attributes[key] == nil {
            tokens += token(of: key, key.emptyValue, itemClass: itemClass)
        }
        return tokens
    }

    private func hash(_ message: ByteWriter) -> [UInt8] {
        Blake2b.hash(message.bytes, key: key, count: Self.tokenBytes)
    }

    // Text and bytes of the same content are one value, so they are written alike.
    private static func write(_ value: AttributeValue, to message: inout ByteWriter) {
        switch value {
        case .text(let bytes), .bytes(let bytes):
            message.raw([1])
            message.counted(bytes)
        case .number(let number):
            message.raw([2])
            message.number(number)
        case .flag(let flag): message.raw([3, flag ? 1 : 0])
        }
    }
}

extension AttributeKey {
    /// What an omitted attribute of a primary key equals.
    var emptyValue: AttributeValue { kind == .number ? .number(0) : .bytes([]) }
}
