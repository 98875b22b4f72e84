/// A section that takes its lines one by one.
protocol SectionReading {
    /// The keys that may stand in several lines.
    static var repeatableKeys: Set<String> { get }

    /// Takes a line; false for a key that the section does not have.
    mutating func take(_ entry: PolicyText.Entry, in environment: PolicyEnvironment) throws(ValueError)
        -> Bool
}

extension SectionReading {
    /// Takes every line, and writes down each that does not fit.
    mutating func fill(
        from section: PolicyText.Section, of file: PolicyFile, in environment: PolicyEnvironment,
        problems: inout Problems
    ) {
        var seen: [String: Int] = [:]
        for entry in section.entries {
            let place = Place(file: file.path, line: entry.line)
            let first = seen.updateValue(seen[entry.key] ?? entry.line, forKey: entry.key)
            if let first, !Self.repeatableKeys.contains(entry.key) {
                problems.add("\(entry.key.printable)= stands already in line \(first).", at: place)
                continue
            }
            do throws(ValueError) {
                if try !take(entry, in: environment) {
                    problems.add("[\(section.kind)] has no key \(entry.key.quoted).", at: place)
                }
            } catch {
                problems.add("\(entry.key)=: \(error.text)", at: place)
            }
        }
    }
}
