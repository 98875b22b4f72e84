internal import BrokerModel
public import Chatelaine
internal import Glibc
internal import SDBus

/// What the demo's programs have in common: they connect, do one thing, and say what came of it.
public enum DemoProgram {
    /// Runs `body` with a connection to the user's broker and the program's arguments, then ends the program:
    /// with 0, or with 1 and the error where a call was refused.
    public static func run(
        _ body: @escaping @BrokerActor (Broker, [String]) async throws -> Void
    ) -> Never {
        let loop = BrokerActor.shared.loop
        BrokerActor.start {
            do {
                try await body(try Broker.connect(to: .user), Array(CommandLine.arguments.dropFirst()))
                loop.stop(code: 0)
            } catch {
                say(sentence(for: error))
                loop.stop(code: 1)
            }
        }
        exit(loop.run())
    }

    /// Ends the program with a line that says why it cannot work.
    public static func end(_ line: String) -> Never {
        say(line)
        exit(2)
    }

    /// One line to standard output, at once.
    public static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Waits for what comes to a subscriber and hands it on until the broker goes.
    @BrokerActor public static func follow(
        _ events: AsyncStream<Event>,
        _ body: @BrokerActor (Event.Change) async throws(ChatelaineError) -> Void
    ) async throws(ChatelaineError) {
        for await event in events { try await body(event.change) }
    }

    private static func sentence(for error: any Error) -> String {
        guard let error = error as? ChatelaineError else { return "failed: \(error)" }
        return switch error.kind {
        case .missingEntitlement: "denied: \(error)"
        case .interactionNotAllowed: "locked: \(error)"
        case .itemNotFound: "not found: \(error)"
        default: "failed: \(error)"
        }
    }
}
