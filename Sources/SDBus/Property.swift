/// How a property's changes are told.
public enum PropertyChange: Sendable {
    /// It never changes.
    case const
    /// `PropertiesChanged` carries the new value.
    case emitsChange
    /// `PropertiesChanged` says that there is a new value.
    case emitsInvalidation
    /// Nobody is told.
    case silent
}

/// A property of an interface.
public struct Property {
    let box: PropertyBox

    /// A property that is declared for introspection alone: reading and writing it is served by an overlay of
    /// `org.freedesktop.DBus.Properties`.
    public static func declared<Value: BusEncodable>(
        _ name: String, _ type: Value.Type, isWritable: Bool = false
    ) -> Property {
        Property(
            box: PropertyBox(
                name: name, signature: Value.signature, change: .emitsChange, isWritable: isWritable
            ) { _, _ throws(BusError) in throw .failed("The property is read by the Properties interface.") })
    }

    private init(box: PropertyBox) {
        self.box = box
    }

    /// A property whose value depends on who asks.
    public init<Value: BusEncodable>(
        _ name: String, _ change: PropertyChange = .silent,
        _ get: @escaping @BrokerActor (borrowing PropertyCall) throws(BusError) -> Value
    ) {
        box = PropertyBox(name: name, signature: Value.signature, change: change) {
            call, writer throws(BusError) in
            try get(call).encode(to: &writer)
        }
    }

    /// A property with one value for all.
    public init<Value: BusEncodable>(
        _ name: String, _ change: PropertyChange = .silent,
        _ get: @escaping @BrokerActor () throws(BusError) -> Value
    ) {
        box = PropertyBox(name: name, signature: Value.signature, change: change) {
            _, writer throws(BusError) in
            try get().encode(to: &writer)
        }
    }
}

/// Who asks for a property, or for the objects that there are. It cannot be kept.
public struct PropertyCall: ~Copyable {
    /// The unique name of who asks; nil on a direct connection, and when the value goes into `PropertiesChanged`.
    public let sender: String?
    /// The object.
    public let path: String
    /// The connection that the question came in on.
    public let connection: Connection
}

/// What the vtable points to.
final class PropertyBox {
    typealias Getter = @BrokerActor (borrowing PropertyCall, inout MessageWriter) throws(BusError) -> Void

    let name: String
    let signature: String
    let change: PropertyChange
    let isWritable: Bool
    let get: Getter

    init(
        name: String, signature: String, change: PropertyChange, isWritable: Bool = false,
        get: @escaping Getter
    ) {
        self.name = name
        self.signature = signature
        self.change = change
        self.isWritable = isWritable
        self.get = get
    }
}
