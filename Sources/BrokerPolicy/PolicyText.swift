import BrokerModel

/// The grammar below the policy's meaning, which `chatelained.conf` shares: sections, keys and values.
///
/// A line is empty, a comment, a `[Kind]` or `[Kind name]` header, or `Key=value`. It ends in LF or CRLF;
/// none goes on in the next. A comment begins with `#`, at the start of a line or after white space
/// anywhere in it; there is no way to write a value that holds white space and then `#`. White space at
/// either end of a line and around the first `=` counts for nothing. Text is UTF-8 without control
/// characters. Whatever else stands in a file is an error, never ignored.
public struct PolicyText: Sendable {
    /// In the order of the file.
    public private(set) var sections: [Section] = []

    /// A header and what stands under it.
    public struct Section: Sendable, Equatable {
        /// The header's first word.
        public let kind: String
        /// What follows it, empty in `[Kind]`.
        public let name: String
        /// The header's line.
        public let line: Int
        /// In the order of the file.
        public internal(set) var entries: [Entry]
    }

    /// One `Key=value`.
    public struct Entry: Sendable, Equatable {
        /// Before the first `=`.
        public let key: String
        /// After it, never empty.
        public let value: String
        /// Where it stands.
        public let line: Int
    }

    /// Splits a file, or says of every line that does not fit what is wrong with it.
    public init(_ file: PolicyFile) throws(PolicyErrors) {
        var problems = Problems()
        self.init(file, problems: &problems)
        if !problems.all.isEmpty { throw PolicyErrors(problems: problems.all) }
    }

    init(_ file: PolicyFile, problems: inout Problems) {
        guard file.contents.count <= Limits.policyFileBytesMax else {
            let text = "The file is larger than \(Limits.policyFileBytesMax) bytes."
            problems.add(text, at: Place(file: file.path, line: 1))
            return
        }
        let lines = file.contents.split(separator: Ascii.lineFeed, omittingEmptySubsequences: false)
        // What follows a header that cannot be read belongs to no section, least of all to the one before.
        var isLost = false
        for (index, bytes) in lines.enumerated() {
            let place = Place(file: file.path, line: index + 1)
            do throws(LineError) {
                switch try Line(bytes) {
                case .empty: break
                case .header(let kind, let name):
                    sections.append(Section(kind: kind, name: name, line: place.line, entries: []))
                    isLost = false
                case .entry(let key, let value):
                    if isLost { continue }
                    if sections.isEmpty { throw LineError("\(key.quoted) stands before any section.") }
                    let entry = Entry(key: key, value: value, line: place.line)
                    sections[sections.count - 1].entries.append(entry)
                }
            } catch {
                isLost = isLost || error.isHeader
                problems.add(error.text, at: place, column: error.column)
            }
        }
    }
}
