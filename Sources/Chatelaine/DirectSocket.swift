internal import SDBus

/// The direct endpoint from a client's side: found, and known to be who it should be, before anything is said to it.
@BrokerActor enum DirectSocket {
    /// A connection to the direct endpoint; nil where there is none, or where somebody else listens there.
    static func open(_ endpoint: Endpoint) -> Connection? {
        let folder: String?
        switch endpoint {
        case .user: folder = ClientProcess.runtimeFolder
        case .system: folder = "/run"
        case .address: folder = nil
        }
        guard let folder else { return nil }
        do throws(BusError) {
            let socket = try Connection.connectDirect(path: folder + "/chatelaine/bus")
            guard let listener = SocketCredentials(of: socket), endpoint.mayBeServed(by: listener.userID)
            else { return nil }
            return try Connection.openDirect(fd: socket)
        } catch {
            return nil
        }
    }
}
