internal import BrokerHost
internal import BrokerModel
internal import BrokerVault
internal import SDBus

/// The folder that this broker has locked, and the device key: there at the start, or when the home folder comes that they
/// are in.
@BrokerActor final class StorePlace {
    private let places: Places
    private let isSystem: Bool
    private let log: Log
    private var mounts: MountWatch?
    private var prepare: () async -> Void = {}
    private var arrived: () -> Void = {}
    private var isLooking = false
    private(set) var folder: StateFolder?
    /// Nil where it is missing: then no store opens.
    private(set) var machineKey: MachineKey?
    /// Whether a store can be opened, as far as the place goes.
    private(set) var isThere = false

    /// Takes the place, or finds that it has to be waited for.
    init(_ places: Places, isSystem: Bool, _ log: Log) throws(HostError) {
        self.places = places
        self.isSystem = isSystem
        self.log = log
        if let absence {
            log.write(.warning, "\(absence); the store waits for this home folder to be mounted")
        } else {
            try take()
            isThere = true
        }
    }

    var isKeyMissing: Bool { folder != nil && machineKey == nil }

    /// If the place has yet to come: `prepare` then runs before any call finds it, and `arrived` in the step in which it can
    /// be found.
    func wait(prepare: @escaping () async -> Void, arrived: @escaping () -> Void) {
        guard !isThere else { return }
        self.prepare = prepare
        self.arrived = arrived
        do throws(BusError) {
            mounts = try MountWatch(BrokerActor.shared.loop) { [weak self] in self?.look() }
        } catch {
            log.write(.warning, "mounts cannot be watched: \(error.message); calls alone look for the store")
        }
        look()
    }

    /// For the vault of the user that the broker serves.
    func found() throws(Refusal) -> Vault.Place {
        guard isThere, let folder else {
            look()
            throw Refusal(
                .notAvailable,
                "The home folder that the store is in is not there yet; call again when it is.")
        }
        return Vault.Place(folder: folder.path, deviceKey: machineKey?.only)
    }

    private var absence: HostError? {
        HostFile.exists(places.state) ? nil : places.home?.absence
    }

    private func look() {
        guard !isThere, !isLooking, absence == nil else { return }
        isLooking = true
        BrokerActor.start {
            defer { self.isLooking = false }
            do throws(HostError) {
                try self.take()
            } catch {
                self.log.write(.error, error.description)
                return
            }
            self.mounts = nil
            await self.prepare()
            self.isThere = true
            self.arrived()
        }
    }

    private func take() throws(HostError) {
        if folder == nil { folder = try StateFolder(places.state) }
        if let folder { machineKey = try loadMachineKey(folder) }
    }

    // A store without its key is not given a new one, which could never open it.
    private func loadMachineKey(_ folder: StateFolder) throws(HostError) -> MachineKey? {
        let hasStore =
            isSystem
            ? StateFolders(below: folder.path).holdStores : HostFile.exists(folder.path + "/keychain.db")
        let path = places.deviceKey
        guard
            let bytes = try DeviceKeyFile.load(path, mayCreate: !hasStore && places.mayMakeDeviceKey)
        else {
            let advice =
                places.mayMakeDeviceKey
                ? ""
                : "; where it is a credential, 'systemctl status chatelaine-credential' says why it was refused"
            log.write(
                .error, "the device key \(path) is missing, and no store can be opened without it\(advice)")
            return nil
        }
        return MachineKey(bytes)
    }
}
