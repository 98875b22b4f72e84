internal import BrokerHost
internal import BrokerModel
internal import Chatelaine
internal import SDBus
internal import Sodium

/// `refresh`: runs a command under the right to refresh an item, and stores what it prints.
@BrokerActor enum RefreshVerb {
    /// The exit status by which a command says that the server refuses the secret for good: `EX_DATAERR`, the data that
    /// it was given is no good.
    nonisolated static let rejected: Int32 = 65

    static func run(_ context: Context) async throws(Failure) {
        let begun = HostEnvironment.now
        let invocation = context.invocation
        guard (Option.item + [.reference]).contains(where: invocation.has) else {
            throw .usage("say which item, with --service, --account or another item option", .refresh)
        }
        // What cannot be read is said before anything is renewed.
        _ = try changes(invocation)
        let timeout = try timeoutMicroseconds(invocation)
        var broker = try context.connect()
        guard let (query, stale) = try await target(invocation, broker, begun) else { return }
        let start = try await onBroker { () async throws(ChatelaineError) in
            try await broker.beginRefresh(query, stale: stale, timeoutMicroseconds: timeout)
        }
        guard case .granted(let fence, let item) = start else { return }
        let outcome = try CommandProcess.run(
            invocation.operands, input: item.secret.secret, outputBytesMax: Limits.secretBytesMax)
        if let problem = Problem(outcome) { try await fail(fence, problem, broker) }
        guard let output = outcome.take() else { return }
        try await complete(fence, invocation, SharedSecret(output), &broker, context)
    }

    /// The item, and the revision that is to be replaced. Nil where the item has been renewed since this program was
    /// started: of two that are started together the later one may come to ask when the first is done.
    private static func target(
        _ invocation: Invocation, _ broker: Broker, _ begun: UInt64
    ) async throws(Failure) -> (Attributes, UInt64)? {
        var query = try invocation.query()
        if let stale = try invocation.revision(.stale) { return (query, stale) }
        query["Limit"] = .number(1)
        let asked = query
        let found = try await onBroker { () async throws(ChatelaineError) in try await broker.search(asked) }
        guard let item = found.first, case .counter(let revision) = item["Revision"],
            case .counter(let modified) = item["Modified"]
        else { throw .notFound }
        // A time that is still to come is of a clock that was set back.
        if modified >= begun, modified <= HostEnvironment.now { return nil }
        var one = Attributes()
        one["Reference"] = item["Reference"]
        return (one, revision)
    }

    private static func changes(_ invocation: Invocation) throws(Failure) -> Attributes {
        var changes = Attributes()
        try invocation.setTimes(of: &changes)
        return changes
    }

    private static func timeoutMicroseconds(_ invocation: Invocation) throws(Failure) -> UInt64 {
        UInt64(try invocation.number(.timeout) ?? 60) * 1_000_000
    }

    private static func fail(
        _ fence: UInt64, _ problem: Problem, _ broker: Broker
    ) async throws(Failure) -> Never {
        do throws(ChatelaineError) {
            try await broker.failRefresh(fence, problem.kind, message: problem.text)
        } catch {
            guard error.kind != .leaseLost else { throw Failure(.failed, problem.explanationOfLateness) }
            let failure = Failure(error)
            throw Failure(failure.code, "\(problem.text), and the broker was not told: \(failure.text)")
        }
        throw Failure(problem.kind == .rejected ? .denied : .failed, problem.explanation)
    }

    /// What the server gave must not be lost: a disk that is full for the moment or a broker that is started anew takes
    /// it a little later. That is tried for as long as a right to refresh lasts.
    private static func complete(
        _ fence: UInt64, _ invocation: Invocation, _ secret: SharedSecret, _ broker: inout Broker,
        _ context: Context
    ) async throws(Failure) {
        let changes = try changes(invocation)
        let latest = EventClock.monotonic.now + leaseMicroseconds
        while true {
            do throws(ChatelaineError) {
                _ = try await broker.completeRefresh(fence, changes, secret)
                return
            } catch {
                guard error.mayPass, EventClock.monotonic.now < latest else { throw Failure(error) }
                try? await BrokerActor.shared.loop.sleep(microseconds: 1_000_000)
                // The broker was started anew. One that is only slow keeps the connection, with which the right would go.
                let isOfAnother = error.kind == .noSession || !broker.connection.isOpen
                if isOfAnother, let again = try? context.connect() { broker = again }
            }
        }
    }

    // On the same clock as the broker's.
    private static let leaseMicroseconds: UInt64 = 60_000_000
}

extension ChatelaineError {
    // Without a kind the broker was not there to say anything.
    fileprivate var mayPass: Bool {
        switch kind {
        case .noSession, .io, .notAvailable, nil: true
        default: false
        }
    }
}

extension RefreshVerb {
    /// Why a command has not renewed the secret.
    struct Problem {
        let kind: RefreshFailure
        /// For a person.
        let text: String

        /// Nil where it has.
        init?(_ outcome: borrowing CommandProcess.Outcome) {
            kind = outcome.end == .exited(RefreshVerb.rejected) ? .rejected : .transient
            switch (outcome.end, outcome.outputCount) {
            case (.exited(RefreshVerb.rejected), _):
                text = "the command ended with status \(RefreshVerb.rejected)"
            // However it ended: it could not go on printing.
            case (_, nil): text = "the command printed more than a secret may be, which is 1 MiB"
            case (.exited(0), 0): text = "the command printed nothing"
            case (.exited(0), _): return nil
            case (.exited(let status), _): text = "the command ended with status \(status)"
            case (.signalled(let number), _): text = "signal \(number) ended the command"
            }
        }

        /// For a person.
        var explanation: String {
            switch kind {
            case .transient: text + "; nothing is stored"
            case .rejected:
                text + ": the secret is refused for good; the item is deleted and its programs are told"
            }
        }

        /// The same where the right to refresh was somebody else's by then.
        var explanationOfLateness: String {
            text + "; the item was changed meanwhile, or somebody else renews it, so nothing is done to it"
        }
    }
}
