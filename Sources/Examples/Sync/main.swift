// The mail program's background helper. `once` reads the shared tokens; `inbox` looks at the mail; `run FILE` stays, holds the token, and
// keeps in FILE the epoch of the last logout that it has handled.

import BrokerModel
import Chatelaine
import DemoKit
import SDBus
import Sodium

@BrokerActor func readOnce(_ broker: Broker) async throws(ChatelaineError) {
    let item = try await broker.read(MailAccount.token)
    let tokens = try SessionTokens(encoded: item.secret)
    DemoProgram.say("read the tokens that the mail program stored: \(tokens.accessToken.shown)")
}

@BrokerActor final class Helper {
    private let broker: Broker
    private let handled: HandledEpoch
    private var token: SharedSecret?

    init(_ broker: Broker, _ handled: HandledEpoch) {
        self.broker = broker
        self.handled = handled
    }

    func run() async throws(ChatelaineError) {
        let events = try await broker.events()
        let now = try await broker.subscribe(to: [MailAccount.group])
        for one in now.epochs { try await catchUp(to: one.epoch) }
        token = try? await broker.read(MailAccount.token).secret
        let held = token == nil ? "no token" : "the token"
        DemoProgram.say("subscribed, the device is \(now.state); holds \(held)")
        try await DemoProgram.follow(events) { (change) throws(ChatelaineError) in
            try await self.handle(change)
        }
    }

    private func catchUp(to epoch: UInt64) async throws(ChatelaineError) {
        guard let before = handled.epoch else { return handled.epoch = epoch }
        guard before != epoch else { return }
        try await drop("missed a logout: epoch \(before) handled, now \(epoch)", epoch)
    }

    private func handle(_ change: Event.Change) async throws(ChatelaineError) {
        switch change {
        case .lockState(let state, _): DemoProgram.say("\(state.rawValue): goes on with its work")
        case .item, .refreshNeeded: break
        case .loggedOut(_, let service, let epoch, let reason):
            try await drop("logout of \(service) (\(reason)), epoch \(epoch)", epoch)
        }
    }

    private func drop(_ why: String, _ epoch: UInt64) async throws(ChatelaineError) {
        token = nil
        handled.epoch = epoch
        DemoProgram.say("\(why): dropped the token")
        try await broker.acknowledge(group: MailAccount.group, epoch: epoch)
    }
}

DemoProgram.run { (broker, arguments) in
    guard let service = MailService() else { DemoProgram.end("demo-sync: DEMO_SERVER names no port") }
    if arguments == ["once"] {
        try await readOnce(broker)
    } else if arguments == ["inbox"] {
        DemoProgram.say(try await service.inbox(service.gate()))
    } else if arguments.count == 2, arguments[0] == "run" {
        try await Helper(broker, HandledEpoch(file: arguments[1])).run()
    } else {
        DemoProgram.say("usage: demo-sync once | inbox | run FILE")
    }
}
