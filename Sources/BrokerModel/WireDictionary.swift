public import Sodium

/// A request's `a{sv}` as it came: keys and values in the types that the contract knows, nothing judged.
public struct WireDictionary: Sendable {
    /// The entries in the order of the message.
    public private(set) var entries: [(key: String, value: Value)] = []

    /// A value; a type that no attribute has is `other`.
    public enum Value: Sendable {
        /// `s`
        case text([UInt8])
        /// `ay`
        case bytes([UInt8])
        /// `u`
        case number(UInt32)
        /// `b`
        case flag(Bool)
        /// `t`
        case time(UInt64)
        /// `(sas)`
        case accessControl(protection: String, flags: [String])
        /// `(oayay)`, decrypted
        case secret(SharedSecret)
        /// Anything else
        case other
    }

    /// An empty dictionary.
    public init() { entries.reserveCapacity(4) }

    /// Takes one entry; `TooLarge` beyond ``Limits/dictionaryEntriesMax``.
    public mutating func append(_ key: String, _ value: Value) throws(Refusal) {
        guard entries.count < Limits.dictionaryEntriesMax else {
            throw Refusal(.tooLarge, "The request names more attributes than an item can have.")
        }
        entries.append((key, value))
    }

    /// Puts a value in the place of one that could not be read before.
    public mutating func replace(at index: Int, by value: Value) { entries[index].value = value }
}

extension WireDictionary {
    /// The group that a query names, where it names one that can exist; whatever else is wrong with it.
    public var namedGroup: AccessGroup? {
        for case ("AccessGroup", .text(let bytes)) in entries {
            return AccessGroup(String(decoding: bytes, as: UTF8.self))
        }
        return nil
    }
}
