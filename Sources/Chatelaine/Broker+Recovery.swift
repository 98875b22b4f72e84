internal import BrokerBus
public import BrokerModel
internal import SDBus
public import Sodium

extension Broker {
    /// Makes a recovery key, which is given once and kept nowhere; the one before opens nothing any more. The passcode has
    /// no bytes where none is set.
    public func createRecoveryKey(_ passcode: SharedSecret) async throws(ChatelaineError) -> SharedSecret {
        let session = try await session()
        return try await call(Contract.Interface.manager, "CreateRecoveryKey", .endless, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(OutgoingSecret(passcode, for: session))
            try writer.append(ObjectPath(session.path))
        } read: { (reader) throws(BusError) in
            try Self.open(try reader.read(), session)
        }
    }

    /// Removes the recovery key; `notAvailable` without one.
    public func removeRecoveryKey(_ passcode: SharedSecret) async throws(ChatelaineError) {
        let session = try await session()
        try await call(Contract.Interface.manager, "RemoveRecoveryKey", .endless, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(OutgoingSecret(passcode, for: session))
        } read: { _ throws(BusError) in
        }
    }

    /// How many items a recovery would keep and lose now; `notAvailable` without a recovery key.
    public func previewRecovery() async throws(ChatelaineError) -> RecoveryCount {
        try await call(Contract.Interface.manager, "PreviewRecovery") { (reader) throws(BusError) in
            RecoveryCount(kept: try reader.read(), lost: try reader.read())
        }
    }

    /// Opens the keychain by its recovery key and gives it a new passcode; one without bytes is none. If more than
    /// `accepted` items would be lost it is `param`, and nothing has changed.
    public func recover(
        _ key: SharedSecret, passcode: SharedSecret, accepting accepted: UInt32
    ) async throws(ChatelaineError) -> RecoveryCount {
        let session = try await session()
        return try await call(Contract.Interface.manager, "Recover", .endless, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(OutgoingSecret(key, for: session))
            try writer.append(OutgoingSecret(passcode, for: session))
            try writer.append(accepted)
        } read: { (reader) throws(BusError) in
            RecoveryCount(kept: try reader.read(), lost: try reader.read())
        }
    }
}
