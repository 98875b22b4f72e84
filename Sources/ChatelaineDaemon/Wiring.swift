internal import BrokerBus
internal import BrokerDesk
internal import BrokerGate
internal import BrokerHost
internal import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import BrokerVault
internal import SDBus
internal import Sodium

/// Puts the rooms together.
@BrokerActor struct Wiring {
    let isSystem: Bool
    let places: Places
    let connection: Connection
    let fronts: Fronts
    let direct: DirectEndpoint
    let log: Log
    let place: StorePlace
    /// Of what the person is asked.
    let turns: PromptTurns
    /// Hears of the configuration when it was read anew, beside the policy.
    let configured: (Configuration) async -> Void

    /// The desk of the user that runs the broker, with its store still closed; `open` opens it.
    func desk(_ policy: Policy) throws(Daemon.Failure) -> (desk: Desk, open: () -> Void) {
        let keychain = try keychains(policy).keychain(
            of: HostEnvironment.userID, { [place] () throws(Refusal) in try place.found() },
            propertiesChanged: { [weak fronts] in fronts?.propertiesChanged($0) })
        return (keychain.desk, { [place, log] in keychain.open(log, isThere: place.isThere) })
    }

    /// The desks of all users, none of them open.
    func desks(_ policy: Policy) throws(Daemon.Failure) -> Desks {
        let keychains = try keychains(policy)
        let folders = StateFolders(below: place.folder?.path ?? places.state)
        let users = WorkThread(name: "users")
        let owner = Owner()
        let complaints = Complaints(log)
        let source = Desks.Source(
            exists: folders.exists,
            open: { (userID) throws(Refusal) in
                let keychain = self.keychain(
                    of: userID,
                    in: try self.onFolder(complaints) { () throws(HostError) in try folders.open(userID) },
                    keychains, owner)
                keychain.open(log)
                return keychain.desk
            },
            make: { (userID) async throws(Refusal) in
                let folder = await users.run { Result { () throws(HostError) in try folders.open(userID) } }
                let keychain = self.keychain(
                    of: userID,
                    in: try self.onFolder(complaints) { () throws(HostError) in try folder.get() }, keychains,
                    owner)
                await keychain.make(log)
                return keychain.desk
            },
            isRegistered: { userID in await users.run { UserDatabase.knows(userID) } },
            userID: userID(of:),
            propertiesChanged: { [weak fronts] in fronts?.propertiesChanged($0, to: $1, of: $2) })
        let desks = Desks(
            reception: keychains.reception,
            gate: Gate(policy: policy, userID: nil, administrators: .machine, audit: log), source: source,
            conditions: conditions)
        owner.desks = desks
        return desks
    }

    // Keychains tell of their properties to whom they belong to.
    private final class Owner {
        weak var desks: Desks?
    }

    private func keychain(
        of userID: UInt32, in folder: StateFolder, _ keychains: Keychains, _ owner: Owner
    ) -> Keychain {
        let place = Vault.Place(folder: folder.path, deviceKey: place.machineKey?.key(of: userID))
        return keychains.keychain(
            // The folder is kept with its lock.
            of: userID, { withExtendedLifetime(folder) { place } },
            propertiesChanged: { [owner] in owner.desks?.propertiesChanged($0, of: userID) })
    }

    private func onFolder(
        _ complaints: Complaints, _ body: () throws(HostError) -> StateFolder
    ) throws(Refusal) -> StateFolder {
        do throws(HostError) {
            return try body()
        } catch {
            complaints.say(error.description)
            throw Refusal(
                .notAvailable, "The folder of this user's keychain cannot be used; the log says why.")
        }
    }

    private func userID(of connection: String) -> UInt32? {
        connection.hasPrefix(DirectEndpoint.prefix)
            ? direct.userID(of: connection) : self.connection.userID(of: connection)
    }

    private func keychains(_ policy: Policy) throws(Daemon.Failure) -> Keychains {
        let thread = WorkThread(name: "policy")
        let policies = PolicyKeeper(policy) {
            [log, places, isSystem, configured]
            () async throws(PolicyErrors) in
            let (source, files) = (places.policy, places.configuration)
            let (configuration, loaded) = try await thread.run {
                Result { () throws(PolicyErrors) in
                    (try Configuration.load(files), try source.load(isSystem: isSystem))
                }
            }.get()
            for warning in loaded.warnings { log.write(.warning, warning) }
            await configured(configuration)
            return loaded
        }
        let polkit = isSystem ? Polkit(connection) : nil
        return Keychains(
            reception: Reception(peers: try peers(thread), policies: policies, authority: polkit),
            policies: policies, administrators: isSystem ? .machine : .programs, log: log, fronts: fronts,
            conditions: conditions, person: polkit.map { DistantPerson($0) } ?? desktopPerson)
    }

    private var desktopPerson: any Person {
        DesktopPerson(
            prompter: BusPrompter(connection, turns: nil), turns: turns,
            systemBus: SystemBus(places.systemBus))
    }

    private func peers(_ thread: WorkThread) throws(Daemon.Failure) -> Peers {
        let source = ProcessCredentials(
            bus: BusCredentials(connection), direct: direct,
            userID: isSystem ? nil : HostEnvironment.userID)
        let peers = Peers(
            source: source, reader: PeerThreads(), reference: try reference(),
            memoryFile: places.runtime.map { ExecutableFile(folder: $0, worker: thread) })
        peers.refused = { [log] in log.recordUnidentified($0) }
        return peers
    }

    private func reference() throws(Daemon.Failure) -> ReferenceNamespaces {
        if isSystem {
            let reference = ReferenceNamespaces.machine()
            if let trouble = reference.trouble { log.write(.warning, trouble) }
            return reference
        }
        do throws(Fault) {
            return try ReferenceNamespaces.current()
        } catch {
            throw Daemon.Failure(
                "the broker's own namespaces cannot be read: \(error)", ExitStatus.systemError)
        }
    }

    private var conditions: () -> [Condition] {
        { [place] in
            (Secret.memoryIsLocked ? [] : [.memoryNotLocked])
                + (place.isKeyMissing ? [.deviceKeyMissing] : [])
        }
    }
}
