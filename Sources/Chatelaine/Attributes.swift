/// An item's attributes, or a query for them, with the keys of the contract (INTERFACE, attributes and
/// queries). The broker judges them; this only carries them.
public struct Attributes: Sendable, Equatable {
    /// The entries, in the order in which they were given or came.
    public private(set) var entries: [Entry] = []

    /// A key and its value.
    public struct Entry: Sendable, Equatable {
        /// As in the contract, such as `Service`.
        public let key: String
        /// In the key's type.
        public let value: Value
    }

    /// The types that attributes have.
    public enum Value: Sendable, Equatable {
        /// `s`
        case text(String)
        /// `ay`
        case bytes([UInt8])
        /// `u`
        case number(UInt32)
        /// `b`
        case flag(Bool)
        /// `t`: a time in microseconds since the Unix epoch, or a revision
        case counter(UInt64)
        /// `(sas)`
        case accessControl(protection: String, flags: [String])
    }

    /// None.
    public init() {}

    /// The value of a key. Setting it replaces the value in its place; nil removes it.
    public subscript(key: String) -> Value? {
        get { entries.first { $0.key == key }?.value }
        set {
            let index = entries.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): entries[index] = Entry(key: key, value: value)
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(key: key, value: value))
            case (nil, nil): break
            }
        }
    }
}
