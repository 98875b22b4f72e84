/// The name of an access group: 1 to 255 bytes of printable ASCII without white space, so that a name
/// means the same in the policy, on the bus and in a log.
public struct AccessGroup: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name as it stands in the policy.
    public let name: String

    /// Nil for a name that no group can have.
    public init?(_ name: String) {
        guard (1...255).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        self.name = name
    }

    /// The name.
    public var description: String { name }

    /// Whether the name lies in one of the four families that no policy may grant: they follow from
    /// evidence alone (POLICY, the caller's groups).
    public var isReserved: Bool {
        Self.reservedPrefixes.contains { name.hasPrefix($0) }
    }

    /// The prefixes of the private groups.
    public static let reservedPrefixes = ["app.", "flatpak.", "snap.", "exe."]

    /// The order of the names' bytes.
    public static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}
