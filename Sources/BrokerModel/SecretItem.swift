/// An item of `org.freedesktop.secrets` without its secret, as one caller sees it.
public struct SecretItem: Sendable, Equatable {
    /// The collection.
    public let collection: SecretCollection.ID
    /// The end of the collection's path.
    public let collectionName: String
    /// Which item.
    public let reference: Reference
    /// The end of its path.
    public let name: String
    /// The group.
    public let group: AccessGroup
    /// What a person calls it.
    public var label: String
    // As they are stored: a search finds many items, and nobody asks for what they were found by.
    private let lookupBytes: [UInt8]
    /// What a client says of the secret's bytes.
    public var contentType: String
    /// Microseconds since the Unix epoch.
    public let created: UInt64
    /// Microseconds since the Unix epoch.
    public var modified: UInt64
    /// Whether its secret is out of reach until a person opens the collection.
    public let isLocked: Bool

    /// What it is looked up by; none where what is stored is the form of none.
    public var lookup: LookupAttributes { LookupAttributes(encoded: lookupBytes) ?? LookupAttributes() }

    /// All fields; `lookup` is ``LookupAttributes/encoded``.
    public init(
        collection: SecretCollection.ID, collectionName: String, reference: Reference, name: String,
        group: AccessGroup, label: String, lookup: [UInt8], contentType: String, created: UInt64,
        modified: UInt64, isLocked: Bool
    ) {
        self.collection = collection
        self.collectionName = collectionName
        self.reference = reference
        self.name = name
        self.group = group
        self.label = label
        lookupBytes = lookup
        self.contentType = contentType
        self.created = created
        self.modified = modified
        self.isLocked = isLocked
    }

    /// How a call names an item.
    public struct Address: Hashable, Sendable {
        /// Its collection.
        public let collection: SecretCollection.Address
        /// The end of its path.
        public let name: String

        /// Both.
        public init(collection: SecretCollection.Address, name: String) {
            self.collection = collection
            self.name = name
        }
    }

    /// What is stored of a new item, beside the secret.
    public struct Content: Sendable {
        /// What a person calls it.
        public let label: String
        /// What it is looked up by.
        public let lookup: LookupAttributes
        /// What a client says of the secret's bytes.
        public let contentType: String

        /// All fields.
        public init(label: String, lookup: LookupAttributes, contentType: String) {
            self.label = label
            self.lookup = lookup
            self.contentType = contentType
        }
    }

    /// A change of one item; nil leaves what it has.
    public struct Change: Sendable {
        /// What a person calls it.
        public var label: String?
        /// What it is looked up by.
        public var lookup: LookupAttributes?
        /// What a client says of the secret's bytes.
        public var contentType: String?

        /// No change.
        public init() {}
    }
}
