internal import BrokerModel

/// The content of a row's attribute part: version (1) ‖ access control flags (1, 0xff for none) ‖ count (2)
/// ‖ for each attribute key (1), kind (1), length (4), bytes.
enum AttributeCoding {
    private static let version: UInt8 = 1
    private static let noAccessControl: UInt8 = 0xff

    static func encode(_ attributes: AttributeSet, protection: Protection) -> [UInt8] {
        var writer = ByteWriter(capacity: attributes.byteCount + 8 * attributes.pairs.count + 4)
        writer.raw([version, flags(of: protection)])
        writer.number(UInt16(attributes.pairs.count))
        for pair in attributes.pairs {
            writer.raw([pair.key.rawValue, pair.value.kindByte])
            writer.counted(pair.value.content)
        }
        return writer.bytes
    }

    /// Nil for content that this version did not write.
    static func decode(
        _ bytes: Span<UInt8>, accessibility: Accessibility
    ) -> (attributes: AttributeSet, protection: Protection)? {
        var reader = ByteReader(bytes)
        guard reader.number(UInt8.self) == version, let flags = reader.number(UInt8.self),
            let protection = protection(flags, accessibility), let count = reader.number(UInt16.self)
        else { return nil }
        var attributes = AttributeSet()
        for _ in 0..<count {
            guard let key = reader.number(UInt8.self).flatMap(AttributeKey.init(rawValue:)),
                let kind = reader.number(UInt8.self), let content = reader.counted(),
                let value = AttributeValue(kindByte: kind, content: content)
            else { return nil }
            attributes[key] = value
        }
        return reader.isAtEnd ? (attributes, protection) : nil
    }

    private static func flags(of protection: Protection) -> UInt8 {
        guard case .accessControl(let control) = protection else { return noAccessControl }
        return control.flags.reduce(0) { $0 | 1 << $1.rawValue }
    }

    private static func protection(_ flags: UInt8, _ accessibility: Accessibility) -> Protection? {
        if flags == noAccessControl { return .accessible(accessibility) }
        let set = Set(AccessControl.Flag.allCases.filter { flags & 1 << $0.rawValue != 0 })
        guard let control = try? AccessControl(protection: accessibility, flags: set) else { return nil }
        return .accessControl(control)
    }
}

extension AttributeValue {
    fileprivate var kindByte: UInt8 {
        switch self {
        case .text: 1
        case .bytes: 2
        case .number: 3
        case .flag: 4
        }
    }

    fileprivate var content: [UInt8] {
        switch self {
        case .text(let bytes), .bytes(let bytes): return bytes
        case .number(let number):
            var writer = ByteWriter(capacity: 4)
            writer.number(number)
            return writer.bytes
        case .flag(let flag): return [flag ? 1 : 0]
        }
    }

    fileprivate init?(kindByte: UInt8, content: [UInt8]) {
        switch kindByte {
        case 1: self = .text(content)
        case 2: self = .bytes(content)
        case 3 where content.count == 4: self = .number(content.reduce(0) { $0 << 8 | UInt32($1) })
        case 4 where content.count == 1: self = .flag(content[0] != 0)
        default: return nil
        }
    }
}
