public import BrokerModel
internal import SDBus
internal import Sodium

/// What a prompter is to ask, and what the person is told before it decides.
public struct PromptQuestion: Sendable {
    /// What is asked for.
    public enum Kind: String, Sendable {
        /// The passcode, to unlock the keychain with.
        case unlock
        /// The passcode, to show that the person is there.
        case confirm
        /// Nothing: the person is told why the system asks for its password, and may cancel that.
        case password
        /// Nothing: the person is told what the fingerprint reader waits for, and may cancel that.
        case finger
    }

    /// What is asked for.
    public let kind: Kind
    /// Its number, which nobody can guess.
    public let cookie: UInt64
    /// The program that asks, as the policy names it or by its path.
    public let program: String
    /// What its identity is worth.
    public let trust: Trust
    /// The window that the question belongs to, in the client's words.
    public let window: String
    /// The group of the items, and what the program wants to do with them; nil where it is about no item.
    public let items: (group: AccessGroup, operation: Operation)?

    /// To unlock the keychain.
    public init(program: String, trust: Trust, window: String) {
        kind = .unlock
        cookie = Random.number()
        self.program = program
        self.trust = trust
        self.window = window
        items = nil
    }

    /// To show that the person is there.
    public init(_ kind: Kind, _ question: PersonQuestion) {
        self.kind = kind
        cookie = question.cookie
        program = question.program
        trust = question.trust
        window = ""
        items = (question.group, question.operation)
    }

    /// As it goes over the bus.
    var values: [String: Variant] {
        var values = [
            "Kind": Variant(kind.rawValue), "Program": Variant(program), "Trust": Variant(trust.rawValue),
            "Window": Variant(window),
        ]
        if let items {
            values["Group"] = Variant(items.group.name)
            values["Operation"] = Variant(items.operation.rawValue)
        }
        return values
    }
}
