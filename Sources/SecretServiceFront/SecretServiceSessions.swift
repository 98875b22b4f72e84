internal import BrokerModel
internal import Gcrypt
internal import SDBus
internal import Sodium

/// The sessions of all connections. A session belongs to the connection that opened it, and goes with it: hardly any
/// client closes one.
@BrokerActor final class SecretServiceSessions {
    private var sessions: [String: (session: SecretServiceSession, owner: String)] = [:]
    private var counts: [String: Int] = [:]
    private var next: UInt64 = 1
    private let offersEncryption: Bool

    /// Programs open one for each thing they do, and never close it.
    private static let perConnectionMax = 256

    init(offersEncryption: Bool) { self.offersEncryption = offersEncryption }

    func contains(_ path: String) -> Bool { sessions[path] != nil }

    func open(
        _ algorithm: String, _ input: ReceivedValue, owner: String
    ) throws(BusError) -> (output: Variant, path: String) {
        guard counts[owner, default: 0] < Self.perConnectionMax else {
            throw BusError(
                name: "org.freedesktop.DBus.Error.LimitsExceeded",
                message: "A connection has 256 sessions at most; close one.")
        }
        let path = "\(SecretServiceName.sessions)/s\(next)"
        let (session, output) = try session(algorithm, input, path)
        next += 1
        sessions[path] = (session, owner)
        counts[owner, default: 0] += 1
        return (output, path)
    }

    private func session(
        _ algorithm: String, _ input: ReceivedValue, _ path: String
    ) throws(BusError) -> (SecretServiceSession, Variant) {
        switch algorithm {
        case SecretServiceName.plain:
            guard case .text("") = input else {
                throw .invalidArguments("The input of 'plain' is an empty text.")
            }
            return (SecretServiceSession(plainAt: path), Variant(""))
        case SecretServiceName.encrypted where offersEncryption:
            guard case .bytes(let key) = input else {
                throw .invalidArguments("The input is a public key, ay.")
            }
            guard let pair = ModpKeyPair() else { throw .failed("The key agreement is not available.") }
            guard let shared = pair.sharedSecret(with: key) else {
                throw .invalidArguments("That is no public key of the 1024-bit group.")
            }
            return (SecretServiceSession(path: path, sharedSecret: shared), Variant(pair.publicKey))
        default:
            throw BusError(
                name: "org.freedesktop.DBus.Error.NotSupported",
                message: "The algorithms are plain and dh-ietf1024-sha256-aes128-cbc-pkcs7.")
        }
    }

    /// The session that a call names. `NoSession` for one that is not the caller's, whether or not it exists.
    func session(_ path: ObjectPath, owner: String) throws(BusError) -> SecretServiceSession {
        guard let found = sessions[path.value], found.owner == owner else { throw .noSession }
        return found.session
    }

    func close(_ path: String, owner: String) throws(BusError) {
        _ = try session(ObjectPath(path), owner: owner)
        sessions[path] = nil
        counts[owner, default: 1] -= 1
    }

    /// The connection is gone, and its sessions with it.
    func forget(_ owner: String) {
        guard counts.removeValue(forKey: owner) != nil else { return }
        sessions = sessions.filter { $0.value.owner != owner }
    }
}
