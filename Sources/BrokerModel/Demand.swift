/// What a gated item demands of a person before a call may use it.
public struct Demand: Hashable, Sendable {
    /// The item.
    public let reference: Reference
    /// Its revision; another one is another demand.
    public let revision: UInt64
    /// Its group.
    public let group: AccessGroup
    /// What the person must do.
    public let constraint: Constraint
    /// Whether nothing that a person does lets the call have the secret: its access control keeps that for use.
    public let isForKeyUse: Bool

    /// Nil for an item that is not gated. `withSecret`: whether the call is about the secret.
    public init?(_ item: ItemAttributes, withSecret: Bool) {
        guard case .accessControl(let control) = item.protection,
            let constraint = control.constraint(fingers: item.fingers)
        else { return nil }
        reference = item.reference
        revision = item.revision
        group = item.accessGroup
        self.constraint = constraint
        isForKeyUse = withSecret && control.flags.contains(.privateKeyUsage)
    }
}

/// What a person has shown, for one call: the demands that are met, each for the item as it was.
public struct Proofs: Sendable {
    private var met: [Reference: Demand] = [:]

    /// Nobody was asked.
    public static let none = Proofs()

    private init() {}

    /// The person has done what these ask for.
    public mutating func accept(_ demands: [Demand]) {
        for demand in demands { met[demand.reference] = demand }
    }

    /// Whether the demand is met. It is not where the item has changed since.
    public func meet(_ demand: Demand) -> Bool { met[demand.reference] == demand }
}
