/// A broken world: what failed, with what code, and where. It goes to the journal and never crosses the
/// wire; the caller gets `IO`, `Decode` or `NotAvailable`.
public struct Fault: Error, Sendable, CustomStringConvertible {
    /// The step that failed, in our words; never a caller's data.
    public let step: String
    /// The errno, SQLite or sd-bus code; 0 where there is none.
    public let code: Int32
    /// Where in the source.
    public let file: String
    /// Where in the source.
    public let line: Int

    /// Records where it was made.
    public init(_ step: String, code: Int32 = 0, file: String = #fileID, line: Int = #line) {
        self.step = step
        self.code = code
        self.file = file
        self.line = line
    }

    /// One line for the journal.
    public var description: String { "\(step) (code \(code), \(file):\(line))" }
}
