public import BrokerModel

/// A proven caller. Only this room can make one; it is kept for the life of its connection and never
/// improves.
public struct Caller: Sendable, Equatable {
    /// The connection's unique name on the bus.
    public let connection: String
    /// What was proven at the connection's first call.
    public let facts: PeerFacts

    /// Not for the product: other rooms' tests need a caller without a process.
    @_spi(Testing) public init(connection: String, facts: PeerFacts) {
        self.connection = connection
        self.facts = facts
    }

    /// One connection is one caller.
    public static func == (left: Self, right: Self) -> Bool { left.connection == right.connection }
}
