internal import BrokerHost

/// Colours, for a terminal whose owner wants them.
struct Style {
    let isColoured: Bool

    /// For standard output, unless it is no terminal, or NO_COLOR or TERM=dumb is set.
    static var ofStandardOutput: Style {
        let isWanted =
            HostEnvironment.variable("NO_COLOR") == nil && HostEnvironment.variable("TERM") != "dumb"
        return Style(isColoured: isWanted && Streams.isTerminal(1))
    }

    /// How a text stands out.
    enum Tone: String {
        case bold = "1"
        case good = "32"
        case middling = "33"
        case bad = "31"
    }

    /// The text in that tone, or as it is.
    func apply(_ tone: Tone?, to text: String) -> String {
        guard isColoured, let tone, !text.isEmpty else { return text }
        return "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m"
    }
}
