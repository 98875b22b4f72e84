/// What is added of an internal class, beside the secret.
public struct InternalItem: Sendable {
    /// The class.
    public let itemClass: ItemClass
    /// Its attributes.
    public let attributes: AttributeSet

    /// `TooLarge` for more than an item may have. The attributes are those of the class.
    public init(_ itemClass: ItemClass, _ attributes: AttributeSet) throws(Refusal) {
        guard attributes.byteCount <= Limits.itemAttributesBytesMax else {
            throw Refusal(.tooLarge, "The attributes of one item have 256 KiB at most.")
        }
        self.itemClass = itemClass
        self.attributes = attributes
    }
}

extension GroupRules {
    /// The class of an internal item: of the background, and tied to this device, where the group takes such.
    public var internalAccessible: Accessibility {
        if allows(.afterFirstUnlockThisDeviceOnly) { return .afterFirstUnlockThisDeviceOnly }
        return accessible.first { $0.side == .background } ?? defaultAccessible
    }
}
