/// `[Manager]` or `[Carriers]` as it was read: programs, by path or by pattern.
struct ProgramList: Sendable {
    /// Whether patterns are allowed.
    let takesPatterns: Bool
    private(set) var programs: [Glob] = []

    /// The texts, in the order of the lines.
    var texts: [String] { programs.map(\.text) }

    init(takesPatterns: Bool) {
        self.takesPatterns = takesPatterns
    }

    /// Whether any of a file's paths is listed.
    func contains(anyOf paths: [String]) -> Bool {
        programs.contains { program in paths.contains(where: program.matches) }
    }
}

extension ProgramList: SectionReading {
    static let repeatableKeys: Set<String> = ["Executable"]

    mutating func take(
        _ entry: PolicyText.Entry, in environment: PolicyEnvironment
    ) throws(ValueError) -> Bool {
        guard entry.key == "Executable" else { return false }
        if !takesPatterns { _ = try Value.path(entry.value) }
        programs.append(try Value.pathPattern(entry.value))
        return true
    }
}
