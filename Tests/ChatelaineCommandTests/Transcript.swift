import Foundation
import TestKit

/// A session on a shell, as a file: what was typed, and what must come of it.
///
///     # a comment
///     $ set --service web --label "My web"     the arguments
///     < hunter2                                standard input; `\n` is a newline, and none is added
///     > Revision  1                            a line of standard output
///     >- hunter2                               the same without a newline at its end
///     2> chatelaine: *                         a line of standard error
///     = 0                                      the exit status
///     ! state                                  no such file is there then
///     !~ hunter2                               no file holds this text
///
/// In expected lines `*` stands for anything, and `{name}` for a word that is kept for later lines and
/// arguments. `{folder}` is the stage's, `{tests}` the id of the process that runs the tests.
struct Transcript {
    let steps: [Step]

    struct Step {
        let line: Int
        let arguments: [String]
        var input = ""
        var output = ""
        var errors = ""
        var status: Int32?
        var absentFiles: [String] = []
        var absentTexts: [String] = []
    }

    init(_ text: String) throws {
        var steps: [Step] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let (mark, rest) = Self.split(line)
            if mark == "$" {
                steps.append(Step(line: number + 1, arguments: Self.words(rest)))
                continue
            }
            if mark.isEmpty || mark.hasPrefix("#") { continue }
            guard var step = steps.popLast(), step.take(mark, rest) else {
                throw TestFailure("line \(number + 1) says nothing: \(line)")
            }
            steps.append(step)
        }
        self.steps = steps
    }

    private static func split(_ line: Substring) -> (mark: String, rest: String) {
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }

    private static func words(_ line: String) -> [String] {
        line.matches(of: /"([^"]*)"|(\S+)/).map { String($0.1 ?? $0.2 ?? "") }
    }
}

extension Transcript.Step {
    fileprivate mutating func take(_ mark: String, _ rest: String) -> Bool {
        switch mark {
        case "<": input += rest.replacing("\\n", with: "\n")
        case ">": output += rest + "\n"
        case ">-": output += rest
        case "2>": errors += rest + "\n"
        case "=": status = Int32(rest)
        case "!": absentFiles.append(rest)
        case "!~": absentTexts.append(rest)
        default: return false
        }
        return true
    }
}

/// The words that `{name}` stands for.
struct Captures {
    private var values: [String: String]

    init(folder: String) {
        values = ["folder": folder, "tests": "\(ProcessInfo.processInfo.processIdentifier)"]
    }

    /// The text with every known name replaced.
    func filled(_ text: String) -> String {
        values.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    /// Whether the text is as expected; names that are new take what stands in their place.
    mutating func matches(_ text: String, _ expected: String) -> Bool {
        var names: [String] = []
        var pattern = ""
        var rest = filled(expected)[...]
        while let next = rest.first {
            if next == "*" {
                pattern += "[^\n]*"
                rest.removeFirst()
            } else if next == "{", let name = rest.prefixMatch(of: /\{([a-z]+)\}/) {
                names.append(String(name.1))
                pattern += "(\\S+)"
                rest = rest[name.range.upperBound...]
            } else {
                pattern += NSRegularExpression.escapedPattern(for: String(next))
                rest.removeFirst()
            }
        }
        guard let regex = try? Regex(pattern), let match = try? regex.wholeMatch(in: text) else {
            return false
        }
        for (index, name) in names.enumerated() {
            values[name] = match[index + 1].substring.map { String($0) }
        }
        return true
    }
}
