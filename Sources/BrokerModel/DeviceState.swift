/// Which class keys are in memory (SEMANTICS 5.2).
public enum DeviceState: String, Sendable {
    case beforeFirstUnlock = "before-first-unlock"
    case locked
    case unlocked
}
