internal import BrokerBus
public import BrokerModel
internal import SDBus

/// Why a call failed: a refusal of the broker, or something between it and us.
public struct ChatelaineError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The D-Bus error's name.
    public let name: String
    /// A sentence for a person.
    public let text: String
    /// The contract's error; nil where the error is of the bus or of the connection.
    public let kind: Refusal.Kind?
    /// The item's revision, with `revisionMismatch` alone.
    public let currentRevision: UInt64?

    init(_ error: BusError) {
        name = error.name
        text = error.message
        kind = error.kind
        currentRevision = error.extra
    }

    /// A refusal in the broker's terms that is found on this side.
    public init(_ refusal: Refusal) { self.init(BusError(refusal)) }

    /// Whether nobody serves the contract on that bus, and nothing there could start it.
    public var isBrokerMissing: Bool { BusError(name: name, message: text).isServiceUnknown }

    /// Name and text.
    public var description: String { "\(name): \(text)" }
}

/// Runs a step that fails in the bus's terms where callers want ours.
@BrokerActor func onBus<Result>(
    _ body: @BrokerActor () async throws(BusError) -> Result
) async throws(ChatelaineError) -> Result {
    do throws(BusError) {
        return try await body()
    } catch {
        throw ChatelaineError(error)
    }
}
