internal import BrokerHost
internal import Chatelaine
internal import Console
internal import SDBus

/// One run of the command: from the arguments to the exit status.
@BrokerActor enum Command {
    /// Does what the arguments say. What goes wrong is one line on standard error.
    static func run(_ arguments: [String]) async -> ExitCode {
        do throws(Failure) {
            switch try Request.parse(arguments) {
            case .help(let verb): try Streams.write(Help.text(for: verb))
            case .version: try Streams.write("chatelaine \(Broker.version)\n")
            case .run(let invocation): try await invocation.verb.run(Context(invocation))
            }
            return .done
        } catch {
            if !error.text.isEmpty { StandardError.write(line: "chatelaine: \(error.text)") }
            return error.code
        }
    }
}

/// What a verb has to work with.
@BrokerActor struct Context {
    let invocation: Invocation
    let style = Style.ofStandardOutput

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// Connects to the broker that the arguments name.
    func connect() throws(Failure) -> Broker {
        do throws(ChatelaineError) {
            return try Broker.connect(to: invocation.endpoint)
        } catch {
            throw Failure(.failed, "\(error); \(invocation.endpoint.name) cannot be reached")
        }
    }

    /// Prints one value as JSON where that was asked for, else what `text` makes of it.
    func print(_ json: JSON, _ text: () -> String) throws(Failure) {
        try Streams.write(invocation.isJSON ? json.text + "\n" : text())
    }
}

extension Endpoint {
    /// For a message.
    var name: String {
        switch self {
        case .user: "the session bus"
        case .system: "the system bus"
        case .address: "a broker at that address"
        }
    }
}

/// Runs calls of the client library where a verb throws its own failures.
@BrokerActor func onBroker<Value>(
    _ body: @BrokerActor () async throws(ChatelaineError) -> Value
) async throws(Failure) -> Value {
    do throws(ChatelaineError) {
        return try await body()
    } catch {
        throw Failure(error)
    }
}
