public import BrokerModel
internal import BrokerVault
internal import SDBus
public import Sodium

extension Desk {
    /// `CreateRecoveryKey`: the key as a person is shown it.
    public func createRecoveryKey(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<SharedSecret> {
        try managing(context, "create-recovery-key", .user(action: AuthorityAction.recoveryKey)) {
            (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in
                let key = try await self.vault.createRecoveryKey(try leave(), passcode)
                self.outlet.propertiesChanged(["RecoveryKeySet"])
                return key.shown
            }
        }
    }

    /// `RemoveRecoveryKey`.
    public func removeRecoveryKey(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try managing(context, "remove-recovery-key", .user(action: AuthorityAction.recoveryKey)) {
            (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in
                try await self.vault.removeRecoveryKey(try leave(), passcode)
                self.outlet.propertiesChanged(["RecoveryKeySet"])
            }
        }
    }

    /// `PreviewRecovery`.
    public func previewRecovery(_ context: CallContext) throws(Refusal) -> Outcome<RecoveryCount> {
        try managing(context, "preview-recovery", .user(action: nil)) { (_, leave) throws(Refusal) in
            .now(try self.vault.previewRecovery(try leave()))
        }
    }

    /// `Recover`. A key that was mistyped is refused before anything is derived from it.
    public func recover(
        _ context: CallContext, _ typed: SharedSecret, passcode: SharedSecret, accepting lost: UInt32
    ) throws(Refusal) -> Outcome<RecoveryCount> {
        try recover(context, typed, passcode: passcode, accepting: lost, since: vault.locks)
    }

    /// The same, as for ``unlock(_:_:since:)``.
    func recover(
        _ context: CallContext, _ typed: SharedSecret, passcode: SharedSecret, accepting lost: UInt32,
        since locks: Int
    ) throws(Refusal) -> Outcome<RecoveryCount> {
        try managing(context, "recover", .user(action: AuthorityAction.recover)) {
            (_, leave) throws(Refusal) in
            _ = try leave()
            let key = try Self.recoveryKey(typed)
            return .later { () async throws(Refusal) in
                let count = try await self.vault.recover(
                    try leave(), key, passcode: passcode, accepting: lost, since: locks)
                self.outlet.propertiesChanged(["PasscodeSet", "RecoveryKeySet", "Conditions"])
                self.secretService?.openAll()
                self.leaveUpkeep()
                return count
            }
        }
    }

    private static func recoveryKey(_ typed: SharedSecret) throws(Refusal) -> RecoveryKey {
        do throws(RecoveryKey.Mistake) {
            return try RecoveryKey(typed.secret)
        } catch {
            throw .mistyped(error)
        }
    }
}
