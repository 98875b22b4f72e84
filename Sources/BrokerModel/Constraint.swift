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
        /// A finger of those that were enrolled when the item was stored. Nil: they were seen to have changed, or it was
        /// never known which they are, and no finger serves.
        case enrolledFinger(FingerSet?)
        /// The keychain's passcode.
        case passcode
    }

    /// Whether it is the passcode and nothing else.
    public var isPasscodeAlone: Bool { factors == [.passcode] }

    /// The fingers that it is bound to, where it is.
    public var fingers: FingerSet? {
        for case .enrolledFinger(let fingers?) in factors { return fingers }
        return nil
    }

    /// Whether a finger is asked for that was enrolled when the item was stored.
    public var isForEnrolledFinger: Bool { fingers != nil || factors.contains(.enrolledFinger(nil)) }

    /// Whether nobody can meet it any more.
    public var isClosed: Bool {
        factors.contains(.enrolledFinger(nil)) && (needsAll || factors.count == 1)
    }
}

extension AccessControl {
    /// What a person must do before an item is used that is bound to these fingers; nil where nobody is asked.
    public func constraint(fingers: FingerSet?) -> Constraint? {
        let factors = Flag.allCases.filter(flags.contains).compactMap { $0.factor(fingers) }
        return factors.isEmpty ? nil : Constraint(factors: factors, needsAll: flags.contains(.and))
    }
}

extension AccessControl.Flag {
    /// What a person does for it; nil for a word that is no constraint.
    func factor(_ fingers: FingerSet?) -> Constraint.Factor? {
        switch self {
        case .userPresence: .presence
        case .biometryAny: .anyFinger
        case .biometryCurrentSet: .enrolledFinger(fingers)
        case .devicePasscode: .passcode
        case .privateKeyUsage, .applicationPassword, .or, .and: nil
        }
    }
}
