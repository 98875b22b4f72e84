/// An interface: what `Connection.export` puts on an object. One may be exported on many objects and connections.
@BrokerActor public final class Interface {
    /// Its D-Bus name.
    public let name: String
    let table: VTable
    let properties: [String: PropertyBox]
    let methods: [String: MethodBox]

    /// Declares the interface. A name that D-Bus does not allow is refused by `export`.
    public init(_ name: String, @InterfaceBuilder _ members: () -> [InterfaceMember]) {
        let members = members()
        self.name = name
        table = VTable(members)
        var properties: [String: PropertyBox] = [:]
        for case .property(let box) in members.map(\.kind) { properties[box.name] = box }
        self.properties = properties
        var methods: [String: MethodBox] = [:]
        for case .method(let box) in members.map(\.kind) { methods[box.name] = box }
        self.methods = methods
    }
}

/// One member of an interface.
public struct InterfaceMember {
    enum Kind {
        case method(MethodBox)
        case property(PropertyBox)
        case signal(Signal)
    }

    let kind: Kind
}

/// Collects the members of an interface.
@resultBuilder public enum InterfaceBuilder {
    /// A method.
    public static func buildExpression(_ method: Method) -> [InterfaceMember] {
        [InterfaceMember(kind: .method(method.box))]
    }

    /// A property.
    public static func buildExpression(_ property: Property) -> [InterfaceMember] {
        [InterfaceMember(kind: .property(property.box))]
    }

    /// A signal.
    public static func buildExpression(_ signal: Signal) -> [InterfaceMember] {
        [InterfaceMember(kind: .signal(signal))]
    }

    /// Members that were collected elsewhere.
    public static func buildExpression(_ members: [InterfaceMember]) -> [InterfaceMember] {
        members
    }

    /// All of them.
    public static func buildBlock(_ members: [InterfaceMember]...) -> [InterfaceMember] {
        members.flatMap { $0 }
    }

    /// Members of an `if`.
    public static func buildOptional(_ members: [InterfaceMember]?) -> [InterfaceMember] {
        members ?? []
    }

    /// Members of an `if`.
    public static func buildEither(first members: [InterfaceMember]) -> [InterfaceMember] {
        members
    }

    /// Members of an `else`.
    public static func buildEither(second members: [InterfaceMember]) -> [InterfaceMember] {
        members
    }
}
