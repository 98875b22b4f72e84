public import BrokerModel
public import SDBus

/// Asks polkit (`org.freedesktop.PolicyKit1.Authority`), on the system bus.
///
/// polkit takes questions about other users from root, or from whom the action names as its owner
/// (`policy/org.chatelaine.policy`). Each question stands by itself and may stay open while a person types.
@BrokerActor public final class Polkit: Authority {
    private let connection: Connection
    private var questions: [UInt64: Question] = [:]
    private var lastNumber: UInt64 = 0

    private static let name = "org.freedesktop.PolicyKit1"

    private struct Question {
        let asker: String
        let userID: UInt32
        let answer: Task<Authorization, Never>
    }

    /// Asks over this connection, which must be one to the system bus.
    public nonisolated init(_ connection: Connection) { self.connection = connection }

    /// Denied when polkit fails, when its answer cannot be read, when the caller goes before there is one, and
    /// when its user has too many questions open; unreachable when polkit is not installed.
    public nonisolated func allows(
        _ connection: String, facts: PeerFacts, action: String, allowsInteraction: Bool
    ) async -> Authorization {
        guard let subject = PolkitSubject(connection, facts) else { return .denied }
        return await open(connection, facts.userID, subject, action, allowsInteraction)
    }

    /// Withdraws what is asked on the connection's behalf; on the broker's actor.
    public nonisolated func connectionGone(_ connection: String) {
        BrokerActor.assumeIsolated {
            for question in questions.values where question.asker == connection { question.answer.cancel() }
        }
    }

    /// Has the user of a program authenticate, and tells why. `isOwner`: whether polkit takes the words for that from this
    /// broker, and questions about connections of its bus; else it shows its own words and is asked about the process.
    func confirms(_ question: PersonQuestion, isOwner: Bool) async -> PersonAnswer {
        let subject =
            isOwner
            ? PolkitSubject(question.connection, question.facts) : PolkitSubject(process: question.facts)
        guard let subject else { return .unreachable }
        lastNumber += 1
        let (cancellation, details) = (String(lastNumber), isOwner ? question.polkitDetails : [:])
        do throws(BusError) {
            let reply = try await call(
                "CheckAuthorization", subject, AuthorityAction.present, details, UInt32(1), cancellation)
            let answer = try reply.withReader { (reader: inout MessageReader) throws(BusError) in
                _ = try reader.enter("r", "bba{ss}")
                return try Self.answer(
                    isAuthorized: reader.read(), isChallenge: reader.read(),
                    reader.read([String: String].self))
            }
            return Task.isCancelled ? .unreachable : answer
        } catch {
            if error == .cancelled { withdraw(cancellation) }
            return .unreachable
        }
    }

    // A challenge that is handed back means that nobody was there to be asked.
    private static func answer(
        isAuthorized: Bool, isChallenge: Bool, _ details: [String: String]
    ) -> PersonAnswer {
        if isAuthorized { return .confirmed }
        if details["polkit.dismissed"] != nil { return .canceled }
        return isChallenge ? .unreachable : .refused
    }

    private func open(
        _ asker: String, _ userID: UInt32, _ subject: PolkitSubject, _ action: String,
        _ allowsInteraction: Bool
    ) async -> Authorization {
        let ofUser = questions.values.count { $0.userID == userID }
        guard ofUser < Limits.openQuestionsPerUserMax else { return .denied }
        lastNumber += 1
        let number = lastNumber
        let answer = BrokerActor.start {
            await self.ask(subject, action, allowsInteraction, cancellation: String(number))
        }
        questions[number] = Question(asker: asker, userID: userID, answer: answer)
        defer { questions[number] = nil }
        return await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.cancel()
        }
    }

    private func ask(
        _ subject: PolkitSubject, _ action: String, _ allowsInteraction: Bool, cancellation: String
    ) async -> Authorization {
        let flags: UInt32 = allowsInteraction ? 1 : 0
        do throws(BusError) {
            let reply = try await call(
                "CheckAuthorization", subject, action, [String: String](), flags, cancellation)
            let isAuthorized = try reply.withReader { (reader: inout MessageReader) throws(BusError) in
                _ = try reader.enter("r", "bba{ss}")
                return try reader.read(Bool.self)
            }
            // What polkit says of a name that was given up meanwhile is not about the caller any more.
            return isAuthorized && !Task.isCancelled ? .allowed : .denied
        } catch {
            if error == .cancelled { withdraw(cancellation) }
            guard error.isServiceUnknown, await isAbsent(), !Task.isCancelled else { return .denied }
            return .unreachable
        }
    }

    // polkit itself may pass on the bus's word about a caller that has gone, under the very names that would mean
    // that there is no polkit. So the bus is asked.
    private func isAbsent() async -> Bool {
        guard let isOwned = try? await connection.callBus("NameHasOwner", Self.name).read(Bool.self),
            let startable = try? await connection.callBus("ListActivatableNames").read([String].self)
        else { return false }
        return !isOwned && !startable.contains(Self.name)
    }

    // A window that asks for a password closes with the question. What polkit answers changes nothing.
    private func withdraw(_ cancellation: String) {
        BrokerActor.start { _ = try? await self.call("CancelCheckAuthorization", cancellation) }
    }

    private func call<each Argument: BusEncodable>(
        _ member: String, _ arguments: repeat each Argument
    ) async throws(BusError) -> Reply {
        try await connection.call(
            Self.name, path: "/org/freedesktop/PolicyKit1/Authority", interface: Self.name + ".Authority",
            member: member, repeat each arguments, timeoutMicroseconds: .max)
    }
}
