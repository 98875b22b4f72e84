import BrokerModel
import BrokerPolicy
import Foundation
import Testing

/// One file of `Vectors`: a policy and what is to become of it.
///
/// Header lines are `key: value`; an unknown key fails. After the first blank line comes the policy, which a
/// line `@@ NAME system|user` divides into files; without one it is `policy.conf` of the system.
///
/// - `mode: user|system`, `expect: taken|refused`, `comment: …`
/// - `error: …`, `warning: …`: every line that is reported, in order
/// - `caller NAME: FACTS` (see ``PeerFacts/init(vector:)``), and of that caller:
///   `groups NAME: …` all its groups in order; `trust NAME: …`; `is NAME: application|-`; `role NAME: …`;
///   `operations NAME: …`; `manager NAME: yes|no`; `sandboxed NAME: yes|no`;
///   `observed NAME: …` the groups in observe mode where it is let through;
///   `allow NAME: group` and `deny NAME: group file:line|-` with the line that decided
struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    var isSystem = false
    var isTaken = true
    var errors: [String] = []
    var warnings: [String] = []
    var callers: [String: PeerFacts] = [:]
    var checks: [Check] = []
    var files: [PolicyFile] = []

    struct Check: Sendable {
        let kind: Substring
        let caller: String
        let value: String
    }

    var testDescription: String { name }

    var environment: PolicyEnvironment { .fixture(isSystem: isSystem) }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")

    /// Empty where there is none, which a test refuses.
    static let all: [Vector] = (try? load()) ?? []

    static func load() throws -> [Vector] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
        return try names.filter { $0.hasSuffix(".case") }.map { name in
            try Vector(name: name, text: String(contentsOf: folder.appending(path: name), encoding: .utf8))
        }
    }

    init(name: String, text: String) throws {
        self.name = name
        guard let end = text.range(of: "\n\n") else { throw VectorError("\(name): no blank line") }
        for line in text[..<end.lowerBound].split(separator: "\n") { try take(line) }
        readFiles(text[end.upperBound...])
    }

    private mutating func take(_ line: Substring) throws {
        guard let colon = line.range(of: ": ") else { throw VectorError("\(name): \(line)") }
        let value = String(line[colon.upperBound...])
        let words = line[..<colon.lowerBound].split(separator: " ")
        switch (words[0], value) {
        case ("comment", _): break
        case ("mode", "user"), ("mode", "system"): isSystem = value == "system"
        case ("expect", "taken"), ("expect", "refused"): isTaken = value == "taken"
        case ("error", _): errors.append(value)
        case ("warning", _): warnings.append(value)
        case ("caller", _) where words.count == 2:
            callers[String(words[1])] = try PeerFacts(vector: value)
        case (let kind, _) where words.count == 2 && Self.checkKinds.contains(kind):
            checks.append(Check(kind: kind, caller: String(words[1]), value: value == "-" ? "" : value))
        default: throw VectorError("\(name): unknown header '\(line)'")
        }
    }

    private static let checkKinds: Set<Substring> = [
        "groups", "trust", "is", "role", "operations", "manager", "sandboxed", "observed", "allow", "deny",
    ]

    private mutating func readFiles(_ body: Substring) {
        var path = "policy.conf"
        var origin = PolicyFile.Origin.system
        var lines: [Substring] = []
        func flush(_ files: inout [PolicyFile]) {
            let contents = Array(lines.joined(separator: "\n").utf8)
            if !contents.isEmpty { files.append(PolicyFile(path: path, contents: contents, origin: origin)) }
        }
        for line in body.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ")
            guard words.first == "@@", words.count == 3 else {
                lines.append(line)
                continue
            }
            flush(&files)
            lines = []
            path = String(words[1])
            origin = words[2] == "user" ? .user : .system
        }
        flush(&files)
    }
}

struct VectorError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
