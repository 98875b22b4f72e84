internal import BrokerModel
internal import SDBus

extension Dispatch {
    /// `org.chatelaine.Broker1.Subscriptions` (INTERFACE).
    func subscriptionsInterface() -> Interface {
        Interface(Contract.Interface.subscriptions) {
            Method("Subscribe", in: ["groups"], out: ["state", "epochs", "sequence"]) {
                (call: borrowing Call, groups: [String]) throws(BusError)
                    -> Answer<(String, [EpochReply], UInt64)> in
                let context = try context(call)
                return try answer(context) { () throws(Refusal) in
                    try service.subscribe(context, groups: groups)
                } _: {
                    (
                        $0.state.rawValue, $0.epochs.map { EpochReply(group: $0.group, epoch: $0.epoch) },
                        $0.sequence
                    )
                }
            }
            Method("Unsubscribe") { (call: borrowing Call) throws(BusError) -> Answer<Void> in
                let context = try context(call)
                return try answer(context) { () throws(Refusal) in
                    try service.unsubscribe(context)
                } _: {
                    $0
                }
            }
            Method("Acknowledge", in: ["group", "epoch"]) {
                (call: borrowing Call, group: String, epoch: UInt64) throws(BusError) -> Answer<Void> in
                let context = try context(call)
                return try answer(context) { () throws(Refusal) in
                    try service.acknowledge(context, group: group, epoch: epoch)
                } _: {
                    $0
                }
            }
            Signal(
                "LockStateChanged", ["sequence", "state", "protected_data_available"],
                (UInt64.self, String.self, Bool.self))
            Signal(
                "LoggedOut", ["sequence", "group", "service", "epoch", "reason"],
                (UInt64.self, String.self, String.self, UInt64.self, String.self))
            Signal(
                "ItemChanged", ["sequence", "group", "reference", "change", "revision"],
                (UInt64.self, String.self, String.self, String.self, UInt64.self))
            Signal(
                "RefreshNeeded", ["sequence", "group", "reference"], (UInt64.self, String.self, String.self))
        }
    }
}

/// A group and its last logout epoch: `(st)`.
struct EpochReply: BusEncodable {
    let group: AccessGroup
    let epoch: UInt64

    static var signature: String { "(st)" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "st")
        try writer.append(group.name)
        try writer.append(epoch)
        try writer.close()
    }
}
