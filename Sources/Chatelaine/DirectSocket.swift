internal import SDBus

/// The direct endpoint from a client's side: found, and known to be who it should be, before anything is said to it.
@BrokerActor enum DirectSocket {
    /// A connection to the direct endpoint; nil where there is none, or where somebody else listens there.
    static func open(_ endpoint: Endpoint) -> Connection? {
        guard let brokerIDs = endpoint.brokerIDs else { return nil }
        let folder = endpoint == .system ? "/run" : ClientProcess.runtimeFolder
        return folder.flatMap { open($0 + "/chatelaine/bus", servedBy: brokerIDs) }
    }

    private static func open(_ path: String, servedBy userIDs: Set<UInt32>) -> Connection? {
        do throws(BusError) {
            let socket = try Connection.connectDirect(path: path)
            guard let listener = SocketCredentials(of: socket), userIDs.contains(listener.userID) else {
                return nil
            }
            return try Connection.openDirect(fd: socket)
        } catch {
            return nil
        }
    }
}
