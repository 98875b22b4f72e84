/// Which items of `org.freedesktop.secrets` have a secret of the foreground by what the policy says of that front, beside
/// what their groups say.
public struct ForegroundSecrets: Sendable {
    private let groups: Set<AccessGroup>
    private let isSchema: @Sendable (String) -> Bool

    /// No item.
    public static let none = ForegroundSecrets(groups: []) { _ in false }

    /// All items of the groups, and of whatever group those whose `xdg:schema` `isSchema` takes.
    public init(groups: Set<AccessGroup>, isSchema: @escaping @Sendable (String) -> Bool) {
        self.groups = groups
        self.isSchema = isSchema
    }

    /// The class of an item's secret where it is apart from the item, so that a locked one can be found: the group's first,
    /// if that is one of the foreground, and else `when-unlocked-this-device-only` for what is meant here, unless the group
    /// takes `when-unlocked`. Nil where the secret is of the background, as the item is.
    public func accessibility(
        of lookup: LookupAttributes, in group: AccessGroup, under rules: GroupRules
    ) -> Accessibility? {
        if let first = rules.internalSecretAccessible { return first }
        guard groups.contains(group) || lookup.schema.map(isSchema) ?? false else { return nil }
        let taken = rules.accessible.first { $0 == .whenUnlocked || $0 == .whenUnlockedThisDeviceOnly }
        return taken ?? .whenUnlockedThisDeviceOnly
    }
}

extension LookupAttributes {
    /// What kind of item it is, by the word of whoever stored it.
    public var schema: String? {
        let value = pairs.first { $0.name.elementsEqual("xdg:schema".utf8) }?.value
        return value.map { String(decoding: $0, as: UTF8.self) }
    }
}
