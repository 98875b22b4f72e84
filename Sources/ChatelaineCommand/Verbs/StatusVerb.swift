internal import BrokerModel
internal import Chatelaine
internal import Console
internal import SDBus

/// `status`: the manager's properties.
@BrokerActor enum StatusVerb {
    static func run(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        let status = try await onBroker { () async throws(ChatelaineError) in try await broker.status() }
        let json = JSON.object([
            JSON.Member("State", .string(status.state)),
            JSON.Member("ProtectedDataAvailable", .flag(status.isProtectedDataAvailable)),
            JSON.Member("PasscodeSet", .flag(status.isPasscodeSet)),
            JSON.Member("RecoveryKeySet", .flag(status.isRecoveryKeySet)),
            JSON.Member("Version", .string(status.version)),
            JSON.Member("Conditions", .strings(status.conditions)),
        ])
        try context.print(json) { text(status, context.style) }
    }

    private static func text(_ status: Broker.Status, _ style: Style) -> String {
        let isUnlocked = status.state == DeviceState.unlocked.rawValue
        var fields = Fields()
        fields.add("State", status.state, isUnlocked ? .good : .middling)
        fields.add("Protected items", status.isProtectedDataAvailable ? "can be read" : "cannot be read")
        fields.add("Passcode", status.isPasscodeSet ? "set" : "none")
        fields.add("Recovery key", status.isRecoveryKeySet ? "set" : "none")
        fields.add("Version", status.version)
        if status.conditions.isEmpty {
            fields.add("Conditions", "none")
        } else {
            fields.add("Conditions", status.conditions, .bad)
        }
        return fields.text(style)
    }
}
