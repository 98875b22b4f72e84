internal import SDBus

/// Who has read the manager's properties, and so may hold values that have changed. What happens to one user's
/// keychain is no other user's affair.
@BrokerActor final class PropertyWatchers {
    /// Whose properties they are: the reader's own, or those of the object that names a user.
    private struct Subject: Hashable {
        let userID: UInt32
        let isNamed: Bool
    }

    private var subjects: [String: Set<Subject>] = [:]
    private var userIDs: [String: UInt32] = [:]

    /// The user of a connection that has read a property before.
    func userID(of connection: String) -> UInt32? { userIDs[connection] }

    func note(_ connection: String, of askerID: UInt32, named userID: UInt32?) {
        userIDs[connection] = askerID
        subjects[connection, default: []].insert(
            Subject(userID: userID ?? askerID, isNamed: userID != nil))
    }

    func forget(_ connection: String) {
        subjects[connection] = nil
        userIDs[connection] = nil
    }

    /// Calls `body` with each connection that has read the user's properties; all users' without one. The second
    /// value is the user, where the object that was read names it.
    func each(of userID: UInt32?, _ body: (String, UInt32?) -> Void) {
        for (connection, read) in subjects {
            for subject in read where userID == nil || subject.userID == userID {
                body(connection, subject.isNamed ? subject.userID : nil)
            }
        }
    }
}
