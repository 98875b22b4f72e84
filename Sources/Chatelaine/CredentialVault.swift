public import BrokerModel
public import SDBus
public import Sodium

/// The credentials of one service in one access group: `store`, `read` and `remove` by account, from any actor.
///
/// It connects with the first call, and anew when the broker or the bus was restarted; a call that was cut off is made
/// once more, each of them being one that may be. The loop that it needs gets a thread of its own, unless the program
/// runs it (`BrokerActor.shared.loop.run()`).
@BrokerActor public final class CredentialVault {
    /// The service, as a logout names it: a URL or a name of the program's choice.
    public nonisolated let service: String
    /// The access group, which the policy must give this program.
    public nonisolated let group: String
    /// When what is stored here can be read. Not part of what is looked for: a stored credential is found whatever its
    /// class, and the next `store` moves it to this one.
    public nonisolated let accessibility: Accessibility
    nonisolated let link: BrokerLink

    /// A vault at a broker, which need not be there yet.
    public nonisolated init(
        service: String, group: String, accessibility: Accessibility = .whenUnlocked,
        at endpoint: Endpoint = .user
    ) {
        self.service = service
        self.group = group
        self.accessibility = accessibility
        link = BrokerLink(endpoint)
    }

    /// Stores the account's secret in place of the one before, in one step: at no moment is there none. Returns the
    /// revision, which grows with every change in the group.
    @discardableResult
    public func store(
        _ secret: consuming Secret, account: String, label: String? = nil
    ) async throws(VaultError) -> UInt64 {
        try await put(SharedSecret(secret), account: account, label: label).revision
    }

    /// The account's secret.
    public func read(account: String) async throws(VaultError) -> Secret {
        try await item(account).secret.secret.duplicate()
    }

    /// The same, and where it is locked waits for the unlock, told of it by the broker: up to that long, on a clock
    /// that a suspended machine stops. Then it throws as `read(account:)` does.
    public func read(
        account: String, waitingForUnlock limit: Duration
    ) async throws(VaultError) -> Secret {
        try await UnlockWait(self, limit).run { (vault) throws(VaultError) in
            try await vault.item(account)
        }.secret.secret.duplicate()
    }

    /// The accounts that have a secret here, or one of that class, oldest first; `locked` where one of them is. One whose
    /// name is no text is left out.
    public func accounts(of accessibility: Accessibility? = nil) async throws(VaultError) -> [String] {
        let query = query(nil, accessibility)
        let found = try await link.call { (broker) throws(ChatelaineError) in try await broker.search(query) }
        return found.compactMap { attributes in
            switch attributes["Account"] {
            case .text(let account): account
            case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
            case nil: ""
            default: nil
            }
        }
    }

    /// Removes the account's secret, locked or not. False where there was none.
    @discardableResult
    public func remove(account: String) async throws(VaultError) -> Bool {
        try await delete(query(account)) > 0
    }

    /// Removes every secret of this service in this group, or those of a class, locked or not, and says how many there
    /// were.
    @discardableResult
    public func removeAll(of accessibility: Accessibility? = nil) async throws(VaultError) -> Int {
        try await delete(query(nil, accessibility))
    }

    /// Signs out: removes whatever the service has in the group, of any class and before the first unlock too, takes
    /// running refreshes away, and tells every program that holds something of it. Returns the logout's epoch.
    @discardableResult
    public func logOut(reason: String = "") async throws(VaultError) -> UInt64 {
        let (group, service) = (group, service)
        return try await link.call { (broker) throws(ChatelaineError) in
            try await broker.logout(group: group, service: service, reason: reason).epoch
        }
    }
}

extension CredentialVault {
    /// What finds an account's item here, or with no account every item, or every one of a class.
    nonisolated func query(_ account: String?, _ accessibility: Accessibility? = nil) -> Attributes {
        var query = Attributes()
        query["Class"] = .text("generic-password")
        query["AccessGroup"] = .text(group)
        query["Service"] = .text(service)
        if let account { query["Account"] = .text(account) }
        if let accessibility { query["Accessible"] = .text(accessibility.name) }
        return query
    }

    /// What an account's item is stored with.
    nonisolated func attributes(_ account: String, label: String? = nil) -> Attributes {
        var attributes = query(account)
        attributes["Accessible"] = .text(accessibility.name)
        if let label { attributes["Label"] = .text(label) }
        return attributes
    }

    /// An account's item.
    func item(_ account: String) async throws(VaultError) -> Broker.Item {
        let query = query(account)
        return try await link.call { (broker) throws(ChatelaineError) in try await broker.read(query) }
    }

    /// Stores, and returns where. With a revision it replaces that one alone, with 0 it stores only where there is
    /// nothing; `expires` is in microseconds since the Unix epoch; `carrying` and `origin` are what a migration takes
    /// along, and made it of.
    func put(
        _ secret: SharedSecret, account: String, label: String? = nil, replacing revision: UInt64? = nil,
        expires: UInt64? = nil, carrying carried: Attributes = Attributes(), origin: UInt64? = nil
    ) async throws(VaultError) -> Broker.Stored {
        var attributes = attributes(account, label: label)
        for entry in carried.entries { attributes[entry.key] = entry.value }
        if let revision { attributes["IfRevision"] = .counter(revision) }
        if let expires { attributes["Expires"] = .counter(expires) }
        if let origin { attributes["Generic"] = .text("\(Broker.Item.originPrefix)\(origin)") }
        let stored = attributes
        return try await link.call { (broker) throws(ChatelaineError) in
            try await broker.store(stored, secret)
        }
    }

    /// The number of the group's last logout.
    func lastLogout() async throws(VaultError) -> UInt64 {
        let group = group
        return try await link.call { (broker) throws(ChatelaineError) in
            let answer = try await broker.subscribe(to: [group])
            try await broker.unsubscribe()
            return answer.epochs.first?.epoch ?? 0
        }
    }

    /// Deletes every match, also where there is none.
    func delete(_ query: Attributes) async throws(VaultError) -> Int {
        do throws(VaultError) {
            return try await link.call { (broker) throws(ChatelaineError) in
                Int(try await broker.delete(query))
            }
        } catch .notFound {
            return 0
        }
    }

    /// Deletes an account's item if it is still that one; `changed` where it is not, no error where there is none.
    func delete(_ account: String, ifRevision revision: UInt64) async throws(VaultError) {
        var query = query(account)
        query["IfRevision"] = .counter(revision)
        _ = try await delete(query)
    }
}
