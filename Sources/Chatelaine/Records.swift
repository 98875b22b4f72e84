internal import SDBus

extension Broker {
    /// The properties of the manager.
    public struct Status: Sendable, Equatable {
        /// `before-first-unlock`, `locked` or `unlocked`.
        public var state = ""
        /// Whether the when-unlocked classes can be read.
        public var isProtectedDataAvailable = false
        /// Whether the keychain has a passcode.
        public var isPasscodeSet = false
        /// Whether it has a recovery key.
        public var isRecoveryKeySet = false
        /// The broker's version.
        public var version = ""
        /// What wants attention, in the contract's words.
        public var conditions: [String] = []
    }

    /// A connected client.
    public struct Client: Sendable, Equatable {
        /// Its unique name.
        public var connection = ""
        /// Its process; 0 where that is not known.
        public var processID: UInt32 = 0
        /// The application of the policy; empty where none matched.
        public var application = ""
        /// What its evidence is worth.
        public var trust = ""
        /// Its groups, the default first.
        public var accessGroups: [String] = []
        /// `full` or `background`.
        public var role = ""
        /// The groups that it is subscribed to.
        public var subscribed: [String] = []
        /// Logouts that it has not acknowledged.
        public var pendingLogouts: UInt32 = 0
    }

    /// Why a process reaches a group, or does not.
    public struct Explanation: Sendable, Equatable {
        /// The application of the policy; empty where none matched.
        public var application = ""
        /// What its evidence is worth.
        public var trust = ""
        /// `allow` or `deny`.
        public var decision = ""
        /// Sentences for a person.
        public var reasons: [String] = []
        /// `file:line`; empty where no line decided.
        public var policy = ""
    }

    /// What a group holds.
    public struct Group: Sendable, Equatable {
        /// Its name.
        public let name: String
        /// Its after-first-unlock items.
        public let background: UInt32
        /// Its other items.
        public let foreground: UInt32
    }

    /// What a check of the store found.
    public struct CheckReport: Sendable, Equatable {
        /// Rows of the background vault that were read.
        public var backgroundRows: UInt32 = 0
        /// Of those, the damaged ones.
        public var backgroundDamaged: UInt32 = 0
        /// Rows of the foreground vault that were read.
        public var foregroundRows: UInt32 = 0
        /// Of those, the damaged ones.
        public var foregroundDamaged: UInt32 = 0
        /// False while locked: the foreground vault was then not checked.
        public var isForegroundChecked = false
    }
}

// Keys that are not known are passed over: a newer broker may say more.

extension Broker.Status {
    init(from reader: inout MessageReader) throws(BusError) {
        try reader.dictionary { (key, value) throws(BusError) in
            switch key {
            case "State": state = try value.read()
            case "ProtectedDataAvailable": isProtectedDataAvailable = try value.read()
            case "PasscodeSet": isPasscodeSet = try value.read()
            case "RecoveryKeySet": isRecoveryKeySet = try value.read()
            case "Version": version = try value.read()
            case "Conditions": conditions = try value.read()
            default: break
            }
        }
    }
}

extension Broker.Client {
    init(from reader: inout MessageReader) throws(BusError) {
        try reader.dictionary { (key, value) throws(BusError) in
            switch key {
            case "Connection": connection = try value.read()
            case "ProcessID": processID = try value.read()
            case "Application": application = try value.read()
            case "Trust": trust = try value.read()
            case "AccessGroups": accessGroups = try value.read()
            case "Role": role = try value.read()
            case "Subscribed": subscribed = try value.read()
            case "PendingLogouts": pendingLogouts = try value.read()
            default: break
            }
        }
    }
}

extension Broker.Explanation {
    init(from reader: inout MessageReader) throws(BusError) {
        try reader.dictionary { (key, value) throws(BusError) in
            switch key {
            case "Application": application = try value.read()
            case "Trust": trust = try value.read()
            case "Decision": decision = try value.read()
            case "Reasons": reasons = try value.read()
            case "Policy": policy = try value.read()
            default: break
            }
        }
    }
}

extension Broker.CheckReport {
    init(from reader: inout MessageReader) throws(BusError) {
        try reader.dictionary { (key, value) throws(BusError) in
            switch key {
            case "BackgroundRows": backgroundRows = try value.read()
            case "BackgroundDamaged": backgroundDamaged = try value.read()
            case "ForegroundRows": foregroundRows = try value.read()
            case "ForegroundDamaged": foregroundDamaged = try value.read()
            case "ForegroundChecked": isForegroundChecked = try value.read()
            default: break
            }
        }
    }
}
