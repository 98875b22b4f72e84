import BrokerModel

/// Reads about a connection's process. It blocks, and a file system of the user's own can stall it, so it
/// runs on a thread of its own with a deadline (`DeadlineReader`).
///
/// What comes of it (POLICY, rules 2 to 4):
///
/// | seen | user, groups, label of the connection | executable | in the reference namespaces | unit, sandbox |
/// | --- | --- | --- | --- | --- |
/// | the bus knows no connection, or no user id | nobody | | | |
/// | process ended before the pin, or before the last check | nobody | | | |
/// | too late, too many at once, the broker is short of descriptors | nobody | | | |
/// | another program or other namespaces at the end than at the beginning | nobody | | | |
/// | the bus names no process, or one out of sight here | stand | none | unread | none |
/// | process has not the connection's user id | stand | none | unread | none |
/// | late pin, and started after the connection appeared | stand | none | unread | none |
/// | `/proc/PID` hidden | stand | none | unread | none |
/// | the process not dumpable, or the broker lacks the rights | stand | none | unread | unit, Snap |
/// | a mount or user namespace of its own | stand | none | no | unit, sandbox |
/// | no path names the program's file, nor does the memory | stand | none | yes | unit |
/// | else | stand | `file`, or `user` for a file that others can write | yes | unit |
///
/// What stands in the last columns is bounded by `PeerFacts.pin`: with a late pin on a connection older than
/// the broker all of it is worth `user`.
///
/// "Stand" is what the kernel fixed at connect and the bus reported. "Nobody" is `IdentityUnavailable`, which
/// nobody keeps: the next call looks again. "Unread" is never "not sandboxed".
struct ProcessReader: Sendable {
    let userID: UInt32
    let groupIDs: [UInt32]
    let processID: UInt32?
    /// The bus's pidfd, closed with the reader whatever comes of it.
    let descriptor: Descriptor?
    /// The connection's label, without its one trailing NUL.
    let securityLabel: [UInt8]?
    /// When the connection's name appeared, on CLOCK_BOOTTIME; nil for a connection older than the broker.
    let appearedMicroseconds: UInt64?
    let policyPaths: [String]
    let reference: ReferenceNamespaces
    let memory: ExecutableMemory
    /// Where a test lets the process change under the reader; the product leaves it empty.
    var afterFirstLook: @Sendable () -> Void = {}

    /// What one look gave.
    struct Reading: Sendable {
        var facts: PeerFacts
        var sightings: [ExecutableMemory.Record] = []
    }

    func read() throws(Doubt) -> Reading {
        let pin = try ProcessPin.take(descriptor: descriptor, processID: processID)
        var reading = Reading(facts: PeerFacts(userID: userID, processID: pin?.processID ?? processID))
        try passing { () throws(SystemError) in
            reading.facts.groups = GroupDirectory.describe(groupIDs, of: userID)
            reading.facts.userIsRegistered = try GroupDirectory.knows(user: userID)
            reading.facts.securityLabel = try label(profile: nil)
        }
        guard let pin else { return reading }
        try look(at: pin, into: &reading)
        try pin.check()
        return reading
    }

    /// What `whereReadable` lets through is the broker's own trouble.
    private func passing(_ body: () throws(SystemError) -> Void) throws(Doubt) {
        do {
            try body()
        } catch {
            throw .unreadable
        }
    }

    private func label(profile: AppArmorProfile?) throws(SystemError) -> PeerFacts.SecurityLabel? {
        let isEnforcing = securityLabel == nil ? nil : try SecurityLabels.selinuxIsEnforcing()
        return SecurityLabels.find(ofConnection: securityLabel, profile: profile, isEnforcing: isEnforcing)
    }

    private func look(at pin: ProcessPin, into reading: inout Reading) throws(Doubt) {
        do {
            guard let number = pin.processID,
                let process = try whereReadable({ () throws(SystemError) in
                    try ProcessFolder(processID: number)
                }),
                try counts(process, pin)
            else { return }
            let before = try Evidence(of: process)
            afterFirstLook()
            reading.facts.pin = pin.isLate ? (appearedMicroseconds == nil ? .unproven : .late) : .atConnect
            try describe(process, before, into: &reading)
            // An exec in between would mix what was read of two programs.
            guard try Evidence(of: process) == before else { throw Doubt.changed }
        } catch let doubt as Doubt {
            throw doubt
        } catch {
            throw .unreadable
        }
    }

    private func describe(
        _ process: ProcessFolder, _ seen: Evidence, into reading: inout Reading
    ) throws(SystemError) {
        reading.facts.startTicks = try whereReadable(process.startTicks)
        reading.facts.unit = seen.group.flatMap(unit)
        reading.facts.securityLabel = try label(profile: seen.profile)
        reading.facts.snap = SnapProof.find(profile: seen.profile, group: seen.group)
        guard let namespaces = seen.namespaces else { return }
        reading.facts.inReferenceNamespaces = try reference.contain(namespaces, of: userID)
        guard let root = reference.root else { return }
        switch reading.facts.inReferenceNamespaces {
        case true?: try prove(process, from: root, into: &reading)
        case false?:
            let proof = FlatpakProof(process: process, userID: userID, group: seen.group, root: root)
            reading.facts.flatpak = try proof.find()
        case nil: break
        }
        if reading.facts.pin == .unproven {
            reading.facts.executable?.trust = .user
            reading.facts.flatpak?.trust = .user
        }
    }

    /// A unit of another user's manager is none of the caller's.
    private func unit(_ group: ControlGroup) -> PeerFacts.Unit? {
        if case .systemUnit(let name) = group { return PeerFacts.Unit(name: name, isSystem: true) }
        return group.unit(ofUser: userID).map { PeerFacts.Unit(name: $0, isSystem: false) }
    }

    /// Whether what is read by this number is about the connection's process at all.
    private func counts(_ process: ProcessFolder, _ pin: ProcessPin) throws(SystemError) -> Bool {
        guard let userIDs = try whereReadable(process.userIDs), userIDs.contains(userID) else { return false }
        guard pin.isLate, let appearedMicroseconds else { return true }
        guard let started = try whereReadable(process.startMicroseconds) else { return false }
        return started <= appearedMicroseconds
    }

    private func prove(
        _ process: ProcessFolder, from root: Descriptor, into reading: inout Reading
    ) throws(SystemError) {
        let found = try whereReadable { () throws(SystemError) in
            try (file: process.open("exe"), text: process.executableText())
        }
        guard let found else { return }
        let proof = try whereReadable { () throws(SystemError) in
            try ExecutableProof.find(
                found.file, text: found.text, policyPaths: policyPaths, memory: memory, root: root)
        }
        guard let proof = proof ?? nil else { return }
        reading.sightings = proof.sightings
        reading.facts.executable = proof.executable
    }

    /// What must be the same at the end of a reading as at its beginning.
    private struct Evidence: Equatable {
        let namespaces: Namespaces?
        let executable: FileID?
        let group: ControlGroup?
        let profile: AppArmorProfile?

        init(of process: ProcessFolder) throws(SystemError) {
            namespaces = try whereReadable { () throws(SystemError) in try Namespaces(of: process) }
            executable = try whereReadable { () throws(SystemError) in try process.file("exe") }
            group = try process.controlGroup()
            profile = try AppArmorProfile.of(process)
        }
    }
}
