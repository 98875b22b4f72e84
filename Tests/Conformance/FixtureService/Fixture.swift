internal import BrokerModel
internal import Foundation

/// The objects that a test program expects: what a file of `fixtures` says.
struct Fixture: Decodable {
    let algorithms: [String]
    let aliases: [String: String]
    let collections: [Collection]

    struct Collection: Decodable {
        let id: String
        let label: String
        let locked: Bool
        let items: [Item]
    }

    struct Item: Decodable {
        let id: String
        let label: String
        let secret: String
        let attributes: [String: String]
        let contentType: String

        private enum CodingKeys: String, CodingKey {
            case id, label, secret, attributes
            case contentType = "content_type"
        }
    }

    init(path: String) throws {
        self = try JSONDecoder().decode(Fixture.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    var offersEncryption: Bool { algorithms.contains { $0 != "plain" } }

    /// The collections of the fixture that the broker has by itself.
    var builtIn: Set<SecretCollection.ID> { Set(collections.compactMap(\.standing)) }
}

extension Fixture.Collection {
    /// Nil for one that a program made.
    var standing: SecretCollection.ID? {
        switch id {
        case "login": .login
        case "session": .session
        default: nil
        }
    }
}
