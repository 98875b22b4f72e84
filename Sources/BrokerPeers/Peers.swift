public import BrokerModel

/// Who is behind each connection: asked once, at its first call, and kept until the connection goes.
///
/// It lives on its owner's actor. Between asking and knowing that actor serves others, so a connection may
/// go meanwhile, and several of its calls may ask at once.
public final class Peers {
    private let source: any CredentialSource
    private let reader: any DeadlineReader
    private let reference: ReferenceNamespaces

    private var proven: [String: Caller] = [:]
    private var underWay: [String: LookUp] = [:]
    private var appearances: [String: UInt64] = [:]
    private var crowd = Crowd()
    private var turnedAway: [String: TurnedAway] = [:]
    private var memory: ExecutableMemory
    private let memoryFile: ExecutableFile?
    private var additionsKept = 0
    private var memoryIsBeingKept = false

    /// A bus lets far fewer connections in. One past it is treated as older than the broker.
    static let appearancesMax = 16_384

    /// Hears of each connection whose look-up left it nobody, once however many calls waited for it.
    public var refused: (_ connection: String) -> Void = { _ in }

    private typealias Outcome = Result<Caller, Refusal>

    /// A connection that found no room: where there was none, and what is known of it by now, so that its
    /// next call costs nothing.
    private struct TurnedAway {
        let keys: [Crowd.Key]
        let caller: Caller?
    }

    /// A look-up that has begun, and the calls that wait for it.
    private final class LookUp {
        var waiting: [CheckedContinuation<Outcome, Never>] = []
        var connectionIsGone = false
    }

    /// Nothing is asked before the first call. `memoryFile` is read at once; without one, what programs were
    /// is forgotten when the broker ends.
    public init(
        source: any CredentialSource, reader: any DeadlineReader, reference: ReferenceNamespaces,
        memoryFile: ExecutableFile? = nil
    ) {
        self.memoryFile = memoryFile
        memory = ExecutableMemory(memoryFile?.load() ?? [])
        self.source = source
        self.reader = reader
        self.reference = reference
    }

    /// Every caller that is known now, in no order.
    public var callers: [Caller] { Array(proven.values) }

    /// Nil when the connection has not been identified yet: then `identify`.
    public func known(_ connection: String) -> Caller? {
        proven[connection]
    }

    /// The bus says that the connection has just come. To be called before any of its calls is served: of a
    /// connection that was never noted it cannot be shown that its process is older than its name.
    ///
    /// `bootTimeMicroseconds` is CLOCK_BOOTTIME, which the kernel counts processes' starts by.
    public func noteAppeared(_ connection: String, bootTimeMicroseconds: UInt64) {
        guard appearances.count < Self.appearancesMax else { return }
        appearances[connection] = bootTimeMicroseconds
    }

    /// The bus says that the connection is gone. A look-up of it that is under way ends in a refusal.
    public func forget(_ connection: String) {
        proven[connection] = nil
        appearances[connection] = nil
        underWay.removeValue(forKey: connection)?.connectionIsGone = true
        turnedAway[connection] = nil
        crowd.leave(connection)
    }

    /// The first call of a connection: asks the bus, pins the process, reads about it, and checks the pin
    /// last. Calls that ask at the same time share one look-up. Throws `identityUnavailable`, and keeps
    /// nothing then; or `quotaExceeded`, as long as its user or program has too many connections.
    ///
    /// `policyExecutables` are the absolute paths that the policy names; those that name the caller's very
    /// file are among `facts.executable.paths`. Patterns are not expanded. What takes no place is no
    /// connection: a process that somebody asks about.
    public func identify(
        _ connection: String, policyExecutables: [String], takesPlace: Bool = true
    ) async throws(Refusal) -> Caller {
        if let caller = proven[connection] { return caller }
        if let away = turnedAway[connection] {
            if let refusal = crowd.refusal(away.keys) { throw refusal }
            if let caller = away.caller { return admit(caller, away.keys) }
        }
        return try await outcome(connection, policyExecutables, takesPlace).get()
    }

    private func outcome(
        _ connection: String, _ policyExecutables: [String], _ takesPlace: Bool
    ) async -> Outcome {
        if let lookUp = underWay[connection] {
            return await withCheckedContinuation { lookUp.waiting.append($0) }
        }
        let lookUp = LookUp()
        underWay[connection] = lookUp
        let result = await read(connection, policyExecutables, takesPlace)
        let outcome = settle(connection, lookUp, result)
        if case .failure(let refusal) = outcome, refusal.kind == .identityUnavailable { refused(connection) }
        for waiter in lookUp.waiting { waiter.resume(returning: outcome) }
        await keepMemory()
        return outcome
    }

    /// Writes what is new before the call goes on that brought it; another one's write takes it along.
    private func keepMemory() async {
        guard let memoryFile, !memoryIsBeingKept else { return }
        memoryIsBeingKept = true
        while memory.additions != additionsKept {
            additionsKept = memory.additions
            await memoryFile.save(memory.records)
        }
        memoryIsBeingKept = false
    }

    private func settle(
        _ connection: String, _ lookUp: LookUp, _ result: Result<ProcessReader.Reading, Refusal>
    ) -> Outcome {
        if lookUp.connectionIsGone {
            crowd.leave(connection)
            turnedAway[connection] = nil
            return .failure(Doubt.unknownToTheBus.refusal)
        }
        underWay[connection] = nil
        let keys = crowd.leave(connection)
        return result.flatMap { reading in
            for sighting in reading.sightings { memory.remember(sighting) }
            let caller = Caller(connection: connection, facts: reading.facts)
            let all = keys.isEmpty ? [] : keys + [Crowd.Key(programOf: reading.facts)]
            guard let refusal = crowd.refusal(all) else { return .success(admit(caller, all)) }
            turnedAway[connection] = TurnedAway(keys: all, caller: caller)
            return .failure(refusal)
        }
    }

    private func admit(_ caller: Caller, _ keys: [Crowd.Key]) -> Caller {
        turnedAway[caller.connection] = nil
        crowd.enter(caller.connection, keys)
        proven[caller.connection] = caller
        return caller
    }

    private func read(
        _ connection: String, _ policyExecutables: [String], _ takesPlace: Bool
    ) async -> Result<ProcessReader.Reading, Refusal> {
        guard let credentials = await source.credentials(of: connection) else {
            return .failure(Doubt.unknownToTheBus.refusal)
        }
        let descriptor = credentials.processFD.map(Descriptor.init(owning:))
        guard let userID = credentials.userID else { return .failure(Doubt.unknownToTheBus.refusal) }
        let keys: [Crowd.Key] =
            takesPlace ? [.user(userID), .process(credentials.processID, userID: userID)] : []
        if let refusal = crowd.refusal(keys) {
            turnedAway[connection] = TurnedAway(keys: keys, caller: nil)
            return .failure(refusal)
        }
        turnedAway[connection] = nil
        crowd.enter(connection, keys)
        let processReader = ProcessReader(
            userID: userID, groupIDs: credentials.groupIDs ?? [], processID: credentials.processID,
            descriptor: descriptor, securityLabel: credentials.securityLabel,
            appearedMicroseconds: appearances[connection], policyPaths: policyExecutables,
            reference: reference, memory: memory)
        let result = await reader.run(
            key: userID, deadlineMicroseconds: Limits.peerLookupMicroseconds
        ) {
            Result { () throws(Doubt) in try processReader.read() }
        }
        return (result ?? .failure(.late)).mapError(\.refusal)
    }
}
