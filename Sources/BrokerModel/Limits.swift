/// Every maximum of the product, with its unit at the end of its name (INTERFACE, attributes).
public enum Limits {
    /// One secret.
    public static let secretBytesMax = 1 << 20
    /// One attribute value.
    public static let attributeValueBytesMax = 64 << 10
    /// All attribute values of one item.
    public static let itemAttributesBytesMax = 256 << 10
    /// Attributes that one item of `org.freedesktop.secrets` is looked up by: each has a place in the index.
    public static let lookupAttributesMax = 1024
    /// Keys in one dictionary of a request.
    public static let dictionaryEntriesMax = 128
    /// One reply; a larger one is `TooLarge`.
    public static let replyBytesMax = 16 << 20
    /// Requests of one connection that wait for their answer.
    public static let inFlightBytesMax = 32 << 20
    /// Open sessions of one connection.
    public static let sessionsPerConnectionMax = 16
    /// Calls of one connection that wait for their answer.
    public static let waitingCallsPerConnectionMax = 512
    /// Identified connections of one user.
    public static let connectionsPerUserMax = 2_048
    /// Identified connections of one program of a user, and of one process.
    public static let connectionsPerProgramMax = 128
    /// Connections of one user to the direct endpoint.
    public static let directConnectionsPerUserMax = 256
    /// Connections of one process to the direct endpoint.
    public static let directConnectionsPerProcessMax = 64
    /// A direct connection that has not said by then who it is ends.
    public static let authenticationMicroseconds: UInt64 = 10_000_000
    /// Messages that a direct connection lets lie unread.
    public static let queuedMessagesMax = 16_384
    /// Items of a group, unless the policy says otherwise.
    public static let groupItemsDefaultMax: UInt64 = 10_000
    /// Secrets and attributes of a group, unless the policy says otherwise.
    public static let groupBytesDefaultMax: UInt64 = 64 << 20
    /// The reason and the service of a logout, each.
    public static let logoutReasonBytesMax = 1 << 10
    /// A passcode.
    public static let passcodeBytesMax = 1 << 10
    /// One policy file.
    public static let policyFileBytesMax = 1 << 20
    /// Reading about a peer; late is `IdentityUnavailable`.
    public static let peerLookupMicroseconds: UInt64 = 1_000_000
    /// Look-ups of one user that run at a time.
    public static let peerLookupsPerUserMax = 8
    /// Questions about one user that the authority has open. A system bus lets one connection wait for 128
    /// replies: one user must not use them all up.
    public static let openQuestionsPerUserMax = 16
    /// Questions to a person that one connection has open.
    public static let openQuestionsPerConnectionMax = 4
    /// Wrong passcodes for one question to a person.
    public static let passcodeTriesPerQuestionMax = 3
}
