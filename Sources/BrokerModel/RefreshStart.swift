/// The answer to `Begin`.
public struct RefreshStart {
    /// Nil for `current`.
    public let fence: UInt64?
    /// The item as it is.
    public let item: ItemWithSecret

    /// Both fields.
    public init(fence: UInt64?, item: ItemWithSecret) {
        self.fence = fence
        self.item = item
    }
}

extension Refusal {
    /// A fence that was passed on, revoked, or is somebody else's.
    public static let leaseLost = Refusal(
        .leaseLost, "This refresh was passed on or revoked; nothing was stored. Read the item again.")
    /// Somebody else is refreshing, and did not end in time.
    public static let refreshBusy = Refusal(
        .busy, "Another program is refreshing the item; wait longer, and do not refresh it yourself.")
}
