internal import Sodium

/// Finds the broker of a user, makes sure that it is the broker, and gives it the password.
struct HandOver {
    private let login: Login
    private let userID: UInt32
    private let options: Options
    private let deadline: Deadline

    init(_ login: Login, of userID: UInt32, _ options: Options) {
        self.login = login
        self.userID = userID
        self.options = options
        deadline = Deadline(seconds: options.seconds(for: login))
    }

    func run(_ password: SharedSecret) -> Ending {
        do throws(Trouble) {
            let (peer, path) = try findBroker()
            let broker = try Conversation(with: peer, options.broker, until: deadline)
            let isDone = try broker.call(
                "org.chatelaine.Broker1.Manager", login.isChange ? "FollowPasscode" : "Unlock", on: path,
                password)
            return isDone ? .done : .refused
        } catch {
            switch error {
            case .absent: return .nobodyThere
            case .impostor(let what): return .impostor(what)
            case .silent: return .noAnswer
            }
        }
    }

    // A change of password waits for nobody who is not there.
    private func findBroker() throws(Trouble) -> (Peer, path: String) {
        while true {
            let watch = FolderWatch()
            if let found = try systemBroker(watch) { return found }
            if let found = try usersBroker(watch) { return found }
            guard !login.isChange, watch.wait(until: deadline) else { throw .absent }
        }
    }

    // The broker of all users, where there is one, has this one's keychain too.
    private func systemBroker(_ watch: FolderWatch) throws(Trouble) -> (Peer, path: String)? {
        guard let run = Folder(options.run) else { return nil }
        watch.add(run)
        guard run.isOwn(of: 0), let folder = run.folder("chatelaine") else { return nil }
        watch.add(folder)
        guard let peer = try folder.peer("bus", ownedBy: folder.ownerID) else { return nil }
        return (peer, "/org/chatelaine/Broker1/user/\(userID)")
    }

    private func usersBroker(_ watch: FolderWatch) throws(Trouble) -> (Peer, path: String)? {
        guard let users = Folder(options.run)?.folder("user") else { return nil }
        watch.add(users)
        guard let runtime = users.folder(String(userID)) else { return nil }
        watch.add(runtime)
        guard runtime.isOwn(of: userID), let folder = runtime.folder("chatelaine") else { return nil }
        watch.add(folder)
        guard folder.isOwn(of: userID), let peer = try folder.peer("bus", ownedBy: userID) else { return nil }
        return (peer, "/org/chatelaine/Broker1")
    }
}

/// Why nothing was handed over, or nobody knows whether it was taken.
enum Trouble: Error {
    /// Nobody listens.
    case absent
    /// Somebody else than the broker does; says who.
    case impostor(String)
    /// It does not answer in time, or not as the broker does.
    case silent
}
