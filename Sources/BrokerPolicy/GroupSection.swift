import BrokerModel

/// `[AccessGroup NAME]` as it was read.
struct GroupSection: Sendable {
    let group: AccessGroup
    let place: Place
    private(set) var rules = GroupRules()
    private(set) var trustLine: Int?
    private(set) var modeLine: Int?

    init(group: AccessGroup, place: Place) {
        self.group = group
        self.place = place
    }

    /// Where it says what trust it requires.
    var trustPlace: Place { Place(file: place.file, line: trustLine ?? place.line) }

    /// Where it says how denials are meant.
    var modePlace: Place { Place(file: place.file, line: modeLine ?? place.line) }
}

extension GroupSection: SectionReading {
    static let repeatableKeys: Set<String> = []

    mutating func take(
        _ entry: PolicyText.Entry, in environment: PolicyEnvironment
    ) throws(ValueError) -> Bool {
        switch entry.key {
        case "RequireTrust":
            rules.requireTrust = try Value.choice(entry.value, among: Trust.allCases.map(\.rawValue))
            trustLine = entry.line
        case "MaxItems": rules.maxItems = try Value.count(entry.value, in: 1...UInt64(Int64.max))
        case "MaxBytes": rules.maxBytes = try Value.bytes(entry.value)
        case "ReuseSeconds": rules.reuseSeconds = UInt32(try Value.count(entry.value, in: 0...300))
        case "Mode":
            rules.mode = try Value.choice(entry.value, among: ["enforce", "observe"])
            modeLine = entry.line
            if rules.mode == .observe && group.isReserved {
                throw ValueError("\(group) is a private group, which is never observed.")
            }
        case "Accessible": rules.accessible = try Value.list(entry.value, Value.accessibility)
        default: return false
        }
        return true
    }
}
