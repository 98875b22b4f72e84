internal import Sodium

extension RequestFields {
    static func attribute(
        _ value: WireDictionary.Value, of key: AttributeKey
    ) throws(Refusal) -> AttributeValue {
        let read: AttributeValue
        switch (key.kind, value) {
        case (.blob, .text(let bytes)): read = .text(bytes)
        case (.blob, .bytes(let bytes)): read = .bytes(bytes)
        case (.number, .number(let number)): read = .number(number)
        case (.flag, .flag(let flag)): read = .flag(flag)
        default: throw wrongType
        }
        guard read.byteCount <= Limits.attributeValueBytesMax else {
            throw Refusal(.tooLarge, "One attribute value has 64 KiB at most.")
        }
        return read
    }

    static func itemClass(_ value: WireDictionary.Value) throws(Refusal) -> ItemClass {
        guard let found = ItemClass(name: try text(value)) else {
            throw Refusal(.noSuchClass, "Item classes are generic-password and internet-password.")
        }
        return found
    }

    static func accessGroup(_ value: WireDictionary.Value) throws(Refusal) -> AccessGroup {
        // A name that cannot be a group's is a group that the caller lacks, like any other (B045).
        guard let group = AccessGroup(try text(value)) else { throw .missingGroup }
        return group
    }

    static func accessibility(named name: String) throws(Refusal) -> Accessibility {
        if let found = Accessibility(name: name) { return found }
        switch name {
        case "always":
            throw .param("The class 'always' is not offered; use after-first-unlock.")
        case "always-this-device-only":
            throw .param("The class is not offered; use after-first-unlock-this-device-only.")
        default:
            throw .param("Accessible is one of the five protection classes; see chatelaine(1).")
        }
    }

    static func accessControl(_ value: WireDictionary.Value) throws(Refusal) -> AccessControl {
        guard case .accessControl(let protection, let words) = value else { throw wrongType }
        var flags: Set<AccessControl.Flag> = []
        for word in words {
            guard let flag = AccessControl.Flag(name: word), flags.insert(flag).inserted else {
                throw .param("An access control has an unknown flag, or one flag twice.")
            }
        }
        return try AccessControl(protection: accessibility(named: protection), flags: flags)
    }

    static func synchronizable(_ value: WireDictionary.Value) throws(Refusal) -> SynchronizableFilter {
        switch value {
        case .flag(let flag): flag ? .yes : .no
        case .text(let bytes) where bytes == Array("any".utf8): .any
        default: throw .param("Synchronizable is a boolean, or in a query the word 'any'.")
        }
    }

    static func reference(_ value: WireDictionary.Value) throws(Refusal) -> Reference {
        guard let reference = Reference(text: try text(value)) else {
            throw .param("A reference is the text that Add, Store or Search gave.")
        }
        return reference
    }

    static func text(_ value: WireDictionary.Value) throws(Refusal) -> String {
        guard case .text(let bytes) = value else { throw wrongType }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func time(_ value: WireDictionary.Value) throws(Refusal) -> UInt64 {
        // The store's numbers are signed, and no clock of ours counts further.
        guard case .time(let time) = value, time <= UInt64(Int64.max) else { throw wrongType }
        return time
    }

    static func number(_ value: WireDictionary.Value) throws(Refusal) -> UInt32 {
        guard case .number(let number) = value else { throw wrongType }
        return number
    }

    static func flag(_ value: WireDictionary.Value) throws(Refusal) -> Bool {
        guard case .flag(let flag) = value else { throw wrongType }
        return flag
    }

    static func secret(_ value: WireDictionary.Value) throws(Refusal) -> SharedSecret {
        guard case .secret(let secret) = value else { throw wrongType }
        return secret
    }

    private static var wrongType: Refusal {
        .param("An attribute has another type than the contract gives it; see chatelaine(1).")
    }
}
