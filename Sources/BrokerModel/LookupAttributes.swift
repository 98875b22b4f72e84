/// The attributes that an item of `org.freedesktop.secrets` is looked up by: names with values, each name once, in the
/// order of the names' bytes.
public struct LookupAttributes: Sendable, Equatable {
    /// The pairs, ascending by name.
    public let pairs: [Pair]

    /// One attribute; both are UTF-8 without NUL.
    public struct Pair: Sendable, Hashable {
        /// What it is called.
        public let name: [UInt8]
        /// Its value.
        public let value: [UInt8]

        /// Both.
        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// None.
    public init() { pairs = [] }

    /// Those of a list; of two with one name the later stands. Names are one where their bytes are, and not where a
    /// `String` takes them for one.
    public init(_ pairs: [Pair]) {
        // Most come so.
        if zip(pairs, pairs.dropFirst()).allSatisfy({ $0.name.lexicographicallyPrecedes($1.name) }) {
            self.pairs = pairs
            return
        }
        var values: [[UInt8]: [UInt8]] = [:]
        for pair in pairs { values[pair.name] = pair.value }
        self.pairs = values.map { Pair(name: $0.key, value: $0.value) }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Those of a dictionary.
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.map { Pair(name: Array($0.key.utf8), value: Array($0.value.utf8)) })
    }

    /// The same as a dictionary, where names that a `String` takes for one are one.
    public var dictionary: [String: String] {
        var dictionary: [String: String] = [:]
        for pair in pairs {
            dictionary[String(decoding: pair.name, as: UTF8.self)] = String(
                decoding: pair.value, as: UTF8.self)
        }
        return dictionary
    }

    /// Whether every pair of `filter` is here, byte for byte.
    public func contains(_ filter: LookupAttributes) -> Bool {
        let own = Set(pairs)
        return filter.pairs.allSatisfy(own.contains)
    }

    /// The one form in the vault: for each pair the name and the value, each with its length (4) before it.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for pair in pairs {
            for part in [pair.name, pair.value] {
                for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: part.count >> shift)) }
                bytes += part
            }
        }
        return bytes
    }

    /// Nil for bytes that are not the form of any attributes: there is one form of each.
    public init?(encoded bytes: [UInt8]) {
        var (pairs, rest): ([Pair], ArraySlice<UInt8>) = ([], bytes[...])
        while !rest.isEmpty {
            guard let name = Self.take(from: &rest), let value = Self.take(from: &rest),
                pairs.last.map({ $0.name.lexicographicallyPrecedes(name) }) ?? true
            else { return nil }
            pairs.append(Pair(name: name, value: value))
        }
        self.pairs = pairs
    }

    private static func take(from bytes: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard bytes.count >= 4 else { return nil }
        let count = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(4)
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        let text = Array(bytes.prefix(count))
        return text.contains(0) || (try? UTF8Span(validating: text.span)) == nil ? nil : text
    }
}
