internal import BrokerBus
internal import BrokerDesk
internal import BrokerModel
internal import SDBus
internal import Sodium

/// The backend of the Secret portal: a sandboxed application asks the portal, which knows who it is, and the portal asks
/// here.
extension SecretServiceFront {
    func portalInterface() -> Interface {
        Interface(PortalName.secret) {
            Method(
                "RetrieveSecret", in: ["handle", "app_id", "fd", "options"], out: ["response", "results"]
            ) {
                (
                    call: borrowing Call, handle: ObjectPath, id: String, target: ReceivedFD,
                    _: [String: ReceivedValue]
                ) throws(BusError) -> Answer<(UInt32, [String: Variant])> in
                let context = try self.context(call)
                return try self.retrieve(handle, id, target, context)
            }
            Property("version", .const) { () throws(BusError) -> UInt32 in 1 }
        }
    }

    func portalRequestInterface() -> Interface {
        Interface(PortalName.request) {
            Method("Close") { (call: borrowing Call) throws(BusError) -> Void in
                let context = try self.context(call)
                guard let request = self.portalRequests.close(call.path, owner: context.connection) else {
                    throw .noSuchObject
                }
                self.prompts.withdraw(request.key)
            }
        }
    }

    private func retrieve(
        _ handle: ObjectPath, _ id: String, _ target: ReceivedFD, _ context: CallContext
    ) throws(BusError) -> Answer<(UInt32, [String: Variant])> {
        try inSecretService { () throws(Refusal) in try calls.checkRoom(for: context.connection) }
        let request = try portalRequests.begin(handle, owner: context.connection)
        calls.begin(context.connection)
        return .later { () async throws(BusError) in
            defer {
                self.calls.end(context.connection)
                self.portalRequests.end(request)
            }
            let loop = BrokerActor.shared.loop
            let earliest = loop.now() + Self.answerMicroseconds
            let answer = await self.answer(id, request, target, context)
            // Cancelled or not: it is answered.
            try? await loop.sleep(until: earliest)
            return try answer.get()
        }
    }

    /// No answer comes sooner. The portal tells its own client with a signal, which libsecret (0.20 and 0.21) listens for
    /// only when its call has returned: it would wait for ever for one that is there before.
    private static var answerMicroseconds: UInt64 { 100_000 }

    private func answer(
        _ id: String, _ request: PortalRequests.Request, _ target: ReceivedFD, _ context: CallContext
    ) async -> Result<(UInt32, [String: Variant]), BusError> {
        let secret: SharedSecret?
        do throws(Refusal) {
            secret = try await self.secret(ofApplication: id, request, context)
        } catch {
            return .failure(BusError(secretService: error))
        }
        guard portalRequests.isWanted(request), let secret else { return .success((Self.cancelled, [:])) }
        return Result { () throws(BusError) in
            try Self.write(secret.secret, to: target)
            return (Self.success, [:])
        }
    }

    // A span does not live in a function that waits.
    private static func write(_ secret: borrowing Secret, to target: ReceivedFD) throws(BusError) {
        try target.write(secret.span)
    }

    private static var success: UInt32 { 0 }
    private static var cancelled: UInt32 { 1 }

    // Nil where the person does not want to open the collection.
    private func secret(
        ofApplication id: String, _ request: PortalRequests.Request, _ context: CallContext
    ) async throws(Refusal) -> SharedSecret? {
        do throws(Refusal) {
            return try await made(id, context)
        } catch {
            guard error.kind == .interactionNotAllowed else { throw error }
            if desk.needsPasscode, await !prompts.prompter.isAvailable() { throw error }
        }
        // The caller may be gone by now, and would never be forgotten again.
        guard portalRequests.isWanted(request), let program = desk.program(context.connection) else {
            return nil
        }
        // The person is asked for the application, at the word of the portal. Where the collection is open it is the secret
        // that is locked.
        let subject = Prompts.Subject(
            program: id, trust: program.trust, collections: [.login], needsUnlock: !desk.isLocked(.login))
        let isOpen = await prompts.ask(for: context.connection, as: request.key, subject)
        return isOpen ? try await made(id, context) : nil
    }

    private func made(_ id: String, _ context: CallContext) async throws(Refusal) -> SharedSecret {
        let found = try await desk.applicationSecret(context, id).value()
        if let item = found.made { tellCreated(item) }
        return found.secret
    }
}
