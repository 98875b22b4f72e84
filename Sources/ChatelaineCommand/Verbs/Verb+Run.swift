internal import CredentialProtocols
internal import SDBus

extension Verb {
    /// Does it.
    @BrokerActor func run(_ context: Context) async throws(Failure) {
        switch self {
        case .get: try await GetVerb.run(context)
        case .set: try await SetVerb.run(context)
        case .list: try await ListVerb.run(context)
        case .delete: try await DeleteVerb.run(context)
        case .logout: try await LogoutVerb.run(context)
        case .refresh: try await RefreshVerb.run(context)
        case .status: try await StatusVerb.run(context)
        case .lock: try await LockVerb.run(context)
        case .unlock: try await UnlockVerb.run(context)
        case .passcodeSet: try await PasscodeVerb.set(context)
        case .passcodeChange: try await PasscodeVerb.change(context)
        case .passcodeRemove: try await PasscodeVerb.remove(context)
        case .recoveryCreate: try await RecoveryVerb.create(context)
        case .recoveryRemove: try await RecoveryVerb.remove(context)
        case .recoveryUse: try await RecoveryVerb.use(context)
        case .watch: try await WatchVerb.run(context)
        case .clients: try await ClientsVerb.run(context)
        case .groups: try await GroupsVerb.run(context)
        case .doctor: try await DoctorVerb.run(context)
        case .importSecretService: try await ImportVerb.fromKeyring(context)
        case .importGit: try await ImportVerb.fromFile(.git, context)
        case .importNetrc: try await ImportVerb.fromFile(.netrc, context)
        case .importDocker: try await ImportVerb.fromFile(.docker, context)
        case .secretServiceStatus: try await SecretServiceVerb.status(context)
        case .secretServiceOn: try await SecretServiceVerb.on(context)
        case .secretServiceOff: try await SecretServiceVerb.off(context)
        case .policyCheck: try PolicyCheckVerb.run(context)
        case .policyExplain: try await PolicyExplainVerb.run(context)
        case .policyReload: try await PolicyReloadVerb.run(context)
        }
    }
}
