internal import Console
internal import Sodium

/// Secrets from standard input: typed at a prompt, or through a pipe.
enum Input {
    /// The secret of an item: all of standard input, or what is typed twice.
    static func secret() throws(Failure) -> SharedSecret {
        guard Streams.isTerminal(0) else { return SharedSecret(try Streams.readAll()) }
        return try typedTwice("Secret")
    }

    /// A passcode that exists: a line.
    static func passcode(_ question: String = "Passcode") throws(Failure) -> SharedSecret {
        guard Streams.isTerminal(0) else { return try line() }
        return SharedSecret(try typed(question))
    }

    /// A passcode to come: a line, or what is typed twice.
    static func newPasscode() throws(Failure) -> SharedSecret {
        guard Streams.isTerminal(0) else { return try line() }
        return try typedTwice("New passcode")
    }

    private static func line() throws(Failure) -> SharedSecret {
        let line = try Streams.readLine()
        guard line.secret.count > 0 || line.end == .newline else {
            throw Failure(.usage, "a passcode is a line of standard input, and there is none")
        }
        return SharedSecret(line.take())
    }

    private static func typedTwice(_ question: String) throws(Failure) -> SharedSecret {
        let first = try typed(question)
        let second = try typed(question + " again")
        guard first.isEqual(to: second) else {
            throw Failure(.usage, "the two are not the same; nothing was changed")
        }
        return SharedSecret(first)
    }

    private static func typed(_ question: String) throws(Failure) -> Secret {
        guard let answer = try Prompt.ask(question) else {
            throw Failure(.usage, "nothing was typed; nothing was changed")
        }
        return answer
    }
}
