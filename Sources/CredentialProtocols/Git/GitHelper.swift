internal import BrokerModel
internal import Chatelaine
internal import SDBus
internal import Sodium

/// git's credential helper, over one connection to the broker.
@BrokerActor struct GitHelper {
    private let broker: Broker
    private let group: String?
    private let seconds: UInt64

    /// What git asks a helper for.
    enum Operation: String, Sendable {
        /// The credential that fits.
        case get
        /// To keep one that worked.
        case store
        /// To drop one that was refused.
        case erase
    }

    /// A helper that keeps its items in the group, or with none in the caller's default group, at a time in seconds
    /// since the Unix epoch.
    init(_ broker: Broker, group: String?, now seconds: UInt64) {
        self.broker = broker
        self.group = group
        self.seconds = seconds
    }

    /// Does what git asks for; the text is what git is to read.
    func perform(_ operation: Operation, _ message: GitMessage) async throws(HelperFailure) -> SecretText {
        guard let place = GitPlace(message) else { return SecretText() }
        switch operation {
        case .get: return try await get(place, withAuthType: message.takesAuthType)
        case .store: try await store(message, at: place)
        case .erase: try await erase(message, at: place)
        }
        return SecretText()
    }

    // Of several the one for the very path that git names, or for none; of those the newest.
    private func get(_ place: GitPlace, withAuthType: Bool) async throws(HelperFailure) -> SecretText {
        let found = try await search(place).filter { place.matches($0) && $0.canBeTold }
        let exact = found.filter(place.isForItsPath)
        let candidates = exact.isEmpty ? found : exact
        guard let chosen = candidates.max(by: { $0.modified < $1.modified }),
            let item = try await read(chosen, at: place), item.attributes.canBeTold
        else { return SecretText() }
        guard let credential = GitCredential(stored: item.secret) else { throw .unreadable }
        let answer = credential.answer(now: seconds, withAuthType: withAuthType)
        guard !answer.isEmpty else { return answer }
        var text = SecretText()
        if withAuthType { text.append("capability[]=authtype\n") }
        if let account = item.attributes["Account"] {
            text.append("username=")
            text.append(GitPlace.bytes(account))
            text.append("\n")
        }
        text.append(answer)
        return text
    }

    private func store(_ message: GitMessage, at place: GitPlace) async throws(HelperFailure) {
        let credential = GitCredential(message)
        let isWhole = message[.username] != nil && credential.password != nil || credential.credential != nil
        guard isWhole, !message.isEphemeral else { return }
        var attributes = place.primaryKey(group: group)
        var kept = credential
        let replaced = try await search(place).filter(place.isReplaced)
        if let old = replaced.first, let item = try await read(old, at: place),
            let stored = GitCredential(stored: item.secret), credential.isSame(as: stored)
        {
            kept = credential.keepingWhatIsLeftOut(of: stored)
            // git stores what it was given each time that it worked.
            guard !kept.isEqual(to: stored) else { return }
            attributes["IfRevision"] = item.attributes["Revision"]
        }
        attributes.setTime(of: kept, now: seconds)
        let (item, secret) = (attributes, SharedSecret(kept.stored))
        do throws(ChatelaineError) {
            _ = try await broker.store(item, secret)
        } catch {
            // Somebody stored another one meanwhile, which is the newer.
            if error.kind != .revisionMismatch { throw HelperFailure(error) }
        }
    }

    // A password that was refused is erased where it is the stored one. Another one is not what was refused: somebody has
    // stored it since git asked, and it stays.
    private func erase(_ message: GitMessage, at place: GitPlace) async throws(HelperFailure) {
        let refused = GitCredential(message)
        for item in try await search(place).filter(place.matches) {
            var query = Attributes()
            query["Reference"] = item["Reference"]
            if refused.password != nil || refused.credential != nil {
                guard let item = try await read(item, at: place),
                    let stored = GitCredential(stored: item.secret), refused.names(stored)
                else { continue }
                query["IfRevision"] = item.attributes["Revision"]
            }
            let one = query
            do throws(ChatelaineError) {
                _ = try await broker.delete(one)
            } catch {
                let isGone = error.kind == .revisionMismatch || error.kind == .itemNotFound
                if !isGone { throw HelperFailure(error) }
            }
        }
    }

    private func search(_ place: GitPlace) async throws(HelperFailure) -> [Attributes] {
        let query = place.primaryKey(group: group)
        return try await onBroker { () async throws(ChatelaineError) in try await broker.search(query) } ?? []
    }

    // Nil also where it is for another place by now.
    private func read(
        _ found: Attributes, at place: GitPlace
    ) async throws(HelperFailure) -> Broker.Item? {
        var query = Attributes()
        query["Reference"] = found["Reference"]
        let one = query
        let item = try await onBroker { () async throws(ChatelaineError) in try await broker.read(one) }
        return item.flatMap { place.matches($0.attributes) ? $0 : nil }
    }
}

extension GitMessage {
    /// Whether the credential is of use for a moment only.
    fileprivate var isEphemeral: Bool {
        ["1", "true", "yes", "on"].contains(self[.ephemeral]?.openText ?? "")
    }
}

extension Attributes {
    fileprivate var modified: UInt64 {
        if case .counter(let time) = self["Modified"] { time } else { 0 }
    }

    // A name with a line's end in it, of whoever shares the group, would be lines of the answer.
    fileprivate var canBeTold: Bool { !GitPlace.bytes(self["Account"]).contains { $0 == 0 || $0 == 0x0A } }

    // A refresh token outlives its password: such an item is to be renewed, one without it is of no use any more.
    fileprivate mutating func setTime(of credential: GitCredential, now seconds: UInt64) {
        guard let expiry = credential.expiry, expiry > seconds, expiry < Self.endOfTimes else { return }
        self[credential.refreshToken == nil ? "Expires" : "FreshUntil"] = .counter(expiry * 1_000_000)
    }

    // The end of the year 9999.
    private static let endOfTimes: UInt64 = 253_402_300_800
}
