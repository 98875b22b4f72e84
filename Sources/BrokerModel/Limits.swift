/// Every maximum of the product, with its unit at the end of its name (INTERFACE, attributes).
public enum Limits {
    public static let secretBytesMax = 1 << 20
    public static let attributeValueBytesMax = 64 << 10
    public static let itemAttributesBytesMax = 256 << 10
    public static let dictionaryEntriesMax = 128
    public static let replyBytesMax = 16 << 20
    public static let inFlightBytesMax = 32 << 20
    public static let sessionsPerConnectionMax = 16
    public static let waitingCallsPerConnectionMax = 256
    public static let groupItemsDefaultMax: UInt64 = 10_000
    public static let groupBytesDefaultMax: UInt64 = 64 << 20
    public static let logoutReasonBytesMax = 1 << 10
    public static let passcodeBytesMax = 1 << 10
    public static let policyFileBytesMax = 1 << 20
    public static let peerLookupMicroseconds: UInt64 = 1_000_000
    public static let peerLookupsPerUserMax = 8
}
