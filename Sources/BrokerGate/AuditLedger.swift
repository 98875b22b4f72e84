internal import BrokerModel

/// Decides which audit lines are written each by itself and which are folded into one with their number.
///
/// Each caller has a budget of lines for a window of time. What goes beyond it is counted, by operation and
/// decision, and written as one line at the window's end: no caller fills the journal, whatever it varies, none
/// takes the lines of another, and the counts of all lines add up to what happened.
///
/// Three kinds of callers have a budget: a process, whatever number of connections it has; a program, whatever
/// number of processes; a user, whatever number of programs. What is written for one is charged to the next.
public struct AuditLedger: Sendable {
    /// Entries that share their fields, as one line.
    public struct Line: Sendable, Equatable {
        /// The fields. One that the entries do not share is nil, or empty, or the weakest.
        public var entry: AuditEntry
        /// How many entries the line stands for.
        public var count: Int
        /// How many groups they named, at least.
        public var groups: Int
        /// Whether it stands for what went beyond a budget.
        public var isFolded: Bool
    }

    /// A caller that stays below has every line.
    public static let linesPerProcessMax = 32
    /// All processes of one program.
    public static let linesPerProgramMax = 128
    /// All programs of one user.
    public static let linesPerUserMax = 512
    /// What the budgets are for.
    public static let windowMicroseconds: UInt64 = 10_000_000

    private var accounts: [[Payer: Account]] = [[:], [:], [:]]
    private var namesLeft = Self.namesMax

    /// When the window ends; nil while nothing was taken since the last.
    public private(set) var endMicroseconds: UInt64?

    private static let budgets = [linesPerProcessMax, linesPerProgramMax, linesPerUserMax]
    /// Past it a payer's entries go to the next kind, those of a user's to all users together.
    private static let payersMax = [1024, 512, 512]
    /// Names that are told apart in one window: past it the number of groups is the least that it may be.
    private static let namesMax = 65_536

    /// Nothing is kept before the first entry.
    public init() {}

    /// Takes an entry; returns the lines that are to be written at once. The time is one that never goes back.
    public mutating func take(_ entry: AuditEntry, at microseconds: UInt64) -> [Line] {
        var lines: [Line] = []
        if let end = endMicroseconds, microseconds >= end { lines = endWindow() }
        if endMicroseconds == nil { endMicroseconds = microseconds + Self.windowMicroseconds }
        if let line = charge(Fold(entry), from: 0) { lines.append(line) }
        return lines
    }

    /// Ends the window, also before its time: returns what was folded, and gives everybody a new budget.
    public mutating func endWindow() -> [Line] {
        var lines: [Line] = []
        for kind in accounts.indices {
            for account in accounts[kind].values {
                for fold in account.folds {
                    if let line = charge(fold, from: kind + 1) { lines.append(line) }
                }
            }
        }
        for kind in accounts.indices { accounts[kind].removeAll() }
        namesLeft = Self.namesMax
        endMicroseconds = nil
        return lines
    }

    // The line, where every payer from that kind on has something left.
    private mutating func charge(_ fold: Fold, from first: Int) -> Line? {
        for kind in accounts.indices.dropFirst(first) {
            guard let place = account(kind, fold.entry) else { continue }
            if accounts[kind].values[place].pay() { continue }
            accounts[kind].values[place].keep(fold, &namesLeft)
            return nil
        }
        return fold.line
    }

    private mutating func account(_ kind: Int, _ entry: AuditEntry) -> Dictionary<Payer, Account>.Index? {
        let payer = Payer(kind, entry)
        if let place = accounts[kind].index(forKey: payer) { return place }
        let isFull = accounts[kind].count >= Self.payersMax[kind]
        if isFull && kind < accounts.count - 1 { return nil }
        let charged = isFull ? .everybody : payer
        if accounts[kind][charged] == nil { accounts[kind][charged] = Account(left: Self.budgets[kind]) }
        return accounts[kind].index(forKey: charged)
    }
}

/// Who has a budget.
private enum Payer: Hashable {
    case process(user: UInt32?, UInt32)
    case connection(String)
    case program(user: UInt32?, String?)
    case user(UInt32?)
    case everybody

    init(_ kind: Int, _ entry: AuditEntry) {
        switch (kind, entry.processID) {
        case (0, let process?): self = .process(user: entry.userID, process)
        case (0, nil): self = .connection(entry.connection)
        case (1, _): self = .program(user: entry.userID, entry.application ?? entry.program)
        default: self = .user(entry.userID)
        }
    }
}

/// What a payer has left, and what went beyond it.
private struct Account {
    var left: Int
    /// One for each operation and decision, which are few.
    var folds: [Fold] = []

    mutating func pay() -> Bool {
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    mutating func keep(_ fold: Fold, _ namesLeft: inout Int) {
        if let place = folds.firstIndex(where: fold.isLike) {
            folds[place].merge(fold, &namesLeft)
        } else {
            folds.append(fold.folded)
        }
    }
}

/// Entries of one operation and decision.
private struct Fold {
    private(set) var entry: AuditEntry
    private var count = 1
    private var isFolded = false
    /// Hashes of the groups' names, where there are several; names are long, and of the caller's choosing.
    private var groups: Set<Int> = []

    init(_ entry: AuditEntry) { self.entry = entry }

    var folded: Fold {
        var folded = self
        folded.isFolded = true
        return folded
    }

    var line: AuditLedger.Line {
        AuditLedger.Line(entry: entry, count: count, groups: max(groups.count, 1), isFolded: isFolded)
    }

    func isLike(_ other: Fold) -> Bool {
        entry.decision == other.entry.decision && entry.operation == other.entry.operation
    }

    private var names: Set<Int> { groups.isEmpty ? [entry.group.hashValue] : groups }

    mutating func merge(_ other: Fold, _ namesLeft: inout Int) {
        count += other.count
        if other.entry.group != entry.group || !groups.isEmpty || !other.groups.isEmpty {
            groups = names
            for name in other.names where namesLeft > 0 && groups.insert(name).inserted { namesLeft -= 1 }
        }
        entry.mix(other.entry)
    }
}

extension AuditEntry {
    /// Leaves what both have in common.
    fileprivate mutating func mix(_ other: AuditEntry) {
        if application != other.application { application = nil }
        if program != other.program { program = nil }
        if group != other.group { group = nil }
        if objection != other.objection { objection = nil }
        if connection != other.connection { connection = "" }
        if processID != other.processID { processID = nil }
        trust = min(trust, other.trust)
    }
}
