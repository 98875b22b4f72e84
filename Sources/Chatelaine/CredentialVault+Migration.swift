public import Sodium

extension CredentialVault {
    /// What a migration came to.
    public enum Migration: Sendable, Equatable {
        /// There is nothing in the old form, and nothing in the new.
        case nothingStored
        /// The new form is there and the old one is not: nothing was to be done.
        case alreadyDone
        /// The new form is there and was read back, and the old one is gone.
        case migrated
        /// The new form was there, and younger than the old one, which is gone.
        case superseded
    }

    /// The steps after which a process may end; whichever it was, the next run finishes.
    package enum MigrationStep: String, Sendable, CaseIterable {
        case read, stored, readBack, removed
    }

    /// Moves an account's secret from one stored name to another, changed into the new form by `change`.
    ///
    /// The old one is removed only when the new one was written and read back equal, and only if nobody has changed it
    /// meanwhile. It may be repeated, and run by several processes at once: what it stores says which revision it was
    /// made of. A secret in the new form that was stored otherwise, and after the old one, is kept as it is; one that was
    /// stored before it is replaced, since a program of the old version has worked since. The label and the end stay.
    /// Anything that cannot be read ends it with nothing removed.
    public func migrate(
        from old: String, to new: String,
        _ change: @Sendable (borrowing Secret) throws(VaultError) -> Secret = { secret in secret.duplicate() }
    ) async throws(VaultError) -> Migration {
        try await migrate(from: old, to: new, change) { _ in }
    }

    /// The same between two forms of one account.
    public func migrate(
        from old: AccountName, to new: AccountName,
        _ change: @Sendable (borrowing Secret) throws(VaultError) -> Secret = { secret in secret.duplicate() }
    ) async throws(VaultError) -> Migration {
        try await migrate(from: old.stored, to: new.stored, change) { _ in }
    }

    /// The same with a test's look at each step.
    package func migrate(
        from old: String, to new: String,
        _ change: @Sendable (borrowing Secret) throws(VaultError) -> Secret,
        after step: @Sendable (MigrationStep) -> Void
    ) async throws(VaultError) -> Migration {
        var attempts = 0
        while true {
            do throws(VaultError) {
                return try await migrateOnce(old, new, change, step)
            } catch .changed(let wire) {
                attempts += 1
                guard attempts < 5 else { throw .changed(wire) }
            }
        }
    }

    private func migrateOnce(
        _ old: String, _ new: String, _ change: (borrowing Secret) throws(VaultError) -> Secret,
        _ step: (MigrationStep) -> Void
    ) async throws(VaultError) -> Migration {
        guard let from = try await present(old) else {
            return try await present(new) == nil ? .nothingStored : .alreadyDone
        }
        let there = try await present(new)
        step(.read)
        if let there, there.origin == nil, there.revision > from.revision {
            try await delete(old, ifRevision: from.revision)
            step(.removed)
            return .superseded
        }
        // One that is made of this revision is not made again: somebody may have renewed it since.
        if there?.origin != from.revision {
            let changed = SharedSecret(try change(from.secret.secret))
            let stored = try await put(
                changed, account: new, replacing: there?.revision ?? 0, carrying: from.carried,
                origin: from.revision)
            step(.stored)
            let readBack = try await item(new)
            guard readBack.revision == stored.revision, readBack.holds(changed) else {
                throw .changed(ChatelaineError(.revisionMismatch(current: readBack.revision)))
            }
        }
        step(.readBack)
        try await delete(old, ifRevision: from.revision)
        step(.removed)
        return .migrated
    }

    private func present(_ account: String) async throws(VaultError) -> Broker.Item? {
        do throws(VaultError) {
            return try await item(account)
        } catch .notFound {
            return nil
        }
    }
}

extension Broker.Item {
    /// The revision of the old form that a migration has made this of; nil for what was stored otherwise.
    fileprivate var origin: UInt64? {
        guard case .text(let text) = attributes["Generic"], text.hasPrefix(Self.originPrefix) else {
            return nil
        }
        return UInt64(text.dropFirst(Self.originPrefix.count))
    }

    /// What a migration leaves as it is.
    fileprivate var carried: Attributes {
        var carried = Attributes()
        for key in ["Label", "Expires", "FreshUntil"] { carried[key] = attributes[key] }
        return carried
    }

    fileprivate func holds(_ other: SharedSecret) -> Bool { secret.secret.isEqual(to: other.secret) }

    static let originPrefix = "migrated-from-revision:"
}
