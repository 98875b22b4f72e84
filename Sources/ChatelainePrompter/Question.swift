internal import BrokerModel
internal import Console
internal import SDBus

/// What the broker wants a person to be asked, `a{sv}`. What it does not say is as if nothing were known.
struct Question: BusDecodable {
    private let values: [String: Text]

    static var signature: String { "a{sv}" }

    init(from reader: inout MessageReader) throws(BusError) { values = try reader.read() }

    /// What the dialog says. The program's name is that of any file: nothing in it may steer or flood the dialog.
    var description: String {
        """
        \(wish)
        \(trust)

        \(request)
        """
    }

    /// What is asked for.
    enum Kind: String {
        /// The passcode, to unlock the keychain.
        case unlock
        /// The passcode, to show that the person is there, and to unlock nothing.
        case confirm
        /// Nothing: somebody else asks for the password.
        case password
        /// Nothing: the fingerprint reader waits for a finger.
        case finger
    }

    /// What is asked for; an unlock where nothing is said of it.
    var kind: Kind { Kind(rawValue: values["Kind"]?.value ?? "") ?? .unlock }

    private var request: String {
        switch kind {
        case .unlock: "Type the passcode to unlock it, or cancel."
        case .confirm: "Type the passcode to allow it once, or cancel."
        case .finger: "Touch the fingerprint reader to allow it once."
        case .password: "To allow it once, answer the system, which asks for your password beside this."
        }
    }

    private var wish: String {
        if kind == .unlock { return "\(program) asks for the keychain to be unlocked." }
        let group = Self.shortened(values["Group"]?.value ?? "")
        switch values["Operation"]?.value {
        case "update": return "\(program) wants to change what you protect in \(group)."
        case "search": return "\(program) wants to look at what you protect in \(group)."
        default: return "\(program) wants to read what you protect in \(group)."
        }
    }

    private var program: String {
        guard let name = values["Program"]?.value, !name.isEmpty else { return "A program" }
        return Self.shortened(name)
    }

    private static func shortened(_ name: String) -> String {
        let scalars = Array(name.printable.unicodeScalars)
        guard scalars.count > nameMax else { return name.printable }
        let (head, tail) = (scalars.prefix(nameMax / 2), scalars.suffix(nameMax / 2))
        return String(String.UnicodeScalarView(head)) + "…" + String(String.UnicodeScalarView(tail))
    }

    private static let nameMax = 160

    private var trust: String {
        switch Trust(rawValue: values["Trust"]?.value ?? "") {
        case .kernel: "The system vouches for it: no other program can pass for it."
        case .file:
            "It was recognized by its file. Another program of yours could pass for it with some effort."
        case .user, nil: "Nothing proves which program this is: any program of yours could say so."
        }
    }

    /// The window of X11 that the dialog belongs to: clients give it in decimal digits, or as portals do.
    var window: UInt32? {
        let text = values["Window"]?.value ?? ""
        return text.hasPrefix("x11:") ? UInt32(text.dropFirst(4), radix: 16) : UInt32(text)
    }

    /// A text in a variant; other values are passed over.
    private struct Text: BusDecodable {
        let value: String?

        static var signature: String { "v" }

        init(from reader: inout MessageReader) throws(BusError) {
            let contents = try reader.peekType().contents
            _ = try reader.enter(UInt8(ascii: "v"), contents: contents)
            if contents == "s" {
                value = try reader.read()
            } else {
                try reader.skip()
                value = nil
            }
            try reader.exit()
        }
    }
}
