import BrokerModel
import SDBus
import TestKit
import Testing

@testable import Chatelaine

/// The connection that the calls of a vault share.
@Suite struct LinkTests {
    /// The connections that calls were made on, in order.
    @BrokerActor private final class Calls {
        var brokers: [Broker] = []
    }

    private static let noSession = ChatelaineError(Refusal(.noSession, "There is no such session."))

    @BrokerActor private func fail(_ link: BrokerLink, _ calls: Calls) async throws {
        try await link.call { (broker) throws(ChatelaineError) in
            calls.brokers.append(broker)
            if calls.brokers.count == 1 { throw Self.noSession }
        }
    }

    /// Another call is half way when one finds that the connection is worth nothing.
    @BrokerActor @Test func aCallThatFailsEndsNobodyElses() async throws {
        let stage = try await BrokerStage()
        let link = stage.vault().link
        let (begun, goOn, calls, others) = (Mailbox<Void>(), Mailbox<Void>(), Calls(), Calls())
        let other = Task {
            try await link.call { (broker) throws(ChatelaineError) in
                others.brokers.append(broker)
                begun.post(())
                try? await goOn.next("the end of the one that fails")
                return try await broker.status().state
            }
        }
        try await begun.next("the first call")
        try await fail(link, calls)
        let shared = others.brokers[0]
        #expect(calls.brokers.count == 2 && calls.brokers[0] === shared && calls.brokers[1] !== shared)
        #expect(shared.connection.isOpen)
        goOn.post(())
        #expect(try await other.value == "unlocked")
        #expect(others.brokers.count == 1)
    }

    /// A call that fails late takes nothing from who has connected anew meanwhile.
    @BrokerActor @Test func aLateFailureLeavesTheNewConnectionAlone() async throws {
        let stage = try await BrokerStage()
        let link = stage.vault().link
        let (begun, goOn, calls, late) = (Mailbox<Void>(), Mailbox<Void>(), Calls(), Calls())
        let other = Task {
            try await link.call { (broker) throws(ChatelaineError) in
                late.brokers.append(broker)
                guard late.brokers.count == 1 else { return }
                begun.post(())
                try? await goOn.next("the end of the other one")
                throw Self.noSession
            }
        }
        try await begun.next("the first call")
        try await fail(link, calls)
        goOn.post(())
        try await other.value
        #expect(late.brokers.count == 2 && late.brokers[1] === calls.brokers[1])
        #expect(calls.brokers[1].connection.isOpen)
    }
}
