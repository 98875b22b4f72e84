internal import SDBus

extension OldKeyring {
    /// Has the keyring ask its question, and says whether the person said yes. It is not answered for a keyring that went
    /// away, nor for a person who leaves it for five minutes.
    func prompt(_ path: ObjectPath) async throws(BusError) -> Bool {
        let answer = PromptAnswer()
        let registrations = [
            try await connection.matchSignal(
                sender: owner, path: path.value, interface: Self.promptInterface, member: "Completed"
            ) { signal in
                answer.give((try? signal.read(Bool.self)) == false)
            },
            try await connection.onNameOwnerChanged(name: owner) { _, _, _ in answer.give(false) },
        ]
        defer { registrations.forEach { $0.cancel() } }
        try await connection.call(
            owner, path: path.value, interface: Self.promptInterface, member: "Prompt", "",
            timeoutMicroseconds: Self.patienceMicroseconds)
        BrokerActor.start {
            try? await BrokerActor.shared.loop.sleep(microseconds: Self.patienceMicroseconds)
            answer.give(false)
        }
        return await answer.wait()
    }

    private static var promptInterface: String { "org.freedesktop.Secret.Prompt" }
    private static var patienceMicroseconds: UInt64 { 300_000_000 }
}

/// The end of a prompt, whichever way it comes first.
@BrokerActor private final class PromptAnswer {
    private var isYes: Bool?
    private var waiting: CheckedContinuation<Bool, Never>?

    func give(_ isYes: Bool) {
        guard self.isYes == nil else { return }
        self.isYes = isYes
        waiting?.resume(returning: isYes)
        waiting = nil
    }

    func wait() async -> Bool {
        if let isYes { return isYes }
        return await withCheckedContinuation { waiting = $0 }
    }
}
