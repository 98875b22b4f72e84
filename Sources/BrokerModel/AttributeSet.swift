/// Attributes by key, each at most once, in the order of their keys.
public struct AttributeSet: Sendable, Equatable {
    /// The pairs, ascending by key.
    public private(set) var pairs: [Pair] = []

    /// One attribute.
    public struct Pair: Sendable, Equatable {
        /// Which attribute.
        public let key: AttributeKey
        /// Its value.
        public var value: AttributeValue
    }

    /// The empty set.
    public init() {}

    /// The value of an attribute, nil where it was not given.
    public subscript(key: AttributeKey) -> AttributeValue? {
        get { pairs.first { $0.key == key }?.value }
        set {
            if let newValue, pairs.last.map({ $0.key < key }) ?? true {
                return pairs.append(Pair(key: key, value: newValue))
            }
            let index = pairs.firstIndex { $0.key >= key } ?? pairs.count
            let exists = index < pairs.count && pairs[index].key == key
            switch (exists, newValue) {
            case (true, let value?): pairs[index].value = value
            case (true, nil): pairs.remove(at: index)
            case (false, let value?): pairs.insert(Pair(key: key, value: value), at: index)
            case (false, nil): break
            }
        }
    }

    /// What is stored as ``AttributeKey/lookup``; none where nothing is, or something else.
    public var lookup: LookupAttributes {
        get { LookupAttributes(encoded: self[.lookup]?.blob ?? []) ?? LookupAttributes() }
        set { self[.lookup] = .bytes(newValue.encoded) }
    }

    /// The bytes of all values, against ``Limits/itemAttributesBytesMax``.
    public var byteCount: Int { pairs.reduce(0) { $0 + $1.value.byteCount } }

    /// Whether every pair of `filter` is here. An omitted primary-key attribute equals the empty one.
    public func contains(_ filter: AttributeSet, of itemClass: ItemClass) -> Bool {
        filter.pairs.allSatisfy { wanted in
            if wanted.key == .lookup {
                // Mostly somebody asks for all that there is.
                if wanted.value.blob == self[.lookup]?.blob { return true }
                let all = LookupAttributes(encoded: wanted.value.blob ?? [])
                return all.map(lookup.contains) ?? false
            }
            if let value = self[wanted.key] { return value.matches(wanted.value) }
            return wanted.value.isEmpty && itemClass.primaryKey.contains(wanted.key)
        }
    }
}
