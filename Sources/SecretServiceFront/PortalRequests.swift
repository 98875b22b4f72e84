internal import SDBus

/// What the portal has asked for and was not answered yet. A handle is its connection's own: another's of the same path
/// is another.
@BrokerActor final class PortalRequests {
    struct Request: Hashable {
        let handle: String
        let owner: String

        /// What its question is kept by.
        var key: String { "\(owner) \(handle)" }
    }

    private var requests: [Request: Bool] = [:]

    func contains(_ handle: String) -> Bool { requests.keys.contains { $0.handle == handle } }

    func begin(_ handle: ObjectPath, owner: String) throws(BusError) -> Request {
        let request = Request(handle: handle.value, owner: owner)
        guard handle.value.hasPrefix(PortalName.requests + "/"), requests[request] == nil else {
            throw .invalidArguments("The handle is a path below \(PortalName.requests) that is not in use.")
        }
        requests[request] = true
        return request
    }

    /// Whether somebody waits for the answer.
    func isWanted(_ request: Request) -> Bool { requests[request] ?? false }

    /// Nobody wants the answer any more. Nil where nothing is asked for by that handle.
    func close(_ handle: String, owner: String) -> Request? {
        let request = Request(handle: handle, owner: owner)
        guard requests[request] != nil else { return nil }
        requests[request] = false
        return request
    }

    /// It is answered.
    func end(_ request: Request) { requests[request] = nil }
}
