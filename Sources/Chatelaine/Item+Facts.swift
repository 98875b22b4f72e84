extension Broker.Item {
    /// The item's revision.
    var revision: UInt64 { counter("Revision") ?? 0 }

    /// Its persistent reference.
    var reference: String {
        guard case .text(let reference) = attributes["Reference"] else { return "" }
        return reference
    }

    /// When it expires, in microseconds since the Unix epoch; nil for never.
    var expires: UInt64? { counter("Expires") }

    private func counter(_ key: String) -> UInt64? {
        guard case .counter(let value) = attributes[key] else { return nil }
        return value
    }
}
