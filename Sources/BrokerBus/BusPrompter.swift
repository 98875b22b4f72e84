internal import BrokerModel
public import SDBus

/// A prompter of the session: a program that has a name on the bus, which starts it when it is called. Any program can
/// have that name that knows how to ask.
@BrokerActor public final class BusPrompter: Prompter {
    private let connection: Connection
    private let turns: PromptTurns?

    /// The name, and the interface.
    public static let name = "org.chatelaine.Prompter1"
    private static let path = "/org/chatelaine/Prompter1"
    /// A person may be away for a while.
    private static let patienceMicroseconds: UInt64 = 600_000_000
    /// A program is not: what does not say in that time whether it can ask cannot.
    private static let readinessMicroseconds: UInt64 = 5_000_000
    /// Clients give up after 25 seconds themselves.
    private static let startMicroseconds: UInt64 = 10_000_000

    /// Asks by the broker's own connection, in its turn. Whoever has the turn already gives none.
    public init(_ connection: Connection, turns: PromptTurns?) {
        self.connection = connection
        self.turns = turns
    }

    /// Whether somebody has the name, or could be started for it, and says that it can ask. One that does not know the
    /// question can.
    public func isAvailable() async -> Bool {
        guard let prompter = await started() else { return false }
        do throws(BusError) {
            return try await connection.call(
                prompter, path: Self.path, interface: Self.name, member: "CanAsk",
                timeoutMicroseconds: Self.readinessMicroseconds
            ).read(Bool.self)
        } catch {
            return error.name == "org.freedesktop.DBus.Error.UnknownMethod"
        }
    }

    /// Calls the prompter, and takes the question back when the task is cancelled or the person stays away.
    public func ask(_ question: PromptQuestion) async -> Bool {
        guard let turns else { return await askNow(question) }
        return await turns.run { await self.askNow(question) }
    }

    private func askNow(_ question: PromptQuestion) async -> Bool {
        guard let prompter = await started(), !Task.isCancelled else { return false }
        do throws(BusError) {
            try await connection.call(
                prompter, path: Self.path, interface: Self.name, member: "Ask", question.cookie,
                question.values,
                timeoutMicroseconds: Self.patienceMicroseconds)
            return true
        } catch {
            if error != .cancelled { BusLog.sink("the person was not asked: \(error.name)") }
            withdraw(question.cookie, from: prompter)
            return false
        }
    }

    // From the one that was asked: by the name, another might be started.
    private func withdraw(_ cookie: UInt64, from prompter: String) {
        BrokerActor.start { [connection] in
            _ = try? await connection.call(
                prompter, path: Self.path, interface: Self.name, member: "Withdraw", cookie)
        }
    }

    // The connection that has the name, started by the bus if need be; nil where there is none.
    private func started() async -> String? {
        if let owner = await owner() { return owner }
        _ = try? await connection.call(
            "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: "StartServiceByName", Self.name, UInt32(0), timeoutMicroseconds: Self.startMicroseconds)
        return await owner()
    }

    private func owner() async -> String? {
        let reply = try? await connection.callBus("GetNameOwner", Self.name)
        return try? reply?.read(String.self)
    }
}
