internal import BrokerModel
internal import SDBus
internal import Sodium

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

    /// The fingers of the broker's user that are enrolled here.
    func enrolment() async -> Enrolment {
        do throws(BusError) {
            let reader = try await hashOfName()
            let names = try await fingers()
            guard !names.isEmpty else { return .nobody(reader: reader) }
            let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            // NUL is in no string of the bus.
            let hash = Self.hash(sorted.joined(separator: "\0"))
            return FingerSet(reader: reader, fingers: hash).map { .fingers($0) } ?? .unreachable
        } catch {
            return .unreachable
        }
    }

    /// What stands in the way of a finger of the broker's user, of the set if there is one: that none is enrolled, or
    /// others.
    func obstacle(to set: FingerSet?) async -> PersonAnswer? {
        if let set {
            return switch await enrolment().holds(set) {
            case true?: nil
            case false?: .changed
            case nil: .unreachable
            }
        }
        do throws(BusError) {
            return try await fingers().isEmpty ? .refused : nil
        } catch {
            return .unreachable
        }
    }

    private func fingers() async throws(BusError) -> [String] {
        do throws(BusError) {
            return try await call("ListEnrolledFingers", "").read([String].self)
        } catch {
            guard error.name == Self.fails + "NoEnrolledPrints" else { throw error }
            return []
        }
    }

    private func hashOfName() async throws(BusError) -> [UInt8] {
        let name = try await connection.call(
            owner, path: device.value, interface: "org.freedesktop.DBus.Properties", member: "Get",
            Self.name + ".Device", "name"
        ).withReader { (reader) throws(BusError) -> String? in
            try reader.enterVariant("s") ? reader.read(String.self) : nil
        }
        return Self.hash(name ?? "")
    }

    private static func hash(_ text: String) -> [UInt8] {
        SHA256.hash(Secret(copying: Array(text.utf8).span))
    }

    /// Waits for a finger of the broker's user, whichever, while the set is what is enrolled. A task that is cancelled lets
    /// go of the reader.
    func verify(_ set: FingerSet?) async -> PersonAnswer {
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
        // What is enrolled stays so while the reader is claimed.
        if let set, let obstacle = await obstacle(to: set) { return obstacle }
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
