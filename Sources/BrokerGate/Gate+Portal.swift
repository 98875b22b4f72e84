public import BrokerModel
public import BrokerPeers
internal import BrokerPolicy

/// Who may have the secrets that the desktop's portal keeps for applications (POLICY, `Portal=`).
extension Gate {
    /// Leave to have and to make them, for the desktop's portal alone: a program whose file says who it is, and which is in
    /// no sandbox. They are in its own groups, whatever others share with each other: what somebody else has put elsewhere
    /// under an application's id is no secret of that application. `AccessDenied`, `MissingEntitlement`.
    public func grantForPortal(_ caller: Caller) throws(Refusal) -> Grant {
        let entitlements = entitlements(of: caller)
        let isPortal = entitlements.application.map(policy.secretService.portals.contains) ?? false
        guard isPortal, entitlements.trust >= .file, !entitlements.isSandboxed else {
            Witness(of: caller, entitlements, audit).record("retrieve-secret", nil, .deny, .portal)
            throw Objection.portal.refusal
        }
        return try grant(caller, [.read, .search, .add], in: nil)
    }
}
