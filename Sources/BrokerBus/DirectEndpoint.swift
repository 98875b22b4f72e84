public import BrokerModel
public import SDBus

/// The direct endpoint (INTERFACE, names): one socket, and peer-to-peer D-Bus with whoever connects to it. No bus daemon
/// is between, so nobody can listen in, and the kernel says who calls.
@BrokerActor public final class DirectEndpoint: CredentialSource {
    /// What the names of its connections begin with.
    public nonisolated static let prefix = "direct:"

    /// Who may connect, and who is told of it.
    public struct Rules {
        let allows: (_ userID: UInt32) -> Bool
        let appeared: (_ connection: String) -> Void
        let gone: (_ connection: String) -> Void
        let isKnown: (_ connection: String) -> Bool
        let report: (_ line: String) -> Void

        /// `appeared` and `gone` get the names of connections; `isKnown` says of one whether its caller was identified, as
        /// the first call of every one is; `report` gets a line for the log.
        public init(
            allows: @escaping (UInt32) -> Bool, appeared: @escaping (String) -> Void,
            gone: @escaping (String) -> Void, isKnown: @escaping (String) -> Bool,
            report: @escaping (String) -> Void
        ) {
            self.allows = allows
            self.appeared = appeared
            self.gone = gone
            self.isKnown = isKnown
            self.report = report
        }
    }

    // What serves the fronts asks here who calls, so here is no place to keep them alive.
    private weak var fronts: Fronts?
    private var listener: SocketListener?
    private var peers: [String: DirectPeer] = [:]
    private var crowd = DirectCrowd()
    private var next: UInt64 = 1

    /// Nobody can connect before `listen`. The fronts are the caller's to keep.
    public nonisolated init(fronts: Fronts) { self.fronts = fronts }

    /// Listens at the path; whoever connects waits for `serve`. `mode` is the socket file's.
    public func listen(at path: String, mode: UInt32) throws(ListenFailure) {
        listener = try SocketListener(path: path, mode: mode)
    }

    /// Serves whoever may connect.
    public func serve(_ service: any BrokerService, _ rules: Rules) throws(BusError) {
        try listener?.start { [weak self] socket in self?.accept(socket, service, rules) }
    }

    /// Ends it: no connection is accepted any more, and those that are there are closed.
    public func close() {
        listener?.close()
        listener = nil
        for (name, peer) in peers {
            fronts?.remove(name)
            peer.close()
        }
        peers = [:]
    }

    /// Nil for a connection that is not here any more.
    public nonisolated func credentials(of connection: String) async -> ConnectionCredentials? {
        await describe(connection)
    }

    /// Who connected; nil for a connection that is not here any more.
    public func userID(of connection: String) -> UInt32? { peers[connection]?.credentials.userID }

    private func describe(_ connection: String) -> ConnectionCredentials? { peers[connection]?.describe() }

    private func accept(_ socket: consuming UnixFD, _ service: any BrokerService, _ rules: Rules) {
        guard let credentials = SocketCredentials(of: socket), rules.allows(credentials.userID) else {
            return
        }
        switch crowd.admission(of: credentials, isKnown: rules.isKnown) {
        case .welcome: break
        case .full:
            if let line = crowd.complaint(credentials, at: BrokerActor.shared.loop.now()) {
                rules.report(line)
            }
            return
        case .instead(let name): end(name, nil, rules)
        }
        do throws(BusError) {
            let peer = try DirectPeer(next, socket, credentials)
            next += 1
            let name = peer.name
            let front = try peer.serve(service) { [weak self] reason in
                // The connection is in use when it says so.
                BrokerActor.start { self?.end(name, reason, rules) }
            }
            peers[name] = peer
            crowd.add(peer)
            fronts?.add(front, for: name)
            rules.appeared(name)
        } catch {
            rules.report("a direct connection could not be served: \(error.message)")
        }
    }

    private func end(_ name: String, _ reason: StaticString?, _ rules: Rules) {
        guard let peer = peers.removeValue(forKey: name) else { return }
        crowd.remove(peer)
        fronts?.remove(name)
        peer.close()
        rules.gone(name)
        if let reason { rules.report("\(name) was closed: it \(reason)") }
        listener?.resume()
    }
}
