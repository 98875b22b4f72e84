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
        guard path.hasPrefix(SecretServiceName.root + "/") else { return nil }
        let parts = path.dropFirst(SecretServiceName.root.utf8.count + 1).split(separator: "/").map(
            String.init)
        switch (parts.first, parts.count) {
        case ("collection", 2): self = .collection(.name(parts[1]))
        case ("collection", 3): self = .item(SecretItem.Address(collection: .name(parts[1]), name: parts[2]))
        case ("aliases", 2): self = .collection(.alias(parts[1]))
        case ("aliases", 3): self = .item(SecretItem.Address(collection: .alias(parts[1]), name: parts[2]))
        case ("session", 2): self = .session
        case ("prompt", 2): self = .prompt
        default: return nil
        }
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
