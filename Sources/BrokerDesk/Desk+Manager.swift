internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import BrokerVault
internal import SDBus
public import Sodium

extension Desk {
    /// The device's state.
    public var state: DeviceState { vault.state }

    /// Whether a passcode protects the keybag.
    public var isPasscodeSet: Bool { vault.isPasscodeSet }

    /// What wants an administrator's attention.
    public var conditions: [Condition] {
        var conditions = outlet.conditions()
        if !vault.isOpen && !conditions.contains(.deviceKeyMissing) { conditions.append(.waitingForStore) }
        if policyIsRefused { conditions.append(.policyRefused) }
        return conditions
    }

    /// `Lock`: the foreground keys are wiped before this returns.
    public func lock(_ context: CallContext) throws(Refusal) -> Outcome<Void> {
        try withCaller(context) { (caller) throws(Refusal) in
            try self.vault.lock(try self.gate.manageAsUser(caller, "lock"))
            return .now(())
        }
    }

    /// `Unlock`.
    public func unlock(_ context: CallContext, _ passcode: SharedSecret) throws(Refusal) -> Outcome<Void> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsUser(caller, "unlock")
            return .later { () async throws(Refusal) in
                try await self.vault.unlock(try self.gate.manageAsUser(caller, "unlock"), passcode)
                self.leaveUpkeep()
            }
        }
    }

    /// `SetPasscode`.
    public func setPasscode(
        _ context: CallContext, old: SharedSecret, new: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsUser(caller, "set-passcode")
            return .later { () async throws(Refusal) in
                try await self.vault.setPasscode(
                    try self.gate.manageAsUser(caller, "set-passcode"), old: old, new: new)
                self.outlet.propertiesChanged(["PasscodeSet"])
            }
        }
    }

    /// `RemovePasscode`.
    public func removePasscode(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsUser(caller, "remove-passcode")
            return .later { () async throws(Refusal) in
                try await self.vault.removePasscode(
                    try self.gate.manageAsUser(caller, "remove-passcode"), passcode)
                self.outlet.propertiesChanged(["PasscodeSet"])
                self.leaveUpkeep()
            }
        }
    }

    /// `ForceLogout`.
    public func forceLogout(
        _ context: CallContext, group name: String, service: String, reason: String
    ) throws(Refusal) -> Outcome<LogoutOutcome> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsAdministrator(caller, "force-logout")
            let group = try Self.administered(name)
            try Self.checkTexts(service, reason)
            return try self.waiting(caller, bytes: 0) { () async throws(Refusal) in
                var outcome = try await self.vault.logout(
                    { () throws(Refusal) in
                        let grant = try self.gate.manageAsAdministrator(caller, "force-logout")
                        return self.gate.administer(grant, group)
                    }, service: service, reason: reason, always: true)
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
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsAdministrator(caller, "move-items")
            let (from, to) = (try Self.administered(from), try Self.administered(to))
            guard from != to else { throw .param("The two groups are one.") }
            return try self.waiting(caller, bytes: 0) { () async throws(Refusal) in
                try await self.vault.moveItems(
                    { () throws(Refusal) in
                        let grant = try self.gate.manageAsAdministrator(caller, "move-items")
                        return self.gate.administer(grant, from, reaching: to)
                    }, to: to)
            }
        }
    }

    /// `ListGroups`.
    public func listGroups(_ context: CallContext) throws(Refusal) -> Outcome<[GroupRecord]> {
        try withCaller(context) { (caller) throws(Refusal) in
            let grant = try self.gate.manageAsAdministrator(caller, "list-groups")
            return .now(try self.vault.listGroups(grant))
        }
    }

    /// `Check`.
    public func check(_ context: CallContext) throws(Refusal) -> Outcome<CheckReport> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsAdministrator(caller, "check")
            return .later { () async throws(Refusal) in
                try await self.vault.checkItems(try self.gate.manageAsAdministrator(caller, "check"))
            }
        }
    }

    // To an administrator a name that no group has is a mistake, and no secret.
    private static func administered(_ name: String) throws(Refusal) -> AccessGroup {
        guard let group = AccessGroup(name) else {
            throw .param("A group has 1 to 255 printable ASCII characters without white space.")
        }
        return group
    }
}
