import BrokerModel
import Chatelaine
import SDBus
import Sodium
import TestKit
import Testing

/// The client library against a real broker: the calls that no verb makes, and what a caller relies on.
@Suite struct ClientTests {
    init() { TestLoop.start() }

    @BrokerActor @Test func anItemIsAddedOnce() async throws {
        let (broker, stage) = try await connect()
        let item = attributes(["Class": "generic-password", "Service": "a"])
        let added = try await broker.add(item, secret("one"))
        #expect(added.isNew && added.revision == 1)
        await #expect(
            performing: { _ = try await broker.add(item, secret("two")) },
            throws: {
                ($0 as? ChatelaineError)?.kind == .duplicateItem
            })
        let stored = try await broker.store(item, secret("three"))
        #expect(!stored.isNew && stored.reference == added.reference)
        withExtendedLifetime(stage) {}
    }

    @BrokerActor @Test func everyMatchIsReadAndUpdated() async throws {
        let (broker, stage) = try await connect()
        for name in ["a", "b"] {
            let item = attributes(["Class": "generic-password", "Service": name, "Account": "x"])
            _ = try await broker.add(item, secret("of \(name)"))
        }
        let query = attributes(["Class": "generic-password", "Account": "x"])
        #expect(try await broker.readAll(query).map { text($0.secret) } == ["of a", "of b"])
        #expect(try await broker.update(query, attributes(["Label": "new"])) == 2)
        #expect(try await broker.search(query).map { $0["Label"] } == [.text("new"), .text("new")])
        #expect(try await broker.readAll(query).map { text($0.secret) } == ["of a", "of b"])
        #expect(try await broker.update(query, Attributes(), secret: secret("both")) == 2)
        #expect(try await broker.readAll(query).map { text($0.secret) } == ["both", "both"])
        withExtendedLifetime(stage) {}
    }

    @BrokerActor @Test func aLostRaceTellsTheRevision() async throws {
        let (broker, stage) = try await connect()
        var item = attributes(["Class": "generic-password", "Service": "a"])
        let added = try await broker.add(item, secret("one"))
        item["IfRevision"] = .counter(added.revision + 7)
        let late = item
        await #expect(
            performing: { _ = try await broker.store(late, secret("two")) },
            throws: {
                ($0 as? ChatelaineError)?.currentRevision == added.revision
            })
        withExtendedLifetime(stage) {}
    }

    @BrokerActor @Test func anAdministratorMovesAndChecks() async throws {
        let (broker, stage) = try await connect()
        _ = try await broker.add(attributes(["Class": "generic-password", "Service": "a"]), secret("one"))
        #expect(try await broker.moveItems(from: "org.example.client", to: "org.example.suite") == 1)
        #expect(try await broker.groups().map(\.name) == ["org.example.suite"])
        let report = try await broker.check()
        #expect(report.foregroundRows == 1 && report.foregroundDamaged == 0 && report.isForegroundChecked)
        let outcome = try await broker.forceLogout(group: "org.example.suite", service: "a", reason: "r")
        #expect(outcome.deleted == 1 && outcome.subscribers == 0)
        withExtendedLifetime(stage) {}
    }

    @BrokerActor @Test func eventsComeInOrderAndEndWithTheBroker() async throws {
        let (broker, stage) = try await connect()
        var events = try await broker.events().makeAsyncIterator()
        let subscription = try await broker.subscribe()
        #expect(subscription.epochs.map(\.group).contains("org.example.client"))
        let added = try await broker.add(
            attributes(["Class": "generic-password", "Service": "a"]), secret("one"))
        _ = try await broker.logout(group: "org.example.client", service: "", reason: "r")
        let first = await events.next()
        #expect(
            first?.change
                == .item(
                    group: "org.example.client", reference: added.reference, change: "added", revision: 1))
        let loggedOut = await events.next()
        #expect(loggedOut?.sequence == subscription.sequence + 2)
        #expect(
            loggedOut?.change
                == .loggedOut(group: "org.example.client", service: "", epoch: 1, reason: "r"))
        try await broker.acknowledge(group: "org.example.client", epoch: 1)
        try await broker.unsubscribe()
        await stage.endBroker()
        let last = await events.next()
        #expect(last == nil)
    }

    @BrokerActor @Test func aStrangersSignalIsNotAnEvent() async throws {
        let (broker, stage) = try await connect()
        var events = try await broker.events().makeAsyncIterator()
        _ = try await broker.subscribe()
        let stranger = try Connection.open(address: stage.bus.address)
        try stranger.emit(
            signal: "LoggedOut", interface: "org.chatelaine.Broker1.Subscriptions",
            path: "/org/chatelaine/Broker1", to: broker.connection.uniqueName, UInt64(1),
            "org.example.client", "", UInt64(9), "forged")
        // A call of the stranger's, answered, shows that its signal has been delivered before.
        _ = try await stranger.callBus("GetId")
        _ = try await broker.add(attributes(["Class": "generic-password", "Service": "a"]), secret("one"))
        guard case .item = await events.next()?.change else { throw TestFailure("the forgery came through") }
    }

    @BrokerActor @Test func aClosedConnectionIsAnErrorAndNoCrash() async throws {
        let (broker, stage) = try await connect()
        broker.close()
        await #expect(throws: ChatelaineError.self) { _ = try await broker.status() }
        withExtendedLifetime(stage) {}
    }

    @BrokerActor private func connect() async throws -> (Broker, Stage) {
        let stage = try await Stage()
        return (try Broker.connect(to: .address(stage.bus.address)), stage)
    }

    private func attributes(_ texts: KeyValuePairs<String, String>) -> Attributes {
        var attributes = Attributes()
        for (key, text) in texts { attributes[key] = .text(text) }
        return attributes
    }

    private func secret(_ text: String) -> SharedSecret {
        SharedSecret(Secret(copying: Array(text.utf8).span))
    }

    private func text(_ secret: SharedSecret) -> String {
        String(decoding: bytes(secret.secret), as: UTF8.self)
    }
}
