internal import BrokerModel
internal import SDBus
internal import Sodium

/// The sessions of all connections. A session belongs to the connection that opened it, and goes with it.
@BrokerActor final class SessionTable {
    private var sessions: [String: (session: SecretSession, owner: String)] = [:]
    private var counts: [String: Int] = [:]
    private var next: UInt64 = 1
    private let allowsPlain: Bool
    private let plain = SecretSession(plainAt: Contract.plainSession)

    init(allowsPlain: Bool) { self.allowsPlain = allowsPlain }

    var paths: [String] { Array(sessions.keys) }

    func contains(_ path: String) -> Bool { sessions[path] != nil }

    /// Opens a session for the connection. `EncryptionRequired`, `QuotaExceeded`, `Param`.
    func open(
        _ algorithm: String, _ input: SessionInput, owner: String
    ) throws(Refusal) -> (output: SessionOutput, path: String) {
        guard counts[owner, default: 0] < Limits.sessionsPerConnectionMax else {
            throw Refusal(.quotaExceeded, "A connection has 16 sessions at most; close one.")
        }
        let path = "\(Contract.sessions)/\(next)"
        let session: SecretSession
        let output: SessionOutput
        switch (Contract.Algorithm(rawValue: algorithm), input) {
        case (.plain, .text("")):
            guard allowsPlain else { throw .encryptionRequired }
            (session, output) = (SecretSession(plainAt: path), .text(""))
        case (.x25519, .bytes(let clientKey)):
            let pair = X25519KeyPair()
            guard let shared = pair.sharedSecret(with: clientKey) else {
                throw .param("The public key is not 32 bytes of a usable X25519 key.")
            }
            session = SecretSession(
                path: path, end: .broker, sharedSecret: shared, clientKey: clientKey,
                brokerKey: pair.publicKey)
            output = .bytes(pair.publicKey)
        case (nil, _): throw .param("The algorithms are plain and x25519-hkdf-sha256-chacha20poly1305.")
        default: throw .param("The input is not what the algorithm asks for.")
        }
        next += 1
        sessions[path] = (session, owner)
        counts[owner, default: 0] += 1
        return (output, path)
    }

    /// The session that a call names. `NoSession` for one that is not the caller's, whether or not it exists.
    func session(_ path: String, owner: String) throws(Refusal) -> SecretSession {
        if path == Contract.plainSession {
            guard allowsPlain else { throw .encryptionRequired }
            return plain
        }
        return try opened(path, owner: owner)
    }

    private func opened(_ path: String, owner: String) throws(Refusal) -> SecretSession {
        guard let found = sessions[path], found.owner == owner else {
            throw Refusal(.noSession, "No such session of this connection; OpenSession makes one.")
        }
        return found.session
    }

    /// Ends a session that the connection opened; the ready one is not such a one. `NoSession`.
    func close(_ path: String, owner: String) throws(Refusal) {
        _ = try opened(path, owner: owner)
        sessions[path] = nil
        counts[owner, default: 1] -= 1
    }

    /// The connection is gone, and its sessions with it.
    func forget(_ owner: String) {
        guard counts.removeValue(forKey: owner) != nil else { return }
        sessions = sessions.filter { $0.value.owner != owner }
    }
}

extension Refusal {
    static let encryptionRequired = Refusal(
        .encryptionRequired,
        "On this bus others can listen; use x25519-hkdf-sha256-chacha20poly1305, or AllowPlain=yes.")
}
