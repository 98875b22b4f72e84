internal import BrokerHost
internal import BrokerModel
internal import Chatelaine
internal import Console
internal import SDBus
internal import Sodium

/// `recovery create`, `recovery remove` and `recovery use`.
@BrokerActor enum RecoveryVerb {
    static func create(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        let status = try await onBroker { () async throws(ChatelaineError) in try await broker.status() }
        if status.isRecoveryKeySet && !context.invocation.has(.discardOld) {
            try agree(
                "There is a recovery key already; it will open nothing any more. Make a new one?",
                or: "there is a recovery key already; --discard-old makes a new one in its place")
        }
        let passcode = try passcode(status)
        let key = try await onBroker { () async throws(ChatelaineError) in
            try await broker.createRecoveryKey(passcode)
        }
        if Streams.isTerminal(1) {
            StandardError.write(
                line: """
                    The recovery key. Write it down and keep it away from this machine: it is shown once.
                    Whoever has it and this keychain's file has every item that may leave the device.
                    """)
        }
        try Streams.write(line(key))
    }

    static func remove(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        let status = try await onBroker { () async throws(ChatelaineError) in try await broker.status() }
        let passcode = try passcode(status)
        try await onBroker { () async throws(ChatelaineError) in try await broker.removeRecoveryKey(passcode)
        }
    }

    static func use(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        let count = try await onBroker { () async throws(ChatelaineError) in
            try await broker.previewRecovery()
        }
        let accepted = try accepted(count, context)
        let key = try key()
        let passcode = try Input.newPasscode()
        let done = try await onBroker { () async throws(ChatelaineError) in
            try await broker.recover(key, passcode: passcode, accepting: accepted)
        }
        let json = JSON.object([
            JSON.Member("Kept", .number(UInt64(done.kept))), JSON.Member("Lost", .number(UInt64(done.lost))),
        ])
        try context.print(json) {
            var fields = Fields()
            fields.add("Kept", "\(done.kept)")
            fields.add("Lost", "\(done.lost)")
            return fields.text(context.style)
        }
    }

    // Nothing is asked for, and nothing lost, before whoever is there has agreed to the number.
    private static func accepted(_ count: RecoveryCount, _ context: Context) throws(Failure) -> UInt32 {
        if let given = context.invocation[.lose] {
            guard let number = UInt32(given) else {
                throw .usage("--lose is a number of items", context.invocation.verb)
            }
            return number
        }
        if count.lost == 0 { return 0 }
        StandardError.write(
            line: """
                The recovery key opens \(count.kept) items, which are kept. It cannot open \(count.lost): they may not
                leave their device, and their keys are gone with the device key or the passcode. They are deleted for good.
                """)
        try agree("Go on?", or: "\(count.lost) items would be lost; --lose \(count.lost) agrees to that")
        return count.lost
    }

    private static func agree(_ question: String, or advice: String) throws(Failure) {
        guard Question.canBeAsked else { throw Failure(.usage, advice) }
        guard try Question.ask(question) else { throw Failure(.denied, "nothing was changed") }
    }

    // Whoever types it is told where the mistake is, and may try again.
    private static func key() throws(Failure) -> SharedSecret {
        while true {
            let typed = try Input.passcode("Recovery key")
            do throws(RecoveryKey.Mistake) {
                return try RecoveryKey(typed.secret).symbols
            } catch {
                guard Streams.isTerminal(0) else { throw Failure(.usage, error.text) }
                StandardError.write(line: error.text)
            }
        }
    }

    private static func passcode(_ status: Broker.Status) throws(Failure) -> SharedSecret {
        status.isPasscodeSet ? try Input.passcode() : SharedSecret(Secret(copying: [UInt8]().span))
    }

    private static func line(_ key: SharedSecret) -> Secret {
        Secret(count: key.secret.count + 1) { target in
            target.copy(key.secret)
            target[key.secret.count] = UInt8(ascii: "\n")
        }
    }
}
