/// Why a policy was refused: everything that is wrong with it, up to a bound, in reading order.
public struct PolicyErrors: Error, Sendable {
    /// Never empty.
    public let problems: [PolicyProblem]

    /// Problems that were found before a policy was read, such as a file that nobody may trust.
    public init(problems: [PolicyProblem]) { self.problems = problems }

    /// `file:line: text`, one for each problem.
    public var lines: [String] { problems.map(\.description) }
}

/// One thing that is wrong or unwise in a policy file.
public struct PolicyProblem: Sendable, Equatable, CustomStringConvertible {
    /// The file's path as it was handed in.
    public let file: String
    /// From 1.
    public let line: Int
    /// From 1, in bytes; nil where the whole line is meant.
    public let column: Int?
    /// One sentence for a person.
    public let text: String

    /// A problem of a whole line.
    public init(file: String, line: Int, column: Int? = nil, text: String) {
        self.file = file
        self.line = line
        self.column = column
        self.text = text
    }

    /// `file:line: text`, safe to print on a terminal.
    public var description: String {
        let place = "\(file.printable):\(line): \(text)"
        guard let column else { return place }
        return "\(place) (column \(column))"
    }
}

/// Problems up to a bound, so that a hostile file cannot make us hold more than it is long.
struct Problems: Sendable {
    private(set) var all: [PolicyProblem] = []

    /// Nobody reads further than this.
    static let countMax = 100

    mutating func add(_ text: String, at place: Place, column: Int? = nil) {
        guard all.count < Self.countMax else { return }
        all.append(PolicyProblem(file: place.file, line: place.line, column: column, text: text))
    }

    /// By the order in which the files were read, then by line.
    func sorted(by files: [PolicyFile]) -> [PolicyProblem] {
        let order = Dictionary(
            files.enumerated().map { ($1.path, $0) }, uniquingKeysWith: { first, _ in first })
        let keyed = all.enumerated().map { (order[$1.file] ?? 0, $1.line, $0, $1) }
        return keyed.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3)
    }
}

/// A line of a policy file.
struct Place: Hashable, Sendable, CustomStringConvertible {
    let file: String
    let line: Int

    var description: String { "\(file.printable):\(line)" }
}

/// A value that its key does not allow; the reader adds the place.
struct ValueError: Error {
    let text: String
    init(_ text: String) { self.text = text }
}
