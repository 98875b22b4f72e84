internal import BrokerHost
internal import BrokerModel
internal import Chatelaine
internal import SDBus

/// `passcode set`, `passcode change` and `passcode remove`.
@BrokerActor enum PasscodeVerb {
    static func set(_ context: Context) async throws(Failure) {
        let broker = try await connect(context, expectsPasscode: false)
        let new = try Input.newPasscode()
        try await onBroker { () async throws(ChatelaineError) in
            try await broker.setPasscode(old: nil, new: new)
        }
    }

    static func change(_ context: Context) async throws(Failure) {
        let broker = try await connect(context, expectsPasscode: true)
        let old = try Input.passcode("Old passcode")
        let new = try Input.newPasscode()
        try await onBroker { () async throws(ChatelaineError) in
            try await broker.setPasscode(old: old, new: new)
        }
    }

    static func remove(_ context: Context) async throws(Failure) {
        let broker = try await connect(context, expectsPasscode: true)
        if Streams.isTerminal(0) {
            StandardError.write(
                line: "This destroys every item that is when-passcode-set-this-device-only, for good.")
        }
        let passcode = try Input.passcode()
        try await onBroker { () async throws(ChatelaineError) in try await broker.removePasscode(passcode) }
    }

    /// Connects, and asks nobody for a passcode that is not there, or for a first one where there is one.
    static func connect(_ context: Context, expectsPasscode: Bool) async throws(Failure) -> Broker {
        let broker = try context.connect()
        let status = try await onBroker { () async throws(ChatelaineError) in try await broker.status() }
        switch (status.isPasscodeSet, expectsPasscode) {
        case (true, true), (false, false): return broker
        case (false, true):
            throw Failure(
                ChatelaineError(
                    Refusal(.notAvailable, "No passcode is set; 'chatelaine passcode set' gives it one.")))
        case (true, false):
            throw Failure(
                ChatelaineError(
                    Refusal(.authFailed, "A passcode is set already; use 'chatelaine passcode change'.")))
        }
    }
}
