internal import Chatelaine
internal import Console
internal import SDBus
internal import Sodium

/// One question, from the dialog to the broker.
@BrokerActor struct Dialog {
    let broker: Broker
    let pinentry: String

    private static let attemptsMax = 3

    /// Asks until the keychain is unlocked or the question answered, the person has had enough, or the task is cancelled.
    /// `cookie` is the question's number. `nobodyToAsk` where no dialog comes up.
    func ask(_ question: Question, _ cookie: UInt64) async throws(BusError) {
        do throws(Pinentry.Failure) {
            let pinentry = try Pinentry(pinentry)
            let outcome = await converse(question, cookie, pinentry)
            await pinentry.close()
            try outcome.get()
        } catch .unable {
            throw .nobodyToAsk
        } catch {
            return
        }
    }

    private func converse(
        _ question: Question, _ cookie: UInt64, _ pinentry: Pinentry
    ) async -> Result<Void, Pinentry.Failure> {
        do throws(Pinentry.Failure) {
            try await introduce(question, pinentry)
            if question.kind == .password || question.kind == .finger {
                try await pinentry.wait()
                return .success(())
            }
            for _ in 0..<Self.attemptsMax {
                let passcode = try await pinentry.passcode()
                guard let problem = await hand(passcode, question, cookie) else { break }
                try await pinentry.tell("SETERROR", problem)
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func introduce(_ question: Question, _ pinentry: Pinentry) async throws(Pinentry.Failure) {
        try await pinentry.greet()
        if let terminal = StandardStreams.terminalName {
            try await pinentry.tell("OPTION", "ttyname=\(terminal)")
        }
        if let window = question.window { try await pinentry.tell("OPTION", "parent-wid=\(window)") }
        try await pinentry.tell("SETTITLE", "Chatelaine")
        try await pinentry.tell("SETDESC", question.description)
        try await pinentry.tell("SETPROMPT", "Passcode:")
    }

    // Nil when the broker has taken it, else what the person should know.
    private func hand(_ passcode: SharedSecret, _ question: Question, _ cookie: UInt64) async -> String? {
        do throws(ChatelaineError) {
            if question.kind == .confirm {
                try await broker.confirm(cookie, passcode)
            } else {
                try await broker.unlock(passcode)
            }
            return nil
        } catch {
            return error.kind == .authFailed ? "That was not the passcode." : error.text.printable
        }
    }
}
