public import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
public import SDBus

/// With `--system`: a desk for each user, made when it is first needed, and what concerns them all.
///
/// Whose desk a call goes to is decided by the caller's proven user id, never by anything in the call; only an
/// administrator's call names a user, by its object. No desk is closed while the broker runs: a user's background
/// items are there to be used when the user is away.
@BrokerActor public final class Desks {
    /// Where keychains come from, and who is who.
    public struct Source {
        let exists: (UInt32) -> Bool
        let open: (UInt32) throws(Refusal) -> Desk
        let make: (UInt32) async throws(Refusal) -> Desk
        let isRegistered: (UInt32) async -> Bool
        let userID: (_ connection: String) -> UInt32?
        let propertiesChanged: (_ names: [String], _ connection: String, _ namedUserID: UInt32?) -> Void

        /// `exists`: whether the user has a keychain, which `open` opens and `make` makes first. `isRegistered`:
        /// whether the machine knows the user. `userID`: whose connection it is, at once. `propertiesChanged`
        /// tells a connection that properties are to be read anew, of its own user or of another one.
        public init(
            exists: @escaping (UInt32) -> Bool, open: @escaping (UInt32) throws(Refusal) -> Desk,
            make: @escaping (UInt32) async throws(Refusal) -> Desk,
            isRegistered: @escaping (UInt32) async -> Bool, userID: @escaping (String) -> UInt32?,
            propertiesChanged: @escaping ([String], String, UInt32?) -> Void
        ) {
            self.exists = exists
            self.open = open
            self.make = make
            self.isRegistered = isRegistered
            self.userID = userID
            self.propertiesChanged = propertiesChanged
        }
    }

    let reception: Reception
    /// Before nobody's keychain: for what concerns the whole broker.
    let gate: Gate
    let source: Source
    let conditions: () -> [Condition]
    var desks: [UInt32: Desk] = [:]
    var unlocksWithSession = false
    private var underWay: [UInt32: Making] = [:]
    let watchers = PropertyWatchers()

    /// A keychain that is being made, and the calls that wait for it.
    private final class Making {
        var waiting: [CheckedContinuation<Result<Desk, Refusal>, Never>] = []
    }

    /// `gate` is before no user's keychain; `conditions` are those that the daemon itself knows of.
    public init(
        reception: Reception, gate: Gate, source: Source, conditions: @escaping () -> [Condition]
    ) {
        self.reception = reception
        self.gate = gate
        self.source = source
        self.conditions = conditions
    }

    /// The bus says that a connection has come.
    public func connectionAppeared(_ connection: String, bootTimeMicroseconds: UInt64) {
        reception.peers.noteAppeared(connection, bootTimeMicroseconds: bootTimeMicroseconds)
    }

    /// The bus says that a connection is gone: nothing is kept of it.
    public func connectionGone(_ connection: String) {
        reception.forget(connection)
        gate.forget(connection)
        watchers.forget(connection)
        // An administrator's connection may be known at several.
        for desk in desks.values { desk.forget(connection) }
    }

    /// Whether it is proven who is behind the connection.
    public func isKnown(_ connection: String) -> Bool { reception.peers.known(connection) != nil }

    /// Goes on at the desk that the call is about: at once where caller and desk are known. `makes` says whether the
    /// keychain of a user whom the call names is made first where there is none.
    func forward<Value>(
        _ context: CallContext, makes: Bool = true,
        _ call: @escaping (Desk) throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        if let facts = reception.peers.known(context.connection)?.facts,
            facts.userIsRegistered || context.namedUserID != nil,
            let desk = desks[context.namedUserID ?? facts.userID]
        {
            return try call(desk)
        }
        return .later { () async throws(Refusal) in
            try await call(try await self.desk(for: context, makes: makes)).value()
        }
    }

    private func desk(for context: CallContext, makes: Bool) async throws(Refusal) -> Desk {
        guard let userID = context.namedUserID else {
            let facts = try await reception.caller(context.connection).facts
            // A user namespace has thousands of ids that are nobody's.
            guard facts.userIsRegistered else { throw .unregisteredUser }
            return try await desk(of: facts.userID)
        }
        // Nobody but an administrator gets another user's keychain opened, or learns whether there is one. The desk
        // asks again, with every call.
        try await reception.managing(context, at: gate, "open-keychain", .administrator) {
            (_, leave) throws(Refusal) in
            _ = try leave()
            return .now(())
        }.value()
        if desks[userID] == nil, !source.exists(userID) {
            guard await source.isRegistered(userID) else { throw .unknownUser }
            guard makes else { throw .noKeychain }
        }
        return try await desk(of: userID)
    }

    private func desk(of userID: UInt32) async throws(Refusal) -> Desk {
        if let desk = desks[userID] { return desk }
        if let making = underWay[userID] {
            return try await withCheckedContinuation { making.waiting.append($0) }.get()
        }
        if source.exists(userID) { return try openDesk(of: userID) }
        let making = Making()
        underWay[userID] = making
        let result: Result<Desk, Refusal>
        do throws(Refusal) {
            let desk = try await source.make(userID)
            desk.allowUnlockWithSession(unlocksWithSession)
            desks[userID] = desk
            result = .success(desk)
        } catch {
            result = .failure(error)
        }
        underWay[userID] = nil
        for waiter in making.waiting { waiter.resume(returning: result) }
        return try result.get()
    }

    private func openDesk(of userID: UInt32) throws(Refusal) -> Desk {
        let desk = try source.open(userID)
        desk.allowUnlockWithSession(unlocksWithSession)
        desks[userID] = desk
        return desk
    }

    /// The user's desk, if there is a keychain to open. `NotAvailable` for one that cannot be.
    func existingDesk(of userID: UInt32) throws(Refusal) -> Desk? {
        if let desk = desks[userID] { return desk }
        guard underWay[userID] == nil, source.exists(userID) else { return nil }
        return try openDesk(of: userID)
    }

    /// Each user has a keychain, and an object that names it.
    public var servesAllUsers: Bool { true }

    /// The users whose keychains are open, for those who may know: root.
    public func openKeychains(for connection: String) -> [UInt32] {
        source.userID(connection) == 0 ? desks.keys.sorted() : []
    }
}

extension Refusal {
    static let unregisteredUser = Refusal(
        .missingEntitlement,
        "The machine's user database does not know this user id, so it has no keychain; add the user first.")
    static let unknownUser = Refusal(
        .param, "The machine's user database knows no such user, so there is no such keychain.")
    static let noKeychain = Refusal(
        .notAvailable, "This user has no keychain yet; the first program of the user's that calls makes one.")
    static let foreignKeychain = Refusal(
        .accessDenied, "Another user's keychain is told of to root alone.")
}
