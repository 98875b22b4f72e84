/// A value in a variant, whatever its type.
public struct Variant: BusEncodable, Sendable {
    private let write: @Sendable (inout MessageWriter) throws(BusError) -> Void

    /// Holds the value.
    public init<Value: BusEncodable & Sendable>(_ value: Value) {
        write = { writer throws(BusError) in try writer.variant(value) }
    }

    /// `v`.
    public static var signature: String { "v" }

    /// Appends the variant.
    public func encode(to writer: inout MessageWriter) throws(BusError) { try write(&writer) }
}
