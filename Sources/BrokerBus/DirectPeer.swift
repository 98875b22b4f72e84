internal import BrokerModel
internal import SDBus

/// One connection of the direct endpoint, from the moment that it was accepted.
@BrokerActor final class DirectPeer {
    let name: String
    /// Grows from one to the next.
    let number: UInt64
    let credentials: SocketCredentials
    private let process: UnixFD?
    private let connection: Connection
    private var front: BrokerFront?
    private var registrations: [Registration] = []
    private var deadline: Timer?

    /// Takes the socket over; nothing is served before `serve`.
    init(
        _ number: UInt64, _ socket: consuming UnixFD, _ credentials: SocketCredentials
    ) throws(BusError) {
        self.number = number
        name = "\(DirectEndpoint.prefix)\(number)"
        self.credentials = credentials
        process = socket.peerProcess()
        connection = try Connection(server: socket)
    }

    /// Exports the contract. `ended` is called once: when the peer has gone, when it takes too long to say who it is, or
    /// when it does not read what it is sent.
    func serve(
        _ service: any BrokerService, ended: @escaping @BrokerActor (StaticString?) -> Void
    ) throws(BusError) -> BrokerFront {
        let front = try BrokerFront(connection, service: service, allowsPlain: true, peer: name)
        self.front = front
        registrations = [
            try connection.export([hello()], at: "/org/freedesktop/DBus"),
            try connection.onDisconnect { ended(nil) },
            connection.limitBacklog(
                bytes: Limits.inFlightBytesMax, messages: Limits.queuedMessagesMax
            ) { ended("does not read what it is sent") },
        ]
        let loop = BrokerActor.shared.loop
        deadline = loop.timer(at: loop.now() + Limits.authenticationMicroseconds) { [weak self] in
            if self?.connection.isAuthenticated == false { ended("did not say who it is in time") }
        }
        return front
    }

    /// What the kernel said when it connected, with a pidfd of the caller's own.
    func describe() -> ConnectionCredentials {
        var described = ConnectionCredentials()
        described.userID = credentials.userID
        described.processID = credentials.processID
        described.groupIDs = credentials.groupIDs
        described.securityLabel = credentials.securityLabel
        if let copy = try? process?.duplicate() { described.processFD = copy.release() }
        return described
    }

    func close() {
        deadline = nil
        registrations = []
        front = nil
        connection.close()
    }

    // Clients that take every connection for a bus say Hello first, and ask for signals that they get anyway.
    private func hello() -> Interface {
        let name = ":direct.\(number)"
        return Interface("org.freedesktop.DBus") {
            Method("Hello", out: ["name"]) { _ in name }
            Method("AddMatch", in: ["rule"]) { (_, _: String) in }
            Method("RemoveMatch", in: ["rule"]) { (_, _: String) in }
        }
    }
}
