public import BrokerModel
internal import Glibc
internal import SQLite
internal import Sodium

/// The items of one user, sealed in one file, and the keys that are in memory.
///
/// Everything but the flush of a commit and the derivation of a passcode runs where it is called, which is
/// the daemon's one actor; the vault is not Sendable, so the compiler holds that.
public final class Vault {
    /// What the vault asks of the world around it.
    public struct Surroundings {
        let storeThread: any BlockingWorker
        let derivationThread: any BlockingWorker
        let passcodeThread: any BlockingWorker
        let now: () -> UInt64
        let tell: ([Notice]) -> Void
        let report: (Fault) -> Void
        let pause: (UInt64) async -> Void
        let breathe: () async -> Void

        /// Keys of passcodes are derived on `passcodeThread`, those of application passwords, which any program
        /// can bring many of, on `derivationThread`.
        /// `now`: microseconds since the Unix epoch. `tell` gets notices after their commit, in its order.
        /// `report` gets what broke, for the journal. `pause` waits so many microseconds; `breathe` lets other
        /// calls go first.
        public init(
            storeThread: any BlockingWorker, derivationThread: any BlockingWorker,
            passcodeThread: any BlockingWorker, now: @escaping () -> UInt64,
            tell: @escaping ([Notice]) -> Void, report: @escaping (Fault) -> Void,
            pause: @escaping (UInt64) async -> Void, breathe: @escaping () async -> Void
        ) {
            self.storeThread = storeThread
            self.derivationThread = derivationThread
            self.passcodeThread = passcodeThread
            self.now = now
            self.tell = tell
            self.report = report
            self.pause = pause
            self.breathe = breathe
        }
    }

    /// Where the store is, and the device key that opens it; nil where that is missing, and no store is opened then.
    public struct Place {
        let path: String
        let deviceKey: DeviceKey?

        /// `folder` exists.
        public init(folder: String, deviceKey: DeviceKey?) {
            path = folder + "/keychain.db"
            self.deviceKey = deviceKey
        }
    }

    /// A store whose device key is another one, or missing.
    struct Stranded {
        let isRecoveryKeySet: Bool
        let isPasscodeSet: Bool
    }

    let surroundings: Surroundings
    let keyring = Keyring()
    private let find: () throws(Refusal) -> Place
    private var place: Place?
    var store: Store?
    /// The keybag of a store that was lost, whose keys are still in memory.
    private var lost: (identity: [UInt8], isPasscodeSet: Bool)?
    /// What is known of a store that belongs to another device key.
    var stranded: Stranded?
    let attempts = UnlockAttempts()
    /// Whether the login's password has not opened the keybag since the broker runs. That changes nothing on the disk.
    var wasRefusedAtLogin = false
    /// How often the device was locked, so that an unlock knows when it was overtaken.
    public internal(set) var locks = 0
    /// The keys as an unlock of the session opens them; nil where that opens nothing.
    var sessionSeal: SessionSeal?
    var sealsForSession = false
    /// Items that a call saw expired: they stay so, whatever the clock does, until the sweep takes them away.
    var seenExpired: Set<Int64> = []
    /// Whether completions of refreshes may be kept for the next unlock.
    var keepsCompletions = false
    /// The first fence that this process gives out, once it has looked.
    var knownFirstFence: UInt64?
    /// Whether a call met an item that has ceased to exist; `sweep` takes it away.
    public var needsSweep: Bool { !seenExpired.isEmpty }
    /// Set when something was deleted whose old frames should leave the log soon.
    public internal(set) var needsCheckpoint = false

    /// A vault over `folder`, which exists. Nothing is opened yet. Without a device key no store is opened.
    public convenience init(folder: String, deviceKey: DeviceKey?, _ surroundings: Surroundings) {
        let place = Place(folder: folder, deviceKey: deviceKey)
        self.init(findingPlace: { place }, surroundings)
        self.place = place
    }

    /// The same over the place that `find` gives: every call for the store asks for it until it gives one.
    public init(findingPlace find: @escaping () throws(Refusal) -> Place, _ surroundings: Surroundings) {
        self.find = find
        self.surroundings = surroundings
    }

    var now: UInt64 { surroundings.now() }

    /// Nil also while there is no place.
    var deviceKey: DeviceKey? { place?.deviceKey }

    /// Which class keys are in memory.
    public var state: DeviceState { keyring.state }

    /// Whether the store is open; until it is, calls for items try to open it.
    public var isOpen: Bool { store != nil }

    /// Whether a passcode protects the keybag; false while the store cannot be read.
    public var isPasscodeSet: Bool { store?.isPasscodeSet ?? stranded?.isPasscodeSet ?? false }

