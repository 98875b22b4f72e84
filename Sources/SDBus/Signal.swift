/// A signal of an interface, for introspection; `Connection.emit` sends it.
public struct Signal {
    let name: String
    let arguments: [String]
    let signature: String

    /// The names of its arguments and their types: `Signal("Changed", ["path"], (ObjectPath.self))`.
    public init<each Argument: BusEncodable>(
        _ name: String, _ arguments: [String] = [], _ types: (repeat (each Argument).Type)
    ) {
        var signature = ""
        for type in repeat each types { signature += type.signature }
        self.name = name
        self.arguments = arguments
        self.signature = signature
    }

    /// A signal without arguments.
    public init(_ name: String) {
        self.name = name
        arguments = []
        signature = ""
    }
}
