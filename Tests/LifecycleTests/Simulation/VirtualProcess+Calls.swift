import BrokerDesk
import BrokerModel
import ExampleAuthority
import SDBus
import Sodium

extension VirtualProcess {
    /// As programs do it that know of no broker.
    func refreshAlone(_ account: Account, _ own: HeldTokens) async throws(CallFailure) -> Bool {
        switch await scene.network.refresh(own.refresh, scene.way(), life) {
        case .tokens(let tokens):
            try await scene.store(tokens, account, life)
            scene.ledger.stored(for: own.refresh)
        case .refused: scene.signInLater(account)
        case .silence: throw .unreachable
        }
        return true
    }
}

// The calls of `.Items` and `.Refresh`.
extension VirtualProcess {
    func read(_ account: Account) async throws(CallFailure) -> ItemWithSecret {
        let query = try Scene.query(account)
        return try await scene.broker.call(life.connection) { (desk, context) throws(Refusal) in
            try desk.read(context, query)
        }
    }

    func begin(_ account: Account, stale revision: UInt64) async throws(CallFailure) -> RefreshStart {
        let query = try Scene.query(account)
        return try await scene.broker.call(life.connection) { (desk, context) throws(Refusal) in
            try desk.beginRefresh(
                context, query, stale: revision, timeoutMicroseconds: 60_000_000)
        }
    }

    func complete(_ fence: UInt64, _ tokens: TokenAuthority.Tokens) async throws(CallFailure) {
        let life = scene.network.rules.accessMicroseconds
        let held = HeldTokens(tokens, lifeMicroseconds: life, at: scene.time.wall)
        _ = try await scene.broker.call(self.life.connection) { (desk, context) throws(Refusal) in
            try desk.completeRefresh(context, fence: fence, WireDictionary(), held.secret)
        }
    }

    func fail(_ fence: UInt64, _ failure: RefreshFailure) async throws(CallFailure) {
        try await scene.broker.call(life.connection) { (desk, context) throws(Refusal) in
            try desk.failRefresh(context, fence: fence, kind: failure.rawValue, message: "")
        }
    }
}
