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

    /// Whether a token is among them.
    func hasToken(_ token: [UInt8]) -> Bool {
        stride(from: 0, to: tokens.count - IndexKey.tokenBytes + 1, by: IndexKey.tokenBytes).contains {
            tokens[$0..<$0 + IndexKey.tokenBytes].elementsEqual(token)
        }
    }

    func hasExpired(at now: UInt64) -> Bool { expires.map { $0 <= now } ?? false }

    /// The two sealed parts.
    enum Part: UInt8 {
        case attributes = 1
        case secret = 2
    }

    /// What both parts of the row are bound to.
    func binding(side: Accessibility.Side) -> Binding {
        var data = ByteWriter(capacity: 96 + group.name.utf8.count)
        data.number(UInt32(0))
        for byte in [Self.version, 0, side.rawValue, itemClass.rawValue] { data.number(byte) }
        for flag in [synchronizable, isGated] { data.number(flag ? UInt8(1) : 0) }
        data.number(id)
        data.raw(reference.bytes)
        data.number(revision)
        data.number(created)
        data.number(modified)
        // No time is that late (RequestFields), so that "none" is not mistaken for one.
        data.number(expires ?? .max)
        data.number(freshUntil ?? .max)
        data.raw(primaryToken)
        data.counted(group.name.utf8)
        return Binding(bytes: data.bytes)
    }

    /// Associated data: the class key's number (4 bytes), version, part, and everything else of the header.
    ///
    /// A wrapped per-item key is bound to the class key that wraps it. The content is bound to no class key
    /// (0 in its place), so that class keys can be rolled by wrapping the per-item keys anew.
    struct Binding {
        fileprivate(set) var bytes: [UInt8]

        mutating func select(_ part: Part, classKeyID: UInt32) {
            for index in 0..<4 {
                bytes[index] = UInt8(truncatingIfNeeded: classKeyID >> UInt32(24 - 8 * index))
            }
            bytes[5] = part.rawValue
        }
    }

    /// The version of this layout and of ``SealedPart``.
    static let version: UInt8 = 1
}
