internal import BrokerHost
internal import BrokerModel
internal import BrokerPolicy

/// What the doctor sees of what locks keychains: logind, and `LockOn=` of the broker's configuration.
enum LockExamination {
    static func finding(hasLogind: Bool, _ causes: Set<LockCause>?) -> Finding {
        guard hasLogind else {
            return Finding(
                "logind", .absent, "nothing tells when the session is locked; chatelaine lock does")
        }
        guard let causes else {
            return Finding("logind", .good, "tells of sessions; LockOn= of chatelained.conf cannot be read")
        }
        if causes.isEmpty {
            return Finding(
                "logind", .good, "tells of sessions, and no session locks a keychain (LockOn=none)")
        }
        let words = LockCause.allCases.filter(causes.contains).map(\.rawValue)
        return Finding(
            "logind", .good,
            "tells of sessions; keychains with a passcode lock on \(words.joined(separator: ", "))")
    }

    /// What locks where the broker was started with these arguments. Nil where its file cannot be read, or says what no
    /// broker takes.
    static func causes(_ arguments: [String]) -> Set<LockCause>? {
        let named = BrokerArguments.value(of: "--config", in: arguments)
        let path = named ?? "/etc/chatelaine/chatelained.conf"
        guard named != nil || HostFile.exists(path) else { return Set(LockCause.allCases) }
        guard let contents = try? HostFile.read(path, limit: 1 << 20).bytes else { return nil }
        return causes(in: PolicyFile(path: path, contents: contents, origin: .system))
    }

    static func causes(in file: PolicyFile) -> Set<LockCause>? {
        guard let text = try? PolicyText(file) else { return nil }
        let value = text.sections.flatMap(\.entries).last { $0.key == "LockOn" }?.value
        return value.map(LockCause.set) ?? Set(LockCause.allCases)
    }
}

/// The command line that a broker was started with.
enum BrokerArguments {
    /// The value of an option, in one argument with it or in the next.
    static func value(of name: String, in arguments: [String]) -> String? {
        var found: String?
        for (index, argument) in arguments.enumerated() {
            if argument.hasPrefix(name + "=") { found = String(argument.dropFirst(name.count + 1)) }
            if argument == name, index + 1 < arguments.count { found = arguments[index + 1] }
        }
        return found
    }
}
