public import Sodium

/// What a program does at its start, by what became of its credential.
public enum LaunchRoute: ~Copyable, Sendable {
    /// Go on, with this.
    case ready(Secret)
    /// There is no credential, which is certain: show the sign-in page.
    case signIn
    /// It is there and locked: wait for the unlock, and show nothing that looks signed out.
    case waitForUnlock(VaultError)
    /// It is there and cannot be read: say so, and offer to sign in again, which replaces it.
    case damaged(VaultError)
    /// Nobody can say: the broker is missing, its disk fails, or the policy does not know this program. Say so and try
    /// again. Nothing about this is a reason to sign in, or to delete anything.
    case unavailable(VaultError)
}

extension CredentialVault {
    /// Reads the account's secret and says what to do at the program's start.
    public func launch(account: String) async -> LaunchRoute {
        do throws(VaultError) {
            return .ready(try await read(account: account))
        } catch {
            return LaunchRoute(error)
        }
    }
}

extension LaunchRoute {
    /// Where a failed read leads.
    init(_ error: VaultError) {
        switch error {
        case .notFound: self = .signIn
        case .locked, .beforeFirstUnlock, .needsPrompt: self = .waitForUnlock(error)
        case .damaged: self = .damaged(error)
        case .refused, .notEntitled, .changed, .quota, .tooLarge, .unavailable, .io, .brokerMissing,
            .interrupted, .cancelled, .invalid:
            self = .unavailable(error)
        }
    }
}
