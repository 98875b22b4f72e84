/// What is added of an internal class, beside the secret.
public struct InternalItem: Sendable {
    /// The class.
    public let itemClass: ItemClass
    /// Its attributes.
    public let attributes: AttributeSet

    /// `NoSuchAttribute` for one that the class does not have, `TooLarge` for more than an item may have.
    public init(_ itemClass: ItemClass, _ attributes: AttributeSet) throws(Refusal) {
        for pair in attributes.pairs where !pair.key.belongs(to: itemClass) { throw .foreignAttribute }
        try attributes.checkSize()
        self.itemClass = itemClass
        self.attributes = attributes
    }
}

extension AttributeSet {
    /// `TooLarge` for more than one item may have.
    public func checkSize() throws(Refusal) {
        guard byteCount <= Limits.itemAttributesBytesMax else {
            throw Refusal(.tooLarge, "The attributes of one item have 256 KiB at most.")
        }
        guard lookup.pairs.count <= Limits.lookupAttributesMax else {
            throw Refusal(.tooLarge, "An item is looked up by 1024 attributes at most.")
        }
    }
}

extension GroupRules {
    /// The class of an internal item: of the background, and tied to this device, where the group takes such or the secret
    /// alone is in the foreground.
    public func internalAccessible(isSecretApart: Bool) -> Accessibility {
        if allows(.afterFirstUnlockThisDeviceOnly) || isSecretApart { return .afterFirstUnlockThisDeviceOnly }
        return accessible.first { $0.side == .background } ?? defaultAccessible
    }

    /// The class of every internal item's secret where they are apart from the items: the group's first, if that is one of
    /// the foreground.
    public var internalSecretAccessible: Accessibility? {
        accessible.first.flatMap { $0.side == .foreground ? $0 : nil }
    }
}

extension AttributeSet {
    /// The class of the secret where it is apart from the item.
    public var secretAccessible: Accessibility? {
        get {
            guard case .number(let number)? = self[.secretAccessible] else { return nil }
            return UInt8(exactly: number).flatMap(Accessibility.init(rawValue:))
        }
        set { self[.secretAccessible] = newValue.map { .number(UInt32($0.rawValue)) } }
    }
}
