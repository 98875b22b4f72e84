internal import Chatelaine
internal import Console

/// What a command line asks for.
enum Request: Equatable {
    case run(Invocation)
    case help(Verb?)
    case version

    /// Reads the arguments without the program's name.
    static func parse(_ arguments: [String]) throws(Failure) -> Request {
        var words = Words(arguments)
        var global = Global()
        while words.peek() == .option {
            let found = try words.option(of: nil)
            switch found.option {
            case .help: return .help(nil)
            case .version: return .version
            case .json: global.isJSON = true
            case .user: try global.choose(.user)
            case .system: try global.choose(.system)
            default: try global.choose(.address(found.value))
            }
        }
        guard let verb = try words.verb() else { return .help(nil) }
        return try invocation(of: verb, global, &words)
    }

    private static func invocation(
        of verb: Verb, _ global: Global, _ words: inout Words
    ) throws(Failure) -> Request {
        var invocation = Invocation(verb)
        invocation.endpoint = global.endpoint ?? .user
        invocation.isJSON = global.isJSON
        scan: while true {
            switch words.peek() {
            case .end: break scan
            case .word:
                guard !verb.takesCommand || words.optionsAreOver else {
                    throw .usage("the command stands behind --", verb)
                }
                invocation.operands.append(words.next())
            case .option:
                let found = try words.option(of: verb)
                if found.option == .help { return .help(verb) }
                try invocation.add(found.option, found.value)
            }
        }
        try check(invocation)
        return .run(invocation)
    }

    private static func check(_ invocation: Invocation) throws(Failure) {
        let (names, required) = invocation.verb.operands
        let operands = invocation.operands
        if operands.count < required {
            throw .usage("\(names[operands.count]) is missing", invocation.verb)
        }
        guard operands.count > names.count, !invocation.verb.takesCommand else { return }
        if invocation.verb.takesSecret {
            throw .usage(
                "a word too many; a secret comes from standard input, never from the arguments",
                invocation.verb)
        }
        throw .usage("'\(operands[names.count].printable)' is a word too many", invocation.verb)
    }

    /// The options before the verb.
    private struct Global {
        var endpoint: Endpoint?
        var isJSON = false

        mutating func choose(_ chosen: Endpoint) throws(Failure) {
            guard endpoint == nil else {
                throw .usage("one of --user, --system and --address is enough")
            }
            endpoint = chosen
        }
    }
}
