internal import Chatelaine
internal import SDBus

/// `unlock`: with the passcode from a prompt or from standard input.
@BrokerActor enum UnlockVerb {
    static func run(_ context: Context) async throws(Failure) {
        let broker = try await PasscodeVerb.connect(context, expectsPasscode: true)
        let passcode = try Input.passcode()
        try await onBroker { () async throws(ChatelaineError) in try await broker.unlock(passcode) }
    }
}
