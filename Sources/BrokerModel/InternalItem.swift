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
    /// The class of an internal item: of the background, and tied to this device, where the group takes such.
    public var internalAccessible: Accessibility {
        if allows(.afterFirstUnlockThisDeviceOnly) { return .afterFirstUnlockThisDeviceOnly }
        return accessible.first { $0.side == .background } ?? defaultAccessible
    }
}
