public import SDBus

extension Attributes: BusCodable {
    /// `a{sv}`.
    public static var signature: String { "a{sv}" }

    /// Appends the entries in their order.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("a", "{sv}")
        for entry in entries {
            switch entry.value {
            case .text(let text): try writer.entry(entry.key, text)
            case .bytes(let bytes): try writer.entry(entry.key, bytes)
            case .number(let number): try writer.entry(entry.key, number)
            case .flag(let flag): try writer.entry(entry.key, flag)
            case .counter(let counter): try writer.entry(entry.key, counter)
            case .accessControl(let protection, let flags):
                try writer.entry(entry.key, WireAccessControl(protection: protection, flags: flags))
            }
        }
        try writer.close()
    }

    /// Reads the entries. A value of a type that no attribute has is left out: a newer broker may have more.
    public init(from reader: inout MessageReader) throws(BusError) {
        self.init()
        try reader.dictionary { (key, value) throws(BusError) in
            let (type, contents) = try value.peekType()
            self[key] = try Self.value(&value, type, contents)
        }
    }

    private static func value(
        _ reader: inout MessageReader, _ type: UInt8, _ contents: String
    ) throws(BusError) -> Value? {
        switch (type, contents) {
        case (UInt8(ascii: "s"), _): return .text(try reader.read())
        case (UInt8(ascii: "a"), "y"): return .bytes(try reader.read())
        case (UInt8(ascii: "u"), _): return .number(try reader.read())
        case (UInt8(ascii: "b"), _): return .flag(try reader.read())
        case (UInt8(ascii: "t"), _): return .counter(try reader.read())
        case (UInt8(ascii: "r"), "sas"):
            let control = try reader.read(WireAccessControl.self)
            return .accessControl(protection: control.protection, flags: control.flags)
        default: return nil
        }
    }
}

/// An access control as it crosses the bus.
private struct WireAccessControl: BusCodable {
    let protection: String
    let flags: [String]

    static var signature: String { "(sas)" }

    init(protection: String, flags: [String]) {
        self.protection = protection
        self.flags = flags
    }

    init(from reader: inout MessageReader) throws(BusError) {
        _ = try reader.enter("r", "sas")
        protection = try reader.read()
        flags = try reader.read()
        try reader.exit()
    }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "sas")
        try writer.append(protection)
        try writer.append(flags)
        try writer.close()
    }
}
