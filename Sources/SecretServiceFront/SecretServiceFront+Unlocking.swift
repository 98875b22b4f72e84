internal import BrokerBus
internal import BrokerDesk
internal import BrokerModel
internal import SDBus

extension SecretServiceFront {
    /// `Unlock`: what is open, and a prompt for what a person must open. `IsLocked` where nobody can be asked.
    func unlock(
        _ paths: [ObjectPath], _ context: CallContext
    ) throws(BusError) -> Answer<([ObjectPath], ObjectPath)> {
        let (objects, known) = Self.objects(paths)
        let outcome = try inSecretService { () throws(Refusal) in
            try calls.checkRoom(for: context.connection)
            return try desk.unlock(context, objects)
        }
        if case .now(let locking) = outcome, locking.left.isEmpty {
            return .now((locking.done.map { known[$0] }, .none))
        }
        calls.begin(context.connection)
        return .later { () async throws(BusError) in
            defer { self.calls.end(context.connection) }
            let locking: SecretServiceDesk.Locking
            do throws(Refusal) {
                locking = try await outcome.value()
            } catch {
                throw BusError(secretService: error)
            }
            let left = locking.left.map { known[$0] }
            let prompt = try await self.prompt(left, locking, context)
            return (locking.done.map { known[$0] }, prompt)
        }
    }

    private func prompt(
        _ paths: [ObjectPath], _ locking: SecretServiceDesk.Locking, _ context: CallContext
    ) async throws(BusError) -> ObjectPath {
        if paths.isEmpty { return .none }
        if desk.needsPasscode, await !prompts.prompter.isAvailable() { throw .isLocked }
        // The caller may be gone by now, and would never be forgotten again.
        guard let program = desk.program(context.connection) else { throw .disconnected }
        return try prompts.add(
            for: context.connection,
            Prompts.Subject(
                program: program.name, trust: program.trust, collections: locking.collections,
                needsUnlock: locking.needsUnlock),
            results: (done: Variant(paths), dismissed: Variant([ObjectPath]())))
    }

    /// Has the person open the collections, where that takes the passcode; true where a person has answered.
    func open(_ subject: Prompts.Subject, _ window: String) async -> Bool {
        if desk.needsPasscode {
            return await prompts.prompter.ask(
                PromptQuestion(program: subject.program, trust: subject.trust, window: window))
        }
        if desk.openWithoutPasscode(subject.collections) { lockingChanged(subject.collections) }
        return false
    }

    func isOpen(_ subject: Prompts.Subject) -> Bool {
        subject.collections.allSatisfy { !desk.isLocked($0) } && (!subject.needsUnlock || desk.isUnlocked)
    }

    /// What the paths mean; those that mean nothing are left out.
    static func objects(_ paths: [ObjectPath]) -> ([SecretServiceDesk.Object], [ObjectPath]) {
        var (objects, known): ([SecretServiceDesk.Object], [ObjectPath]) = ([], [])
        for path in paths {
            switch SecretPath(path.value) {
            case .collection(let address): objects.append(.collection(address))
            case .item(let address): objects.append(.item(address))
            default: continue
            }
            known.append(path)
        }
        return (objects, known)
    }
}
