internal import BrokerDesk
internal import BrokerModel
internal import Foundation
internal import SDBus
internal import SecretServiceFront
internal import Sodium

/// What stands for the life of the process.
@BrokerActor final class Provider {
    private static var running: Provider?

    private let folder: URL
    private let connection: Connection
    private let desk: Desk
    private let secretService: SecretServiceDesk
    private let front: SecretServiceFront
    private var registrations: [Registration] = []

    static func start(_ fixture: Fixture) async throws {
        for signal: Int32 in [2, 15] { try BrokerActor.shared.loop.onSignal(signal) { end() } }
        let provider = try Provider(fixture)
        running = provider
        try await provider.watch()
        try await provider.add(fixture)
        try await provider.connection.requestName(SecretServiceName.bus)
        print(provider.connection.uniqueName ?? SecretServiceName.bus)
        fflush(nil)
    }

    private init(_ fixture: Fixture) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "conf-fixture.\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        connection = try Connection.openUser()
        desk = try Rooms.desk(connection, folder.path)
        secretService = SecretServiceDesk(desk, builtIn: fixture.builtIn)
        front = try SecretServiceFront(
            connection, desk: secretService, prompter: NoPrompter(),
            offersEncryption: fixture.offersEncryption)
    }

    private func watch() async throws {
        registrations = [
            try connection.onDisconnect { Self.end() },
            try await connection.onNameOwnerChanged { [front, desk] name, _, new in
                guard name.hasPrefix(":"), new.isEmpty else { return }
                front.connectionGone(name)
                desk.connectionGone(name)
            },
        ]
    }

    // In the name of this process itself, which the broker looks at like any other.
    private func add(_ fixture: Fixture) async throws {
        let context = CallContext(connection: connection.uniqueName ?? "", allowsInteraction: false)
        for collection in fixture.collections {
            let address = SecretCollection.Address.name(collection.id)
            if collection.standing != nil {
                _ = try await secretService.relabel(context, address, collection.label).value()
            } else {
                _ = try await secretService.createCollection(
                    context, label: collection.label, alias: "", pathName: collection.id
                ).value()
            }
            for item in collection.items { try await add(item, to: address, context) }
        }
        for (alias, id) in fixture.aliases where alias != id {
            try await secretService.setAlias(context, alias, to: .name(id)).value()
        }
        let locked = fixture.collections.filter(\.locked)
        _ = try await secretService.lock(context, locked.map { .collection(.name($0.id)) }).value()
    }

    private func add(
        _ item: Fixture.Item, to address: SecretCollection.Address, _ context: CallContext
    ) async throws {
        let secret = SharedSecret(Secret(copying: Array(item.secret.utf8).span))
        let content = SecretItem.Content(
            label: item.label, lookup: LookupAttributes(item.attributes), contentType: item.contentType)
        _ = try await secretService.createItem(
            context, in: address, content, secret, replacing: false, pathName: item.id
        ).value()
    }

    private static func end() {
        let provider = running
        running = nil
        provider?.connection.close()
        if let folder = provider?.folder { try? FileManager.default.removeItem(at: folder) }
        BrokerActor.shared.loop.stop(code: 0)
    }
}
