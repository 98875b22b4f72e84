/// Why a refresh came to nothing; the raw value is the word of the contract.
public enum RefreshFailure: String, Sendable {
    /// Another attempt may do: no network, a server that is down. The item stays.
    case transient
    /// The server said that the grant is dead. The item goes, and whoever holds it is told to drop it.
    case rejected
}
