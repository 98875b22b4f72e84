public import BrokerModel
internal import SDBus

/// What the broker says of an item that comes from elsewhere.
public struct ImportAnswer: Sendable, Equatable {
    /// What there was in its place, or what became of it.
    public let outcome: Imported.Outcome
    /// The access group that this is about.
    public let group: String
    /// When the one that is there was last changed, in microseconds since the Unix epoch; 0 where none is.
    public let modified: UInt64

    init(from reader: inout MessageReader) throws(BusError) {
        guard let outcome = Imported.Outcome(rawValue: try reader.read(String.self)) else {
            throw .invalidArguments("The broker's answer is of a newer kind")
        }
        self.outcome = outcome
        group = try reader.read()
        modified = try reader.read()
    }
}

/// An item of another keyring, beside its secret.
public struct ForeignItem: Sendable {
    /// The label of its collection; empty for the one that programs store in unless they say otherwise.
    public var collection: String
    /// What a person calls it.
    public var label: String
    /// What it is looked up by. Two names are two where their bytes differ.
    public var attributes: [(name: String, value: String)]
    /// What its program says of the secret's bytes.
    public var contentType: String

    /// All fields.
    public init(
        collection: String, label: String, attributes: [(name: String, value: String)], contentType: String
    ) {
        self.collection = collection
        self.label = label
        self.attributes = attributes
        self.contentType = contentType
    }
}
