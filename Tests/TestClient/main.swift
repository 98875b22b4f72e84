// A program of the tests: a second process of the group `org.example.suite`.
//
//     TestClient ADDRESS migrate STEP      migrates `alice` from form 1 to 2; killed after the step
//     TestClient ADDRESS migrate-stopping STEP   the same; says so after the step, once, and stops until it may go on
//     TestClient ADDRESS hold EPOCH        says each event, and takes the next when a line comes
//     TestClient ADDRESS read ACCOUNT      reads, and says how many bytes there are or what the error is
//     TestClient ADDRESS run CODE          lends its main thread to the loop too, and ends with the code that stops it

import Chatelaine
import Glibc
import SDBus
import Synchronization

let hasStopped = Atomic<Bool>(false)

func say(_ line: String) {
    print(line)
    fflush(nil)
}

func migrate(_ vault: CredentialVault, _ signal: Int32, after last: String) async throws(VaultError) {
    let outcome = try await vault.migrate(
        from: "alice", to: AccountName("alice", version: 2).stored,
        { (old) throws(VaultError) in Secret("2:" + (old.text() ?? "")) },
        after: { step in
            guard step.rawValue == last, !hasStopped.exchange(true, ordering: .relaxed) else { return }
            if signal == SIGSTOP { say("stops") }
            // To this thread: the others would go on for a moment.
            raise(signal)
        })
    say("\(outcome)")
}

func hold(_ vault: CredentialVault, _ epoch: UInt64?) async throws(VaultError) {
    for try await event in vault.events(handled: epoch) {
        switch event {
        case .subscribed(let state, _): say("subscribed \(state.rawValue)")
        case .lockState(let state): say("\(state.rawValue)")
        case .loggedOut(let logout): say("logged out \(logout.epoch) missed \(logout.wasMissed)")
        case .changed(let change): say("changed \(change.kind.rawValue)")
        case .refreshNeeded: say("refresh needed")
        case .gap: say("gap")
        case .interrupted: say("interrupted")
        }
        guard readLine() != nil else { return }
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 4 else { exit(64) }
let vault = CredentialVault(
    service: "https://mail.example", group: "org.example.suite", accessibility: .afterFirstUnlock,
    at: .address(arguments[1]))
do throws(VaultError) {
    switch arguments[2] {
    case "migrate": try await migrate(vault, SIGKILL, after: arguments[3])
    case "migrate-stopping": try await migrate(vault, SIGSTOP, after: arguments[3])
    case "hold": try await hold(vault, UInt64(arguments[3]))
    case "read":
        let secret = try await vault.read(account: arguments[3])
        say("\(secret.count) bytes")
    case "run":
        let code = Int32(arguments[3]) ?? 64
        BrokerActor.start {
            say((try? await vault.accounts().description) ?? "no broker")
            BrokerActor.shared.loop.stop(code: code)
        }
        exit(BrokerActor.shared.loop.run())
    default: exit(64)
    }
} catch {
    say("\(error)")
    exit(1)
}
