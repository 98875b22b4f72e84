internal import BrokerBus
internal import BrokerDesk
@_spi(Wiring) internal import BrokerGate
internal import BrokerHost
internal import BrokerModel
internal import BrokerVault
internal import SDBus
internal import Sodium

/// Makes one user's keychain: vault, threads, gate, desk. None of these is shared with another user's.
@BrokerActor struct Keychains {
    let reception: Reception
    let policies: PolicyKeeper
    let administrators: Gate.Administrators
    let log: Log
    let fronts: Fronts
    let conditions: () -> [Condition]
    let person: any Person

    /// A keychain over the place that `find` gives, in a folder that this broker has locked; the store is not open yet.
    func keychain(
        of userID: UInt32, _ find: @escaping () throws(Refusal) -> Vault.Place,
        propertiesChanged: @escaping ([String]) -> Void
    ) -> Keychain {
        let loop = BrokerActor.shared.loop
        let publisher = Publisher()
        let vault = Vault(
            findingPlace: find,
            Vault.Surroundings(
                storeThread: WorkThread(name: "store"), derivationThread: WorkThread(name: "derivation"),
                passcodeThread: WorkThread(name: "passcode"), now: { HostEnvironment.now },
                tell: { publisher.desk?.publish($0) },
                report: report(userID),
                pause: { try? await loop.sleep(microseconds: $0) },
                breathe: { try? await loop.sleep(microseconds: 0) }))
        let outlet = Desk.Outlet(
            tell: { [weak fronts] in fronts?.tell($0, sequence: $1, to: $2) },
            propertiesChanged: propertiesChanged, now: { HostEnvironment.now }, conditions: conditions,
            locked: { [log] in log.write(.info, "user \(userID): locked by \($0.rawValue)") },
            partedWays: { [log] in
                log.write(
                    .warning,
                    "user \(userID): the login's password is not the passcode; 'chatelaine passcode change' sets it as one"
                )
            })
        let desk = Desk(
            reception: reception,
            gate: Gate(
                policy: policies.policy, userID: userID, administrators: administrators, audit: log),
            vault: vault, outlet: outlet, leases: .loop(boot: HostEnvironment.bootID), person: person,
            custodian: CustodianGrant())
        publisher.desk = desk
        return Keychain(desk: desk, vault: vault)
    }

    // Of several users each says the same once in a while: nobody's broken store fills the log.
    private func report(_ userID: UInt32) -> (Fault) -> Void {
        guard administrators == .machine else { return { [log] in log.report($0) } }
        let complaints = Complaints(log)
        return { complaints.say("user \(userID): \($0)") }
    }

    // The vault tells of commits before it knows a desk.
    private final class Publisher {
        weak var desk: Desk?
    }
}

/// A desk and what stands behind it.
@BrokerActor struct Keychain {
    let desk: Desk
    private let vault: Vault

    fileprivate init(desk: Desk, vault: Vault) {
        self.desk = desk
        self.vault = vault
    }

    /// Opens the store, unless its place has yet to come. One that does not open now is opened by the first call that
    /// comes when its cause is gone.
    func open(_ log: Log, isThere: Bool = true) {
        do throws(Refusal) {
            if isThere { try vault.open() }
        } catch {
            log.write(.error, error.text)
        }
        desk.startUpkeep()
    }

    /// The same for one that may have to be made first, beside other calls.
    func make(_ log: Log) async {
        do throws(Refusal) {
            try await vault.make()
        } catch {
            log.write(.error, error.text)
        }
        desk.startUpkeep()
    }
}
