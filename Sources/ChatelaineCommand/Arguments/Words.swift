internal import Console

/// The words of a command line, taken from the front.
struct Words {
    private var rest: ArraySlice<String>
    private(set) var optionsAreOver = false

    init(_ words: [String]) {
        rest = words[...]
    }

    /// What can come next.
    enum Kind {
        case option
        case word
        case end
    }

    /// What comes next. A lone dash is a word, and everything is one after `--`.
    mutating func peek() -> Kind {
        if !optionsAreOver && rest.first == "--" {
            rest.removeFirst()
            optionsAreOver = true
        }
        guard let word = rest.first else { return .end }
        return !optionsAreOver && word.hasPrefix("-") && word != "-" ? .option : .word
    }

    /// The next word as it is; there must be one.
    mutating func next() -> String { rest.removeFirst() }

    /// The verb, of one word or two; nil where help stands in the place of the second.
    mutating func verb() throws(Failure) -> Verb? {
        guard peek() == .word else { throw .usage("a verb is missing") }
        let first = next()
        let candidates = Verb.allCases.filter { $0.words[0] == first }
        guard let single = candidates.first else {
            throw .usage("there is no verb '\(first.printable)'")
        }
        if single.words.count == 1 { return single }
        let seconds = candidates.map { String($0.words[1]) }
        if rest.first == Option.help.name { return nil }
        guard let second = rest.first, let index = seconds.firstIndex(of: second) else {
            throw .usage("after \(first) comes one of \(seconds.joined(separator: ", "))")
        }
        _ = next()
        return candidates[index]
    }

    /// The next option with its value, which is empty where there is none. Before the verb the global ones,
    /// after it the verb's; `--help` anywhere.
    mutating func option(of verb: Verb?) throws(Failure) -> (option: Option, value: String) {
        let word = next()
        let name = String(word.prefix { $0 != "=" })
        let inline = word.count > name.count ? String(word.dropFirst(name.count + 1)) : nil
        let option = try Self.option(name, of: verb)
        switch (option.value, inline) {
        case (.none, nil), (.optional, nil): return (option, "")
        case (.none, .some): throw .usage("\(name) takes no value", verb)
        case (.required(let placeholder), let inline):
            guard let value = inline ?? rest.first else {
                throw .usage("\(name) needs a value: \(placeholder)", verb)
            }
            if inline == nil { rest.removeFirst() }
            return (option, value)
        case (.optional(let only), .some(let value)):
            guard value == only else { throw .usage("\(name) takes no value but '\(only)'", verb) }
            return (option, value)
        }
    }

    private static func option(_ name: String, of verb: Verb?) throws(Failure) -> Option {
        let known = Option.allCases.first { $0.name == name }
        let allowed = verb.map { $0.options + [.help] } ?? Option.global
        if let known, allowed.contains(known) { return known }
        switch (known, verb) {
        case (.some, nil): throw .usage("\(name) stands after the verb")
        case (.some(let option), .some(let verb)):
            let isGlobal = Option.global.contains(option)
            throw .usage(
                "\(name) \(isGlobal ? "stands before the verb" : "is not for \(verb.rawValue)")", verb)
        // A word behind a single dash may be a secret that went astray.
        case (nil, _):
            throw .usage(
                "there is no \(name.hasPrefix("--") ? "option \(name.printable)" : "such option")", verb)
        }
    }
}
