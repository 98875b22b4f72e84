internal import BrokerModel
public import SDBus

/// A prompter of the session: a program that has a name on the bus, which starts it when it is called. Any program can
/// have that name that knows how to ask.
@BrokerActor public final class BusPrompter: Prompter {
    private let connection: Connection
    private var next: UInt64 = 1

    /// The name, and the interface.
    public static let name = "org.chatelaine.Prompter1"
    private static let path = "/org/chatelaine/Prompter1"
    /// A person may be away for a while.
    private static let patienceMicroseconds: UInt64 = 600_000_000

    /// Asks by the broker's own connection.
    public init(_ connection: Connection) { self.connection = connection }

    /// Whether somebody has the name, or would be started for it.
    public func isAvailable() async -> Bool {
        if await names("ListActivatableNames").contains(Self.name) { return true }
        return await names("ListNames").contains(Self.name)
    }

    private func names(_ list: String) async -> [String] {
        let bus = "org.freedesktop.DBus"
        let reply = try? await connection.call(
            bus, path: "/org/freedesktop/DBus", interface: bus, member: list)
        return (try? reply?.read([String].self)) ?? []
    }

    /// Calls the prompter, and takes the question back when the task is cancelled.
    public func ask(_ question: PromptQuestion) async {
        let cookie = next
        next += 1
        let values = [
            "Program": Variant(question.program), "Trust": Variant(question.trust.rawValue),
            "Window": Variant(question.window),
        ]
        do throws(BusError) {
            try await connection.call(
                Self.name, path: Self.path, interface: Self.name, member: "Ask", cookie, values,
                timeoutMicroseconds: Self.patienceMicroseconds)
        } catch {
            withdraw(cookie)
        }
    }

    private func withdraw(_ cookie: UInt64) {
        BrokerActor.start { [connection] in
            _ = try? await connection.call(
                Self.name, path: Self.path, interface: Self.name, member: "Withdraw", cookie)
        }
    }
}
