public import Sodium

/// What ties a store to its device: the key that the system handed over or that lies in a file of its own,
/// mixed with the machine id.
public final class DeviceKey: Sendable {
    let key: Key

    /// Nil unless `bytes` are 32. The machine id may be empty where the machine has none.
    public init?(_ bytes: consuming Secret, machineID: [UInt8]) {
        guard let raw = Key(bytes) else { return nil }
        key = Blake2b.key((Array("chatelaine-device-1".utf8) + machineID).span, key: raw)
    }

    /// The same for one of several users that share the machine's key: the store of one does not open as another's.
    public init?(_ bytes: borrowing Secret, machineID: [UInt8], userID: UInt32) {
        guard let raw = Key(bytes.duplicate()) else { return nil }
        var context = ByteWriter()
        context.raw("chatelaine-user-1".utf8)
        context.number(userID)
        context.raw(machineID)
        key = Blake2b.key(context.bytes.span, key: raw)
    }

    /// What a store keeps to know its device key again without an attempt to open anything.
    var fingerprint: [UInt8] { Blake2b.hash(Array("fingerprint".utf8), key: key, count: 16) }
}
