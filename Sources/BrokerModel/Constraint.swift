/// What an access control has a person do, and how its parts are joined.
public struct Constraint: Hashable, Sendable {
    /// The parts, in the order that they are asked in; never empty.
    public let factors: [Factor]
    /// Whether all of them are needed; else one is enough.
    public let needsAll: Bool

    /// One thing that a person can do.
    public enum Factor: Hashable, Sendable {
        /// To show in any way that it is there.
        case presence
        /// Any finger that is enrolled.
        case anyFinger
        /// A finger of those that were enrolled when the item was stored.
        case enrolledFinger
        /// The keychain's passcode.
        case passcode
    }

    /// Whether it is the passcode and nothing else.
    public var isPasscodeAlone: Bool { factors == [.passcode] }
}

extension AccessControl {
    /// What a person must do before the item is used; nil where nobody is asked.
    public var constraint: Constraint? {
        let factors = Flag.allCases.filter(flags.contains).compactMap(\.factor)
        return factors.isEmpty ? nil : Constraint(factors: factors, needsAll: flags.contains(.and))
    }
}

extension AccessControl.Flag {
    /// What a person does for it; nil for a word that is no constraint.
    var factor: Constraint.Factor? {
        switch self {
        case .userPresence: .presence
        case .biometryAny: .anyFinger
        case .biometryCurrentSet: .enrolledFinger
        case .devicePasscode: .passcode
        case .privateKeyUsage, .applicationPassword, .or, .and: nil
        }
    }
}
