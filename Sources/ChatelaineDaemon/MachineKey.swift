internal import BrokerHost
internal import BrokerVault
internal import Sodium

/// The device key as it was read, and the keys that stores are tied to by it.
final class MachineKey: Sendable {
    private let bytes: Secret
    private let machineID: [UInt8]

    init(_ bytes: consuming Secret) {
        self.bytes = bytes
        machineID = DeviceKeyFile.machineID()
    }

    /// The one of a broker that serves one user.
    var only: DeviceKey? { DeviceKey(bytes.duplicate(), machineID: machineID) }

    /// One user's of many: a store that is put into another user's folder does not open there.
    func key(of userID: UInt32) -> DeviceKey? {
        DeviceKey(bytes, machineID: machineID, userID: userID)
    }
}