    /// The same for the keys in memory, also while the store is lost.
    var areKeysProtected: Bool { store?.isPasscodeSet ?? lost?.isPasscodeSet ?? false }

    /// Opens the store where it is not open, and makes it where there is none: at start, and again by every
    /// call after a failure, so that the broker works as soon as the cause is gone. `NotAvailable`.
    public func open() throws(Refusal) { _ = try openStore() }

    /// Makes the store where there is none, without holding up other calls for the disk, and opens it.
    public func make() async throws(Refusal) {
        let place = try foundPlace()
        if let deviceKey = place.deviceKey {
            try await Store.makeAside(place.path, deviceKey: deviceKey, surroundings: surroundings)
        }
        try open()
    }

    private func foundPlace() throws(Refusal) -> Place {
        if let place { return place }
        let found = try find()
        place = found
        return found
    }

    func openStore() throws(Refusal) -> Store {
        if let store { return store }
        // No key comes while the broker runs: what there is to know of such a store is known after one look.
        if deviceKey == nil && stranded != nil { throw .noDeviceKey }
        let opened = try openFile()
        guard let deviceKey, opened.isOwn else { throw deviceKey == nil ? .noDeviceKey : .foreignStore }
        try take(opened, deviceKey)
        return opened
    }

    /// Makes the opened file, which is its own, the one that all calls are about.
    func take(_ opened: Store, _ deviceKey: DeviceKey) throws(Refusal) {
        forgetForeignKeys(opened)
        try noteCompletions(opened)
        store = opened
        if !opened.isPasscodeSet { try openWithoutPasscode(opened, deviceKey) }
    }

    /// Opens the file, whatever device key it belongs to.
    func openFile() throws(Refusal) -> Store {
        let place = try foundPlace()
        guard place.deviceKey != nil || DatabaseFile.exists(place.path) else { throw .noDeviceKey }
        let opened = try Store.open(place.path, deviceKey: place.deviceKey, surroundings: surroundings)
        if opened.isOwn {
            stranded = nil
        } else if stranded == nil {
            stranded = Stranded(isRecoveryKeySet: opened.recovery != nil, isPasscodeSet: opened.isPasscodeSet)
            if deviceKey != nil { surroundings.report(Fault("this store belongs to another device key")) }
        }
        return opened
    }

    private func noteCompletions(_ opened: Store) throws(Refusal) {
        guard !opened.isReadOnly else { return }
        keepsCompletions = try stored { () throws(SQLiteError) in
            try !CompletionTable(database: opened.writing.database).isEmpty
        }
    }

    // A file that came into the place of the one before may have another keybag: keys of the old one must
    // neither read it nor, above all, write to it.
    private func forgetForeignKeys(_ opened: Store) {
        guard let lost, lost.identity != opened.identity, state != .beforeFirstUnlock else { return }
        keyring.forget()
        sessionSeal = nil
        surroundings.tell([.lockStateChanged(.beforeFirstUnlock)])
    }

    // No passcode: the device key alone opens the keybag, and the keychain is always unlocked.
    private func openWithoutPasscode(_ opened: Store, _ deviceKey: DeviceKey) throws(Refusal) {
        let slotKey = opened.slot.header.slotKey(derived: nil, deviceKey: deviceKey)
        do throws(KeybagError) {
            keyring.unlock(with: try opened.slot.open(with: slotKey))
        } catch {
            surroundings.report(Fault("open the keybag"))
            store = nil
            throw Refusal(.notAvailable, "The keybag is damaged; it was left as it is.")
        }
    }

    /// What a look at items needs: tables, keys, the time. Refuses everything before the first unlock (K9).
    func selection(_ tables: Tables, _ store: Store) throws(Refusal) -> Selection {
        guard let index = keyring.index else { throw .beforeFirstUnlock }
        return Selection(
            tables: tables, index: index, accessibilities: store.accessibilities, now: now, lead: store.lead)
    }

    /// Lets go of a store that turned out damaged or unreadable, so that the next call opens it anew.
    func check<Result>(_ body: () throws(Refusal) -> Result) throws(Refusal) -> Result {
        do throws(Refusal) {
            return try body()
        } catch {
            // A disk that was read-only may not be so any more.
            let isLost = error.kind == .notAvailable && store?.isReadable == false
            if isLost || (error.kind == .readOnly && store?.isReadOnly == true) {
                lost = store.map { ($0.identity, $0.isPasscodeSet) }
                store = nil
            }
            throw error
        }
    }
}
