public import BrokerModel
public import SDBus

extension BusError {
    /// The one place where a refusal becomes an error on the wire: the sentence for a person, then Apple's
    /// name and number where there is one.
    public init(_ refusal: Refusal) {
        let status = refusal.kind.status.map { " (\($0.name), \($0.code))" } ?? ""
        self.init(
            name: Contract.errorPrefix + refusal.kind.rawValue, message: refusal.text + status,
            extra: refusal.currentRevision)
    }

    /// The contract's error, nil for one that is not ours.
    public var kind: Refusal.Kind? {
        guard name.hasPrefix(Contract.errorPrefix) else { return nil }
        return Refusal.Kind(rawValue: String(name.dropFirst(Contract.errorPrefix.count)))
    }
}

/// Runs a step that refuses in our terms where the bus wants its own.
func onWire<Result: ~Copyable>(_ body: () throws(Refusal) -> Result) throws(BusError) -> Result {
    do throws(Refusal) {
        return try body()
    } catch {
        throw BusError(error)
    }
}
