import BrokerModel

/// Reads about a connection's process. It blocks, and a file system of the user's own can stall it, so it
/// runs on a thread of its own with a deadline (`DeadlineReader`).
///
/// What comes of it (POLICY, rules 2 to 4):
///
/// | seen | user id, groups | executable | in the reference namespaces |
/// | --- | --- | --- | --- |
/// | the bus knows no connection, or no user id | nobody | | |
/// | process ended before the pin, or before the last check | nobody | | |
/// | too late, too many at once, the broker is short of descriptors | nobody | | |
/// | another program or other namespaces at the end than at the beginning | nobody | | |
/// | the bus names no process, or one out of sight here | stand | none | unread |
/// | `/proc/PID` hidden, or the process not dumpable | stand | none | unread |
/// | process has not the connection's user id | stand | none | unread |
/// | late pin, and started after the connection appeared | stand | none | unread |
/// | a mount or user namespace of its own | stand | none | no |
/// | no path names the program's file, nor does the memory | stand | none | yes |
/// | late pin, and the connection is older than the broker | stand | `user` at most | yes |
/// | else | stand | `file`, or `user` for a file that others can write | yes |
///
/// "Stand" is what the kernel fixed at connect and the bus reported. "Nobody" is `IdentityUnavailable`, which
/// nobody keeps: the next call looks again. "Unread" is never "not sandboxed".
struct ProcessReader: Sendable {
    let userID: UInt32
    let groupIDs: [UInt32]
    let processID: UInt32?
    /// The bus's pidfd, closed with the reader whatever comes of it.
    let descriptor: Descriptor?
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
        reading.facts.groups = GroupDirectory.describe(groupIDs, of: userID)
        guard let pin else { return reading }
        try look(at: pin, into: &reading)
        try pin.check()
        return reading
    }

    private func look(at pin: ProcessPin, into reading: inout Reading) throws(Doubt) {
        do {
            guard let number = pin.processID,
                let process = try whereReadable({ () throws(SystemError) in
                    try ProcessFolder(processID: number)
                }),
                try counts(process, pin)
            else { return }
            reading.facts.startTicks = try whereReadable(process.startTicks)
            let before = try Evidence(of: process)
            afterFirstLook()
            reading.facts.inReferenceNamespaces = before.namespaces.map(reference.contain)
            if reading.facts.inReferenceNamespaces == true { try prove(process, pin, into: &reading) }
            // An exec in between would mix what was read of two programs.
            guard try Evidence(of: process) == before else { throw Doubt.changed }
        } catch let doubt as Doubt {
            throw doubt
        } catch {
            throw .unreadable
        }
    }

    /// Whether what is read by this number is about the connection's process at all.
    private func counts(_ process: ProcessFolder, _ pin: ProcessPin) throws(SystemError) -> Bool {
        guard let userIDs = try whereReadable(process.userIDs), userIDs.contains(userID) else { return false }
        guard pin.isLate, let appearedMicroseconds else { return true }
        guard let started = try whereReadable(process.startMicroseconds) else { return false }
        return started <= appearedMicroseconds
    }

    private func prove(
        _ process: ProcessFolder, _ pin: ProcessPin, into reading: inout Reading
    ) throws(SystemError) {
        let found = try whereReadable { () throws(SystemError) in
            try (file: process.open("exe"), text: process.executableText())
        }
        guard let found else { return }
        let proof = try whereReadable { () throws(SystemError) in
            try ExecutableProof.find(
                found.file, text: found.text, policyPaths: policyPaths, memory: memory)
        }
        guard let proof = proof ?? nil else { return }
        reading.sightings = proof.sightings
        reading.facts.executable = proof.executable
        if pin.isLate && appearedMicroseconds == nil { reading.facts.executable?.trust = .user }
    }

    /// What must be the same at the end of a reading as at its beginning.
    private struct Evidence: Equatable {
        let namespaces: Namespaces?
        let executable: FileID?

        init(of process: ProcessFolder) throws(SystemError) {
            namespaces = try whereReadable { () throws(SystemError) in try Namespaces(of: process) }
            executable = try whereReadable { () throws(SystemError) in try process.file("exe") }
        }
    }
}
