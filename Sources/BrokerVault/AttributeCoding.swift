internal import BrokerModel

/// The content of a row's attribute part: version (1) ‖ access control flags (1, 0xff for none) ‖ in version 2 the hashes
/// of a ``FingerSet`` (32 each) ‖ count (2) ‖ for each attribute key (1), kind (1), length (4), bytes.
///
/// Version 2 is written for an item that is bound to fingers, and for no other: `biometry-current-set` in version 1 is
/// bound to none, and opens no more.
enum AttributeCoding {
    private static let version: UInt8 = 1
    private static let boundVersion: UInt8 = 2
    private static let noAccessControl: UInt8 = 0xff

    static func encode(
        _ attributes: AttributeSet, protection: Protection, fingers: FingerSet? = nil
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: attributes.byteCount + 8 * attributes.pairs.count + 68)
        writer.raw([fingers == nil ? version : boundVersion, flags(of: protection)])
        if let fingers {
            writer.raw(fingers.reader)
            writer.raw(fingers.fingers)
        }
        writer.number(UInt16(attributes.pairs.count))
        for pair in attributes.pairs {
            writer.raw([pair.key.rawValue, pair.value.kindByte])
            writer.counted(pair.value.content)
        }
        return writer.bytes
    }

    /// What was coded.
    struct Decoded {
        var attributes = AttributeSet()
        let protection: Protection
        let fingers: FingerSet?
    }

    /// Nil for content that no version of ours wrote.
    static func decode(_ bytes: Span<UInt8>, accessibility: Accessibility) -> Decoded? {
        var reader = ByteReader(bytes)
        guard let version = reader.number(UInt8.self), version == self.version || version == boundVersion,
            let flags = reader.number(UInt8.self), let protection = protection(flags, accessibility)
        else { return nil }
        let fingers = version == boundVersion ? fingers(from: &reader) : nil
        guard version == self.version || fingers != nil && protection.bindsFingers,
            let count = reader.number(UInt16.self)
        else { return nil }
        var decoded = Decoded(protection: protection, fingers: fingers)
        for _ in 0..<count {
            guard let key = reader.number(UInt8.self).flatMap(AttributeKey.init(rawValue:)),
                let kind = reader.number(UInt8.self), let content = reader.counted(),
                let value = AttributeValue(kindByte: kind, content: content)
            else { return nil }
            decoded.attributes[key] = value
        }
        return reader.isAtEnd ? decoded : nil
    }

    private static func fingers(from reader: inout ByteReader) -> FingerSet? {
        guard let name = reader.raw(FingerSet.hashBytes), let fingers = reader.raw(FingerSet.hashBytes)
        else { return nil }
        return FingerSet(reader: name, fingers: fingers)
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
