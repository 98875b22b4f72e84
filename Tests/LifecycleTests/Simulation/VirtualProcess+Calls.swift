import BrokerDesk
import BrokerModel
import Chatelaine
import ExampleAuthority
import SDBus
import Sodium

extension VirtualProcess {
    /// As programs do it that know of no broker.
    func refreshAlone(_ account: Account, _ own: SessionTokens) async throws(CallFailure) -> Token {
        switch await scene.network.refresh(own.refresh, scene.way(), life) {
        case .tokens(let tokens):
            try await scene.store(tokens, account, life)
            scene.ledger.stored(for: own.refresh)
            let item = try await read(account)
            return Token(own, item.attributes.revision)
        case .refused:
            scene.signInLater(account)
            throw .signInNeeded
        case .silence: throw .unreachable
        }
    }
}

// The calls of `.Items` and `.Refresh`. What they are refused must have a reason.
extension VirtualProcess {
    func read(_ account: Account) async throws(CallFailure) -> ItemWithSecret {
        let query = try Scene.query(account)
        do throws(CallFailure) {
            return try await scene.broker.call(life.connection) { (desk, context) throws(Refusal) in
                try desk.read(context, query)
            }
        } catch {
            scene.judge(error, account, "a read")
            throw error
        }
    }

    func begin(
        _ account: Account, stale revision: UInt64, _ own: String
    ) async throws(CallFailure) -> RefreshStart {
        let query = try Scene.query(account)
        let begun = scene.time.monotonic
        let patience = scene.switches.refusesToWait ? 0 : Self.patienceMicroseconds
        let wait = scene.ledger.began(own, account, at: begun)
        defer { scene.ledger.ended(wait, at: scene.time.monotonic) }
        do throws(CallFailure) {
            let start = try await scene.broker.call(life.connection) { (desk, context) throws(Refusal) in
                try desk.beginRefresh(
                    context, query, stale: revision, timeoutMicroseconds: patience)
            }
            if start.fence != nil, let tokens = try? SessionTokens(encoded: start.item.secret) {
                scene.ledger.granted(
                    tokens.refresh, life, broker: scene.broker.number, at: scene.time.monotonic)
            }
            return start
        } catch {
            scene.judge(error, account, "a Begin", begun: begun)
            throw error
        }
    }

    func complete(_ left: Unstored) async throws(CallFailure) -> UInt64 {
        let changes = try left.tokens.attributes(at: scene.time.wall, addedTo: WireDictionary())
        let secret = left.tokens.encoded()
        return try await scene.broker.call(life.connection) { (desk, context) throws(Refusal) in
            try desk.completeRefresh(context, fence: left.fence, changes, secret)
        }
    }

    func fail(_ fence: UInt64, _ failure: RefreshFailure) async throws(CallFailure) {
        try await scene.broker.call(life.connection) { (desk, context) throws(Refusal) in
            try desk.failRefresh(context, fence: fence, kind: failure.rawValue, message: "")
        }
    }
}
