internal import SDBus

/// What logind calls itself.
enum Logind {
    static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let session = "org.freedesktop.login1.Session"
    static let properties = "org.freedesktop.DBus.Properties"
}

/// logind, asked by the unique name that it has: nobody is started, and nobody else answers.
@BrokerActor struct LogindCalls {
    let connection: Connection
    let owner: String

    /// The objects of all sessions.
    func sessions() async throws(BusError) -> [String] {
        try await connection.call(
            owner, path: Logind.path, interface: Logind.manager, member: "ListSessions"
        ).withReader { (reader) throws(BusError) in
            var paths: [String] = []
            _ = try reader.enter("a", "(susso)")
            while try reader.enter("r", "susso") {
                for _ in 0..<4 { try reader.skip() }
                paths.append(try reader.read(ObjectPath.self).value)
                try reader.exit()
            }
            try reader.exit()
            return paths
        }
    }

    /// One session; nil where it is none any more, or logind does not say: that counts as its end, rather one lock too
    /// many.
    func session(_ path: String) async -> LoginSession? {
        do throws(BusError) {
            return try await connection.call(
                owner, path: path, interface: Logind.properties, member: "GetAll", Logind.session
            ).withReader { (reader) throws(BusError) in try LoginSession(path, &reader) }
        } catch {
            return nil
        }
    }

    /// Whether the machine is about to sleep.
    func isPreparingForSleep() async throws(BusError) -> Bool {
        try await connection.call(
            owner, path: Logind.path, interface: Logind.properties, member: "Get", Logind.manager,
            "PreparingForSleep"
        ).withReader { (reader) throws(BusError) in
            guard try reader.enterVariant("b") else { return false }
            return try reader.read(Bool.self)
        }
    }
}

extension LoginSession {
    /// From all of its properties.
    init(_ path: String, _ reader: inout MessageReader) throws(BusError) {
        var (userID, className, seat, state) = (UInt32.max, "", "", "")
        var (isLocked, isActive) = (false, false)
        try reader.dictionary { (key, value) throws(BusError) in
            switch key {
            case "User":
                _ = try value.enter("r", "uo")
                userID = try value.read()
                try value.skip()
                try value.exit()
            case "Seat":
                _ = try value.enter("r", "so")
                seat = try value.read()
                try value.skip()
                try value.exit()
            case "Class": className = try value.read()
            case "State": state = try value.read()
            case "LockedHint": isLocked = try value.read()
            case "Active": isActive = try value.read()
            default: break
            }
        }
        self.init(
            path: path, userID: userID, isPersons: Self.isPersons(class: className), seat: seat,
            isLocked: isLocked, isActive: isActive, isClosing: state == "closing")
    }
}

extension LoginSession {
    /// Takes what a signal says of changed properties. False where it does not say all that matters.
    mutating func change(_ reader: inout MessageReader) throws(BusError) -> Bool {
        _ = try reader.read(String.self)
        var (isLocked, isActive) = (isLocked, isActive)
        try reader.dictionary { (key, value) throws(BusError) in
            switch key {
            case "LockedHint": isLocked = try value.read()
            case "Active": isActive = try value.read()
            default: break
            }
        }
        let invalidated = try reader.read([String].self)
        self.isLocked = isLocked
        self.isActive = isActive
        return !invalidated.contains("LockedHint") && !invalidated.contains("Active")
    }
}
