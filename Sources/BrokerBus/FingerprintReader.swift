internal import BrokerModel
internal import SDBus

/// The machine's fingerprint reader, by fprintd (`net.reactivated.Fprint`) on the system's bus.
///
/// Whether a finger matches is a signal. It counts from the connection alone that has the service's name, which on the
/// system's bus is root's to take.
@BrokerActor struct FingerprintReader {
    private let connection: Connection
    private let owner: String
    private let device: ObjectPath
    private let turns: Turns

    private static let name = "net.reactivated.Fprint"
    private static let fails = name + ".Error."
    private static let triesMax = 3

    /// The default reader; nil where there is none, or no fprintd. `turns` has nobody claim it before it has been let go.
    init?(_ connection: Connection, turns: Turns) async {
        guard
            let found = try? await connection.call(
                Self.name, path: "/net/reactivated/Fprint/Manager", interface: Self.name + ".Manager",
                member: "GetDefaultDevice"),
            let device = try? found.read(ObjectPath.self),
            let owner = try? await connection.callBus("GetNameOwner", Self.name).read(String.self)
        else { return nil }
        self.connection = connection
        self.owner = owner
        self.device = device
        self.turns = turns
    }

    /// Whether a finger of the broker's user is enrolled: what stands in the way otherwise.
    func obstacle() async -> PersonAnswer? {
        do throws(BusError) {
            return try await call("ListEnrolledFingers", "").read([String].self).isEmpty ? .refused : nil
        } catch {
            return error.name == Self.fails + "NoEnrolledPrints" ? .refused : .unreachable
        }
    }

    /// Waits for a finger of the broker's user, whichever. A task that is cancelled lets go of the reader.
    func verify() async -> PersonAnswer {
        await turns.take()
        let mailbox = Mailbox()
        guard let watches = try? await watches(into: mailbox), await isClaimed() else {
            turns.pass()
            return .unreachable
        }
        defer {
            letGo()
            withExtendedLifetime(watches) {}
        }
        // What came until now was for whoever had the reader.
        mailbox.empty()
        return await outcome(from: mailbox)
    }

    private func watches(into mailbox: Mailbox) async throws(BusError) -> [Registration] {
        [
            try await connection.matchSignal(
                sender: owner, path: device.value, interface: Self.name + ".Device", member: "VerifyStatus"
            ) { (signal) in
                if let (result, _) = try? signal.read(String.self, Bool.self) { mailbox.put(result) }
            },
            try await connection.onNameOwnerChanged(name: Self.name) { [owner] _, old, _ in
                if old == owner { mailbox.put("verify-disconnected") }
            },
        ]
    }

    // Waited for also by who is cancelled: what was claimed must be let go.
    private func isClaimed() async -> Bool {
        await BrokerActor.start { (try? await call("Claim", "")) != nil }.value
    }

    private func outcome(from mailbox: Mailbox) async -> PersonAnswer {
        do throws(BusError) {
            return try await answer(from: mailbox)
        } catch {
            return error.name == Self.fails + "NoEnrolledPrints" ? .refused : .unreachable
        }
    }

    private func answer(from mailbox: Mailbox) async throws(BusError) -> PersonAnswer {
        for _ in 0..<Self.triesMax {
            try await call("VerifyStart", "any")
            switch await result(from: mailbox) {
            case "verify-match": return Task.isCancelled ? .unreachable : .confirmed
            case "verify-no-match": try await call("VerifyStop")
            default: return .unreachable
            }
        }
        return .refused
    }

    // A finger that was not read well is put there again, and nothing has to be done for it.
    private func result(from mailbox: Mailbox) async -> String? {
        while let result = await mailbox.next() {
            switch result {
            case "verify-retry-scan", "verify-swipe-too-short", "verify-finger-not-centered",
                "verify-remove-and-retry":
                continue
            default: return result
            }
        }
        return nil
    }

    // By nobody's task: the answer does not wait for it, and who is cancelled does it too. The reader is everybody's.
    private func letGo() {
        BrokerActor.start {
            _ = try? await call("VerifyStop")
            _ = try? await call("Release")
            turns.pass()
        }
    }

    @discardableResult private func call<each Argument: BusEncodable>(
        _ member: String, _ arguments: repeat each Argument
    ) async throws(BusError) -> Reply {
        try await connection.call(
            owner, path: device.value, interface: Self.name + ".Device", member: member,
            repeat each arguments)
    }

    /// What the reader says, until it is asked for.
    @BrokerActor private final class Mailbox {
        private var results: [String] = []
        private var waiter: CheckedContinuation<Void, Never>?

        func put(_ result: String) {
            results.append(result)
            wake()
        }

        func empty() { results = [] }

        /// Nil for a task that was cancelled.
        func next() async -> String? {
            while results.isEmpty && !Task.isCancelled {
                await withTaskCancellationHandler {
                    await withCheckedContinuation { waiter = $0 }
                } onCancel: {
                    BrokerActor.start { self.wake() }
                }
            }
            return Task.isCancelled ? nil : results.removeFirst()
        }

        private func wake() {
            waiter?.resume()
            waiter = nil
        }
    }
}
