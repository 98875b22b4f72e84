internal import BrokerModel
internal import Chatelaine
internal import Console
internal import SDBus

/// Why a helper has no answer: one line for a person, which holds nothing secret.
struct HelperFailure: Error, Equatable {
    let text: String

    init(_ text: String) { self.text = text }

    init(_ failure: StreamFailure) { text = failure.text }

    /// What the broker said, and what to do about it.
    init(_ error: ChatelaineError) {
        let advice: String? =
            if error.isBrokerMissing {
                "no broker runs and none can be started: systemctl --user start chatelained"
            } else {
                switch error.kind {
                case .interactionNotAllowed:
                    "the keychain is locked; unlock the session or run chatelaine unlock"
                case .missingEntitlement:
                    "the policy gives this program no such access group; see POLICY in its manual page"
                default: nil
                }
            }
        text = advice ?? error.description.printable
    }

    /// An item that was not written by a helper, or that was damaged.
    static let unreadable = HelperFailure(
        "the item that matches is not in the form that this helper writes; delete it with chatelaine delete")
}

/// Runs calls of the client library where a helper throws its own failures; an item that is not there is nil.
@BrokerActor func onBroker<Value>(
    _ body: @BrokerActor () async throws(ChatelaineError) -> Value
) async throws(HelperFailure) -> Value? {
    do throws(ChatelaineError) {
        return try await body()
    } catch {
        if error.kind == .itemNotFound { return nil }
        throw HelperFailure(error)
    }
}
