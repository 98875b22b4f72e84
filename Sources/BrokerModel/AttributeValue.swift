/// One attribute's value, in the type it was given in.
public enum AttributeValue: Sendable, Hashable {
    /// `s`: UTF-8, no NUL
    case text([UInt8])
    /// `ay`
    case bytes([UInt8])
    /// `u`
    case number(UInt32)
    /// `b`
    case flag(Bool)

    /// Whether both stand for the same value: text and bytes are equal when their bytes are (S009).
    public func matches(_ other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.number(let left), .number(let right)): left == right
        case (.flag(let left), .flag(let right)): left == right
        default: blob != nil && blob == other.blob
        }
    }

    /// The bytes of text or bytes; nil for the other kinds.
    public var blob: [UInt8]? {
        switch self {
        case .text(let bytes), .bytes(let bytes): bytes
        case .number, .flag: nil
        }
    }

    /// Its size against ``Limits/attributeValueBytesMax``.
    public var byteCount: Int { blob?.count ?? 4 }

    /// Whether an omitted primary-key attribute equals it: no bytes, or the number 0.
    public var isEmpty: Bool { self == .number(0) || blob?.isEmpty == true }
}
