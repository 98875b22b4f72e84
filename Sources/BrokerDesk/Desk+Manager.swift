internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import BrokerVault
internal import SDBus
public import Sodium

extension Desk {
    /// One keychain, one user.
    public var servesAllUsers: Bool { false }

    /// There is no object that names a user.
    public func openKeychains(for connection: String) -> [UInt32] { [] }

    /// The manager's properties; one keychain, so they are the same for whoever asks.
    public func status(_ context: CallContext?) throws(Refusal) -> ManagerStatus { status }

    /// The manager's properties.
    var status: ManagerStatus {
        var conditions = outlet.conditions()
        if vault.isStranded && !conditions.contains(.deviceKeyMissing) {
            conditions.append(.deviceKeyMissing)
        }
        if vault.isOutOfStep { conditions.append(.passcodeOutOfStep) }
        if !vault.isOpen && !conditions.contains(.deviceKeyMissing) { conditions.append(.waitingForStore) }
        if reception.policies.isRefused { conditions.append(.policyRefused) }
        return ManagerStatus(
            state: vault.state, isPasscodeSet: vault.isPasscodeSet,
            isRecoveryKeySet: vault.isRecoveryKeySet, conditions: conditions)
    }

    /// `Lock`: the foreground keys are wiped before this returns.
    public func lock(_ context: CallContext) throws(Refusal) -> Outcome<Void> {
        try managing(context, "lock", .user(action: nil)) { (_, leave) throws(Refusal) in
            let grant = try leave()
            self.challenges.locked()
            try self.vault.lock(grant)
            return .now(())
        }
    }

    /// `Unlock`.
    public func unlock(_ context: CallContext, _ passcode: SharedSecret) throws(Refusal) -> Outcome<Void> {
        try unlock(context, passcode, since: vault.locks)
    }

    /// The same for a call that came when the keychain had been locked so often: who calls may have to be looked up
    /// first, and a lock that comes meanwhile wins.
    func unlock(
        _ context: CallContext, _ passcode: SharedSecret, since locks: Int
    ) throws(Refusal) -> Outcome<Void> {
        try managing(context, "unlock", .login) { (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in
                try await self.watchingStep { () async throws(Refusal) in
                    try await self.vault.unlock(try leave(), passcode, since: locks)
                }
                self.secretService?.openAll()
                self.leaveUpkeep()
            }
        }
    }

    /// `FollowPasscode`.
    public func followPasscode(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try managing(context, "follow-passcode", .root) { (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in
                try await self.watchingStep { () async throws(Refusal) in
                    try await self.vault.followPasscode(try leave(), passcode)
                }
            }
        }
    }

    // Says where a call has changed whether the passcode is the one that the user logs in with.
    private func watchingStep(_ body: () async throws(Refusal) -> Void) async throws(Refusal) {
        let was = vault.isOutOfStep
        defer {
            if vault.isOutOfStep != was {
                outlet.propertiesChanged(["Conditions"])
                if !was { outlet.partedWays() }
            }
        }
        try await body()
    }

    /// `SetPasscode`.
    public func setPasscode(
        _ context: CallContext, old: SharedSecret, new: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try setPasscode(context, old: old, new: new, since: vault.locks)
    }

    /// The same, as for ``unlock(_:_:since:)``.
    func setPasscode(
        _ context: CallContext, old: SharedSecret, new: SharedSecret, since locks: Int
    ) throws(Refusal) -> Outcome<Void> {
        try managing(context, "set-passcode", .user(action: AuthorityAction.setPasscode)) {
            (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in
                try await self.vault.setPasscode(try leave(), old: old, new: new, since: locks)
                self.outlet.propertiesChanged(["PasscodeSet", "Conditions"])
            }
        }
    }

    /// `RemovePasscode`.
    public func removePasscode(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try managing(context, "remove-passcode", .user(action: AuthorityAction.removePasscode)) {
            (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in
                try await self.vault.removePasscode(try leave(), passcode)
                self.outlet.propertiesChanged(["PasscodeSet", "Conditions"])
                self.leaveUpkeep()
            }
        }
    }

    /// `ForceLogout`.
    public func forceLogout(
        _ context: CallContext, group name: String, service: String, reason: String
    ) throws(Refusal) -> Outcome<LogoutOutcome> {
        try managing(context, "force-logout", .administrator) { (caller, leave) throws(Refusal) in
            _ = try leave()
            let group = try Self.administered(name)
            try Self.checkTexts(service, reason)
            return try self.waiting(caller, bytes: 0) { () async throws(Refusal) in
                var outcome = try await self.vault.logout(
                    { () throws(Refusal) in self.gate.administer(try leave(), group) },
                    service: service, reason: reason, always: true)
                outcome.subscribers = self.subscribers.told(group, epoch: outcome.epoch)
                self.leaveUpkeep()
                return outcome
            }
        }
    }

    /// `MoveItems`.
    public func moveItems(
        _ context: CallContext, from: String, to: String
    ) throws(Refusal) -> Outcome<UInt32> {
        try managing(context, "move-items", .administrator) { (caller, leave) throws(Refusal) in
            _ = try leave()
            let (from, to) = (try Self.administered(from), try Self.administered(to))
            guard from != to else { throw .param("The two groups are one.") }
            return try self.waiting(caller, bytes: 0) { () async throws(Refusal) in
                try await self.vault.moveItems(
                    { () throws(Refusal) in self.gate.administer(try leave(), from, reaching: to) }, to: to)
            }
        }
    }

    /// `ListGroups`.
    public func listGroups(_ context: CallContext) throws(Refusal) -> Outcome<[GroupRecord]> {
        try managing(context, "list-groups", .administrator) { (_, leave) throws(Refusal) in
            .now(try self.vault.listGroups(try leave()))
        }
    }

    /// `Check`.
    public func check(_ context: CallContext) throws(Refusal) -> Outcome<CheckReport> {
        try managing(context, "check", .administrator) { (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in try await self.vault.checkItems(try leave()) }
        }
    }

    // To an administrator a name that no group has is a mistake, and no secret.
    static func administered(_ name: String) throws(Refusal) -> AccessGroup {
        guard let group = AccessGroup(name) else {
            throw .param("A group has 1 to 255 printable ASCII characters without white space.")
        }
        return group
    }
}
