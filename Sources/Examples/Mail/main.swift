// The mail program. `sign-in` stores the tokens of the account, and the key of its drafts, which it takes from its input;
// `open-drafts` reads that key; `inbox` looks at the mail; `run` stays and says what it is told.

import BrokerModel
import Chatelaine
import DemoKit
import SDBus
import Sodium

@BrokerActor func signIn(_ broker: Broker, _ service: MailService) async throws {
    guard let tokens = await service.signIn() else { DemoProgram.end("demo-mail: the service is away") }
    var token = MailAccount.token.with("Accessible", .text("after-first-unlock"))
    if let expires = tokens.expires { token["FreshUntil"] = .counter(expires) }
    let key = MailAccount.draftsKey.with("Accessible", .text("when-unlocked"))
    let first = try await broker.store(token, tokens.encoded())
    DemoProgram.say("stored the tokens of the account, after-first-unlock, revision \(first.revision)")
    let second = try await broker.store(key, .fromStandardInput())
    DemoProgram.say("stored the key of the drafts, when-unlocked, revision \(second.revision)")
}

@BrokerActor func openDrafts(_ broker: Broker) async throws(ChatelaineError) {
    let key = try await broker.read(MailAccount.draftsKey)
    DemoProgram.say("unlocked: the key of the drafts is \(key.secret.shown)")
}

@BrokerActor func stay(_ broker: Broker) async throws(ChatelaineError) {
    let events = try await broker.events()
    let now = try await broker.subscribe(to: [MailAccount.group])
    DemoProgram.say("subscribed, the device is \(now.state)")
    try await DemoProgram.follow(events) { (change) throws(ChatelaineError) in
        switch change {
        case .lockState(let state, _) where state == .unlocked:
            DemoProgram.say("unlocked: drafts can be opened")
        case .lockState(let state, _): DemoProgram.say("\(state.rawValue): closed the drafts")
        case .item, .refreshNeeded: break
        case .loggedOut(let group, let service, let epoch, let reason):
            DemoProgram.say("logout of \(service) (\(reason)), epoch \(epoch): back to the sign-in page")
            try await broker.acknowledge(group: group, epoch: epoch)
        }
    }
}

DemoProgram.run { (broker, arguments) in
    guard let service = MailService() else { DemoProgram.end("demo-mail: DEMO_SERVER names no port") }
    switch arguments {
    case ["sign-in"]: try await signIn(broker, service)
    case ["inbox"]: DemoProgram.say(try await service.inbox(service.gate()))
    case ["open-drafts"]: try await openDrafts(broker)
    case ["run"]: try await stay(broker)
    default: DemoProgram.say("usage: demo-mail sign-in | open-drafts | inbox | run")
    }
}
