internal import BrokerModel

extension PersonQuestion {
    /// What polkit is to tell the person: it puts the other details into the message.
    var polkitDetails: [String: String] {
        [
            "polkit.message":
                "Authentication is required to let $(program) \(wish) what you protect in $(group). "
                + worth,
            "program": Self.shown(program), "group": Self.shown(group.name),
        ]
    }

    private var wish: String {
        switch operation {
        case .update: "change"
        case .search: "look at"
        default: "read"
        }
    }

    private var worth: String {
        switch trust {
        case .kernel: "The system vouches for the program's name."
        case .file: "The program was recognized by its file."
        case .user: "Nothing proves which program this is."
        }
    }

    // A file may be called anything.
    private static func shown(_ name: String) -> String {
        let shown = name.unicodeScalars.map { (scalar) -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: "?"
            default: scalar
            }
        }
        guard shown.count > shownMax else { return String(String.UnicodeScalarView(shown)) }
        // The end of a path is the program's name.
        let (head, tail) = (shown.prefix(shownMax / 2), shown.suffix(shownMax / 2))
        return String(String.UnicodeScalarView(head)) + "…" + String(String.UnicodeScalarView(tail))
    }

    private static let shownMax = 160
}
