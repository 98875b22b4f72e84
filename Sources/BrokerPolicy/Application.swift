import BrokerModel

/// `[Application ID]` as it was read.
struct Application: Sendable {
    let id: String
    let place: Place
    let origin: PolicyFile.Origin
    /// Lines by key, in the order of ``MatchKey``; a key without a line is not there.
    private(set) var conditions: [Condition] = []
    /// In the order of the line.
    private(set) var groups: [AccessGroup] = []
    private(set) var groupsLine: Int?
    private(set) var role = Entitlements.Role.full
    private(set) var operations = Set(Operation.allCases)

    /// The lines of one key, of which one must match.
    struct Condition: Sendable {
        let key: MatchKey
        var alternatives: [Alternative]
    }

    init(id: String, place: Place, origin: PolicyFile.Origin) {
        self.id = id
        self.place = place
        self.origin = origin
    }

    /// The header, as it is quoted to people.
    var title: String { "[Application \(id)] (\(place))" }

    /// The private group of whoever matches; there always is one, since the id's length is bounded.
    var privateGroup: AccessGroup? { AccessGroup("app.\(id)") }

    /// Which keys have a line: the more, the closer the match.
    var keys: [MatchKey] { conditions.map(\.key) }

    /// The lines of a key.
    subscript(key: MatchKey) -> [Alternative] {
        conditions.first { $0.key == key }?.alternatives ?? []
    }

    /// A line of this section.
    func place(_ line: Int?) -> Place { Place(file: place.file, line: line ?? place.line) }

    private mutating func add(_ alternative: Alternative) throws(ValueError) {
        guard let index = conditions.firstIndex(where: { $0.key == alternative.key }) else {
            conditions.append(Condition(key: alternative.key, alternatives: [alternative]))
            let order = MatchKey.allCases
            conditions.sort { (order.firstIndex(of: $0.key) ?? 0) < (order.firstIndex(of: $1.key) ?? 0) }
            return
        }
        conditions[index].alternatives.append(alternative)
    }
}

extension Application: SectionReading {
    static let repeatableKeys = Set(MatchKey.allCases.map(\.rawValue))

    mutating func take(
        _ entry: PolicyText.Entry, in environment: PolicyEnvironment
    ) throws(ValueError) -> Bool {
        if let key = MatchKey(rawValue: entry.key) {
            try add(Alternative(key, entry, in: environment))
            return true
        }
        switch entry.key {
        case "AccessGroups":
            groups = try Value.list(entry.value) { (word) throws(ValueError) in try Value.grantedGroup(word) }
            groupsLine = entry.line
        case "Role": role = try Value.choice(entry.value, among: ["full", "background"])
        case "Operations":
            let words = Operation.allCases.map(\.rawValue)
            let list: [Operation] = try Value.list(entry.value) { (word) throws(ValueError) in
                try Value.choice(word, among: words)
            }
            operations = Set(list)
        default: return false
        }
        return true
    }
}
