/// The name of an account whose secret has a form that changes with the program's versions: `alice` in form 2 is stored
/// as `alice.v2`. A program of an older version finds what it knows, and never what it could not read.
public struct AccountName: Sendable, Hashable {
    /// The account.
    public let name: String
    /// The version of the form.
    public let version: Int

    /// An account in that form.
    public init(_ name: String, version: Int) {
        self.name = name
        self.version = version
    }

    /// What it is stored under.
    public var stored: String { "\(name).v\(version)" }
}
