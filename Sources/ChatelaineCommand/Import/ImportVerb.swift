internal import BrokerHost
internal import Chatelaine
internal import Console
internal import CredentialProtocols
internal import SDBus

/// `import`: shows what it would copy, copies it, has the broker compare each with the old one, and only then removes the
/// old, where that is wanted.
@BrokerActor enum ImportVerb {
    static func fromFile(_ kind: CredentialFile.Kind, _ context: Context) async throws(Failure) {
        let invocation = context.invocation
        try check(invocation)
        guard invocation[.replace] != "newer" else {
            throw .usage(
                "a file does not say when a line was changed; --replace has no 'newer' there", invocation.verb
            )
        }
        guard let path = invocation.operands.first ?? kind.standardPath else {
            throw .usage("HOME is not set; name the file", invocation.verb)
        }
        let place = try OldCredentialFile(kind, path, to: invocation[.group], try context.connect())
        try await move(from: place, context)
    }

    static func fromKeyring(_ context: Context) async throws(Failure) {
        let invocation = context.invocation
        try check(invocation)
        guard invocation.endpoint != .system else {
            throw .usage(
                "another keyring is on the session's bus, and moves to the broker of the user",
                invocation.verb)
        }
        let keyring = try await OldKeyring.find(besides: try context.connect())
        try await keyring.open(asking: mayAsk(context), hasLeave: invocation.has(.apply))
        try await keyring.collect(to: invocation[.group], schemas: invocation.all(.schema))
        try await move(from: keyring, context)
    }

    private static func check(_ invocation: Invocation) throws(Failure) {
        guard invocation[.group] != "" else { throw .usage("--group needs a value", invocation.verb) }
        for option in [Option.replace, .removeOld] where invocation.has(option) && !invocation.has(.apply) {
            throw .usage("\(option.name) is for --apply", invocation.verb)
        }
    }

    private static func mayAsk(_ context: Context) -> Bool {
        !context.invocation.isJSON && Question.canBeAsked
    }

    private static func move(from place: some OldPlace, _ context: Context) async throws(Failure) {
        let invocation = context.invocation
        let replacing: ImportRun.Replacing =
            switch invocation[.replace] {
            case nil: .nothing
            case "newer": .older
            default: .everything
            }
        var run = ImportRun(place, replacing)
        let report = ImportReport(context)
        try await run.look()
        try report.plan(run)
        let mayAsk = mayAsk(context)
        var isWanted = invocation.has(.apply)
        if !isWanted && mayAsk && run.toCopy > 0 { isWanted = try Question.ask("Copy \(run.toCopy)?") }
        if isWanted {
            try await run.copy()
            try report.copied(run)
            var isRemoving = invocation.has(.removeOld) && run.removable > 0
            if !isRemoving && mayAsk && run.removable > 0 {
                isRemoving = try Question.ask(
                    "Remove \(run.removable) from the old place, now that they were read back from the new one?"
                )
            }
            if isRemoving { try await run.removeOld() }
        }
        try report.end(run, wasWanted: isWanted)
        if isWanted && !run.isComplete {
            throw Failure(.failed, "not everything was moved; what was not is where it was")
        }
    }
}
