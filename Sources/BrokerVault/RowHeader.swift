internal import BrokerModel

/// What stands beside a row's sealed parts in clear. All of it is bound to them as associated data, so
/// that a row cannot be swapped, moved or given another group, class or revision (docs/FORMATS.md).
struct RowHeader {
    var id: Int64
    var groupID: Int64
    var group: AccessGroup
    var itemClass: ItemClass
    var classKeyID: UInt32
    var reference: Reference
    var revision: UInt64
    var created: UInt64
    var modified: UInt64
    var expires: UInt64?
    var freshUntil: UInt64?
    var synchronizable: Bool
    var isGated: Bool
    var primaryToken: [UInt8]
    /// The tokens that the item stands in the index under, one behind the other, so that a locked item can
    /// be taken out of it. Not bound: an open row is held against the tokens of its own attributes.
    var tokens: [UInt8]
    /// Bytes of attributes and secret before sealing, for the group's quota; not bound.
    var size: Int

    var tokenList: [[UInt8]] {
        stride(from: 0, to: tokens.count - IndexKey.tokenBytes + 1, by: IndexKey.tokenBytes).map {
            Array(tokens[$0..<$0 + IndexKey.tokenBytes])
        }
    }

    func hasExpired(at now: UInt64) -> Bool { expires.map { $0 <= now } ?? false }

    /// The two sealed parts.
    enum Part: UInt8 {
        case attributes = 1
        case secret = 2
    }

    /// Binds a part to everything but the class key, so that class keys can be rolled by wrapping the
    /// per-item keys anew.
    func associatedData(_ part: Part, side: Accessibility.Side) -> [UInt8] {
        var data = ByteWriter(capacity: 160)
        data.raw([Self.version, part.rawValue, side.rawValue, itemClass.rawValue])
        data.raw([synchronizable ? 1 : 0, isGated ? 1 : 0])
        data.number(id)
        data.raw(reference.bytes)
        data.number(revision)
        data.number(created)
        data.number(modified)
        data.number(expires ?? 0)
        data.number(freshUntil ?? 0)
        data.raw(primaryToken)
        data.counted(group.name.utf8)
        return data.bytes
    }

    /// Binds a wrapped per-item key to its part and to the class key that wraps it.
    static func wrappingData(_ associatedData: [UInt8], classKeyID: UInt32) -> [UInt8] {
        var data = ByteWriter(capacity: associatedData.count + 4)
        data.raw(associatedData)
        data.number(classKeyID)
        return data.bytes
    }

    /// The version of this layout and of ``SealedPart``.
    static let version: UInt8 = 1
}
