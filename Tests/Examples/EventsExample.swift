import Chatelaine

/// Follows what happens to what it holds, until it is signed out.
@Sendable func eventsExample() async throws {
    let vault = CredentialVault(service: "https://mail.example", group: "org.example.mail")
    let lastHandled: UInt64? = nil
    for try await event in vault.events(handled: lastHandled) {
        switch event {
        case .subscribed(let state, _): print("the keychain is \(state)")
        case .lockState(let state): print("now it is \(state)")
        case .loggedOut(let logout) where logout.concerns(service: vault.service):
            print("drop what is held, and keep \(logout.epoch) as the last that was handled")
        case .loggedOut, .changed, .refreshNeeded: continue
        case .gap, .interrupted: print("what was read before may be old")
        }
    }
}
