internal import Chatelaine
internal import SDBus
internal import Sodium

/// The end of a sign-in on this machine: a port that the browser is sent back to, once (RFC 8252, section 7.3).
///
/// Whoever runs here can connect too. So nothing counts but a request with this sign-in's state, nobody waits for
/// anybody else, and a page or a program that guesses cannot end the sign-in.
@BrokerActor final class RedirectListener {
    typealias Outcome = Result<SharedSecret, any Error>

    /// Connections at once; the oldest goes when there are more.
    private static let guestsMax = 16

    private var socket: LoopbackSocket?
    private let host: String
    private let path: String
    private let state: SharedSecret
    private var source: IOSource?
    private var deadline: Timer?
    private var guests: [RedirectGuest] = []
    private var hasMetForeignState = false
    private var outcome: Outcome?
    private var waiter: CheckedContinuation<Outcome, Never>?

    /// Listens from now on.
    init(path: String, state: SharedSecret, timeoutMicroseconds: UInt64) throws(SignInError) {
        guard let socket = LoopbackSocket() else { throw .noPort }
        self.socket = socket
        host = "127.0.0.1:\(socket.port)"
        self.path = path
        self.state = state
        let loop = BrokerActor.shared.loop
        do throws(BusError) {
            source = try loop.watch(socket.descriptor.number, .readable) { [weak self] _ in
                self?.accept()
            }
        } catch {
            throw .noPort
        }
        deadline = loop.timer(at: loop.now().adding(timeoutMicroseconds)) { [weak self] in self?.expire() }
    }

    /// The time is over.
    func expire() {
        finish(.failure(hasMetForeignState ? SignInError.foreignState : .timedOut))
    }

    /// What the browser is sent back to.
    var address: String { "http://\(host)\(path)" }

    /// Waits for the code. A caller that is cancelled ends it.
    func code() async throws -> SharedSecret {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                if let outcome = self.outcome { return continuation.resume(returning: outcome) }
                waiter = continuation
            }
        } onCancel: {
            BrokerActor.start { self.finish(.failure(CancellationError())) }
        }
        return try outcome.get()
    }

    /// Ends it, unless it has ended.
    func finish(_ outcome: Outcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        source = nil
        socket = nil
        deadline = nil
        for guest in guests { guest.close() }
        guests = []
        waiter?.resume(returning: outcome)
        waiter = nil
    }

    private func accept() {
        while let connection = socket?.accept() {
            if guests.count == Self.guestsMax { guests.removeFirst().close() }
            let guest = try? RedirectGuest(
                connection, heard: { [weak self] in self?.hear($0) },
                gone: { [weak self] in self?.drop($0) })
            if let guest { guests.append(guest) }
        }
    }

    private func drop(_ guest: RedirectGuest) {
        guest.close()
        guests.removeAll { $0 === guest }
    }

    private func hear(_ guest: RedirectGuest) {
        switch RedirectRequest(guest.bytes, host: host, path: path) {
        case .incomplete: return
        case .refused(let page): guest.answer(page)
        case .query(let fields): take(fields, from: guest)
        }
        drop(guest)
    }

    private func take(_ fields: [String: SharedSecret], from guest: RedirectGuest) {
        guard let given = fields["state"], given.secret.isEqual(to: state.secret) else {
            hasMetForeignState = true
            return guest.answer(.foreign)
        }
        switch (fields["code"], fields["error"]) {
        case (let code?, nil) where Text.isToken(code):
            guest.answer(.done)
            finish(.success(code))
        case (nil, let error?):
            guest.answer(.declined)
            finish(.failure(SignInError.refused(code: Text.errorCode(error))))
        default: guest.answer(.badRequest)
        }
    }
}
