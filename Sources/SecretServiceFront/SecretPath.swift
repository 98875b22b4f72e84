internal import BrokerModel
internal import SDBus

/// What an object's path means.
enum SecretPath: Hashable {
    case service
    case collection(SecretCollection.Address)
    case item(SecretItem.Address)
    case session
    case prompt

    /// Nil for a path that no object can have.
    init?(_ path: String) {
        if path == SecretServiceName.root {
            self = .service
            return
        }
        let root = SecretServiceName.root.utf8
        guard path.utf8.starts(with: root) else { return nil }
        // Every call of an item has its path: no list of parts.
        let rest = path.utf8.dropFirst(root.count)
        guard let (kind, below) = Self.part(of: rest), let (first, end) = Self.part(of: below) else {
            return nil
        }
        let last = Self.part(of: end)
        if let last, !last.rest.isEmpty { return nil }
        guard last != nil || end.isEmpty else { return nil }
        switch (String(kind), last) {
        case ("collection", nil): self = .collection(.name(String(first)))
        case ("collection", let last?):
            self = .item(SecretItem.Address(collection: .name(String(first)), name: String(last.part)))
        case ("aliases", nil): self = .collection(.alias(String(first)))
        case ("aliases", let last?):
            self = .item(SecretItem.Address(collection: .alias(String(first)), name: String(last.part)))
        case ("session", nil): self = .session
        case ("prompt", nil): self = .prompt
        default: return nil
        }
    }

    // What stands behind the slash that the bytes begin with, and what is left.
    private static func part(
        of bytes: Substring.UTF8View
    ) -> (part: Substring, rest: Substring.UTF8View)? {
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        let inside = bytes.dropFirst()
        let part = inside.prefix { $0 != UInt8(ascii: "/") }
        return part.isEmpty ? nil : (Substring(part), inside[part.endIndex...])
    }

    /// The interface of such objects.
    var interface: String {
        switch self {
        case .service: SecretServiceName.service
        case .collection: SecretServiceName.collection
        case .item: SecretServiceName.item
        case .session: SecretServiceName.session
        case .prompt: SecretServiceName.prompt
        }
    }

    var collection: SecretCollection.Address? {
        if case .collection(let address) = self { return address }
        return nil
    }

    var item: SecretItem.Address? {
        if case .item(let address) = self { return address }
        return nil
    }
}

extension SecretCollection {
    var path: ObjectPath { ObjectPath("\(SecretServiceName.collections)/\(name)") }
}

extension SecretItem {
    var path: ObjectPath { ObjectPath("\(SecretServiceName.collections)/\(collectionName)/\(name)") }
    var collectionPath: ObjectPath { ObjectPath("\(SecretServiceName.collections)/\(collectionName)") }
}

extension ObjectPath {
    /// No object: no prompt is needed, or nothing is there.
    static let none = ObjectPath("/")
}
