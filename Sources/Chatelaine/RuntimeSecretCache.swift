public import SDBus
public import Sodium

/// Secrets that a program needs often: from memory, else from the broker, else from a closure that fetches them, whose
/// result is stored for the other programs of the group.
///
/// Memory is used only while the broker can say that it must not be: it is emptied when the keychain is locked, when the
/// service is logged out and when the broker is gone; a secret that somebody changed is dropped; and what it held is wiped
/// with its last user. However many ask for one account at once, one of them fetches; a fetch that a logout overtakes
/// leaves nothing stored, and who asks after the logout does not get it.
@BrokerActor public final class RuntimeSecretCache {
    private let vault: CredentialVault
    private let longest: UInt64
    private(set) var kept: [String: CachedSecret] = [:]
    /// What is asked for just now, and may be joined.
    private(set) var flights: [String: Flight] = [:]
    private var flightCount = 0
    private var listener: Task<Void, Never>?
    private var starting: [CheckedContinuation<Void, Never>] = []
    private var hasBegun = false
    /// Whether the broker tells us what happens, and nothing is locked.
    private var mayKeep = false
    /// Grows whenever memory is emptied: what was asked for before is not kept.
    private var generation = 0
    /// By reference the revisions that others have made since the first flight that may be joined began.
    private var changes: [String: UInt64] = [:]

    /// One question to the broker, and maybe to the closure, for everyone who asks meanwhile.
    struct Flight {
        let number: Int
        let task: Task<Result<SharedSecret, any Error>, Never>
    }

    /// A cache before a vault.
    /// - Parameter lifetime: how long a secret stays in memory at most, before the broker is asked again.
    public nonisolated init(_ vault: CredentialVault, lifetime: Duration = .seconds(300)) {
        self.vault = vault
        longest = lifetime.microseconds
    }

    deinit { listener?.cancel() }

    /// Fetches a secret. It runs off the broker's loop.
    public typealias Fetch = @concurrent @Sendable () async throws -> FetchedSecret

    /// The account's secret. `fetch` is called where neither memory nor the broker has one; what it throws is thrown to
    /// everyone who waits. Where the broker's is locked or damaged that is thrown, and nothing is fetched.
    public func secret(
        account: String, fetch: @escaping Fetch
    ) async throws -> SharedSecret {
        await listen()
        if let kept = kept[account] {
            if mayKeep && kept.isGood(at: .now) { return kept.secret }
            self.kept[account] = nil
        }
        let flight = flights[account] ?? start(account, fetch)
        return try await flight.task.value.get()
    }

    /// Drops the account's secret from memory, as when a server has refused it. The broker's stays.
    public func forget(account: String) {
        kept[account] = nil
        flights[account] = nil
        generation += 1
    }

    private func start(_ account: String, _ fetch: @escaping Fetch) -> Flight {
        flightCount += 1
        let number = flightCount
        let flight = Flight(
            number: number, task: BrokerActor.start { await self.fly(account, number, fetch) })
        flights[account] = flight
        return flight
    }

    private func fly(
        _ account: String, _ number: Int, _ fetch: @escaping Fetch
    ) async -> Result<SharedSecret, any Error> {
        defer {
            if flights[account]?.number == number { flights[account] = nil }
            if flights.isEmpty { changes = [:] }
        }
        do {
            return .success(try await find(account, fetch))
        } catch {
            return .failure(error)
        }
    }

    private func find(_ account: String, _ fetch: @escaping Fetch) async throws -> SharedSecret {
        let before = generation
        do throws(VaultError) {
            return try await readAndKeep(account, since: before)
        } catch .notFound {
            return try await fetchAndStore(account, since: before, fetch)
        }
    }

    private func readAndKeep(
        _ account: String, since before: Int
    ) async throws(VaultError) -> SharedSecret {
        let item = try await vault.item(account)
        let secret = CachedSecret(
            item.secret, of: item.reference, item.revision, wallEnd: item.expires, longest: longest)
        keep(secret, account, since: before)
        return item.secret
    }

    private func fetchAndStore(
        _ account: String, since before: Int, _ fetch: @escaping Fetch
    ) async throws -> SharedSecret {
        let logout = try await vault.lastLogout()
        // Bare: a task that prefers the loop, as this one does, would have the closure run there, and one that blocks its
        // thread hold up all that this program says to the broker.
        let fetched = try await Task { try await fetch() }.value
        let end = fetched.lifetime.map { EventClock.realtime.now.adding($0.microseconds) }
        guard let stored = try await putWhereNothingIs(fetched.secret, account, expires: end) else {
            // Somebody else was first, and theirs is what everybody has.
            return try await readAndKeep(account, since: before)
        }
        guard try await vault.lastLogout() == logout else {
            try await vault.delete(account, ifRevision: stored.revision)
            throw VaultError.changed(ChatelaineError(.overtaken))
        }
        let secret = CachedSecret(
            fetched.secret, of: stored.reference, stored.revision, wallEnd: end, longest: longest)
        keep(secret, account, since: before)
        return fetched.secret
    }

    private func putWhereNothingIs(
        _ secret: SharedSecret, _ account: String, expires: UInt64?
    ) async throws(VaultError) -> Broker.Stored? {
        do throws(VaultError) {
            return try await vault.put(secret, account: account, replacing: 0, expires: expires)
        } catch {
            guard case .changed = error else { throw error }
            return nil
        }
    }

    private func keep(_ secret: CachedSecret, _ account: String, since before: Int) {
        guard mayKeep, generation == before, !secret.isOlder(than: changes[secret.reference] ?? 0) else {
            return
        }
        kept[account] = secret
    }
}

extension RuntimeSecretCache {
    /// Listens from the first question on, and comes back when it is known whether the broker answers.
    private func listen() async {
        if listener == nil {
            let events = vault.events()
            listener = Task(executorPreference: BrokerActor.shared.loop) { [weak self] in
                do throws(VaultError) {
                    for try await event in events { await self?.take(event) }
                } catch {}
                await self?.take(.interrupted)
            }
        }
        guard !hasBegun else { return }
        await withCheckedContinuation { starting.append($0) }
    }

    private func take(_ event: VaultEvent) {
        switch event {
        case .subscribed(let state, _):
            // What came between the two subscriptions is not known.
            empty()
            mayKeep = state == .unlocked
        case .lockState(let state):
            mayKeep = state == .unlocked
            guard !mayKeep else { break }
            empty()
            flights = [:]
        case .loggedOut(let logout):
            guard logout.concerns(service: vault.service) else { break }
            empty()
            flights = [:]
        case .changed(let change):
            let latest = change.kind == .removed ? .max : change.revision
            if !flights.isEmpty { changes[change.reference] = latest }
            kept = kept.filter { $0.value.reference != change.reference || !$0.value.isOlder(than: latest) }
        case .gap: empty()
        case .interrupted:
            mayKeep = false
            empty()
        case .refreshNeeded: break
        }
        hasBegun = true
        starting.forEach { $0.resume() }
        starting = []
    }

    private func empty() {
        kept = [:]
        generation += 1
    }
}
