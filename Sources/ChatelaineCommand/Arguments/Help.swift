internal import Console

/// The text of `--help`, made from the tables.
enum Help {
    /// Of a verb, or of the command.
    static func text(for verb: Verb?) -> String { verb.map(of) ?? overview }

    private static var overview: String {
        let forms = Option.global.prefix(4).map(\.form)
        return """
            Usage: chatelaine [\(forms[0]) | \(forms[1]) | \(forms[2])] [\(forms[3])] VERB [ARGUMENT...]

            Talks to the credential broker of the user, or with --system of the system.

            Verbs:
            \(columns(Verb.allCases.map { ($0.rawValue, $0.summary) }))
            Options, before the verb:
            \(columns(Option.global.map { ($0.form, $0.summary) }))
            A secret comes from standard input or a prompt, never from the arguments.
            'chatelaine VERB --help' shows the verb's options; chatelaine(1) explains them.

            """
    }

    private static func of(_ verb: Verb) -> String {
        let (names, required) = verb.operands
        let words = names.enumerated().map { $0 < required ? " \($1)" : " [\($1)]" }.joined()
        let operands = verb.takesCommand ? " --" + words : words
        let options = verb.options.isEmpty ? "" : " [OPTION...]"
        let summary = verb.summary.prefix(1).uppercased() + verb.summary.dropFirst()
        let list =
            verb.options.isEmpty ? "" : "\nOptions:\n" + columns(verb.options.map { ($0.form, $0.summary) })
        return "Usage: chatelaine [...] \(verb.rawValue)\(options)\(operands)\n\n\(summary).\n\(list)"
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        Table.lines(
            rows.map { [Table.Cell("  " + $0.0), Table.Cell($0.1)] }, Style(isColoured: false))
    }
}

extension Option {
    /// What it means, in a few words.
    var summary: String {
        switch self {
        case .user: "the broker of the user (the default)"
        case .system: "the broker of the system"
        case .address: "the broker on the bus, or the direct endpoint, at that D-Bus address"
        case .json: "print JSON"
        case .help: "print this"
        case .version: "print the version"
        case .itemClass: "generic-password (the default) or internet-password"
        case .service: "service of a generic password"
        case .account: "account"
        case .server: "server of an internet password"
        case .port: "port of an internet password"
        case .protocol: "protocol of an internet password"
        case .path: "path of an internet password"
        case .securityDomain: "security domain of an internet password"
        case .authenticationType: "authentication type of an internet password"
        case .label: "label, for people"
        case .description: "description, for people"
        case .comment: "comment, for people"
        case .generic: "an attribute for programs"
        case .group: "access group"
        case .accessible: "when the item can be read, such as when-unlocked"
        case .synchronizable: "a synchronizable item; 'any' matches the others too"
        case .reference: "the item with this persistent reference, and no other option"
        case .expires: "the item is gone then: 8h, or 2030-01-31T12:00:00Z"
        case .freshUntil: "the secret should be renewed by then"
        case .attributesOnly: "print the attributes, not the secret"
        case .all: "delete every match"
        case .ifRevision: "only if the item has this revision; 0 with set: if there is none"
        case .limit: "at most so many"
        case .reason: "why, for the programs that are told"
        case .force: "as administrator, whatever groups this program has"
        case .stale: "the revision that is to be replaced; without it the one there is"
        case .schema: "only items whose attribute xdg:schema is this"
        case .apply: "copy; without it only the plan is shown, or a question asked"
        case .replace: "also where another secret is there; 'newer': only if the old place's is newer"
        case .removeOld: "remove from the old place what was read back from the new one"
        case .discardOld: "also where there is one, which then opens nothing any more"
        case .lose: "agrees that at most so many items are lost, and asks nobody"
        case .timeout: "how long to wait for somebody else's refresh; without it 60, and 0 not at all"
        }
    }
}
