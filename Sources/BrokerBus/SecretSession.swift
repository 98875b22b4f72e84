public import BrokerModel
internal import SDBus
public import Sodium

/// One end of a session: how secrets are turned into bytes of a message and back. Broker and client use the
/// same code with the directions exchanged.
public final class SecretSession {
    /// The object path, which is also the associated data.
    public let path: String
    private let associatedData: [UInt8]
    private let cipher: Cipher?
    private var sent: UInt64 = 0
    private var received: UInt64 = 0

    private final class Cipher {
        let incoming: Key
        let outgoing: Key

        init(incoming: consuming Key, outgoing: consuming Key) {
            self.incoming = incoming
            self.outgoing = outgoing
        }
    }

    /// Which end this is.
    public enum End: Sendable {
        case broker
        case client
    }

    /// A session without encryption.
    public init(plainAt path: String) {
        self.path = path
        associatedData = Array(path.utf8)
        cipher = nil
    }

    /// A session over a shared secret. Keys: HKDF-SHA256, salt client key ‖ broker key, info
    /// `chatelaine-session-1` and the direction's letter.
    public init(
        path: String, end: End, sharedSecret: borrowing Secret, clientKey: [UInt8], brokerKey: [UInt8]
    ) {
        self.path = path
        associatedData = Array(path.utf8)
        let salt = clientKey + brokerKey
        let toBroker = Self.key("c", sharedSecret, salt)
        let toClient = Self.key("b", sharedSecret, salt)
        cipher =
            end == .broker
            ? Cipher(incoming: toBroker, outgoing: toClient)
            : Cipher(incoming: toClient, outgoing: toBroker)
    }

    private static func key(_ direction: String, _ secret: borrowing Secret, _ salt: [UInt8]) -> Key {
        HKDF.deriveKey(from: secret, salt: salt, info: Array(("chatelaine-session-1" + direction).utf8))
    }

    /// Whether secrets go as they are.
    public var isPlain: Bool { cipher == nil }

    /// Decrypts what arrived, once: the nonce is spent whatever comes of the call. `Param` for a bad tag and
    /// for a nonce that is not higher than the last.
    public func open(_ sealed: SealedSecret) throws(Refusal) -> SharedSecret {
        guard let cipher else {
            guard sealed.parameters.isEmpty else { throw .param("A plain session takes no parameters.") }
            return sealed.value
        }
        guard sealed.parameters.count == ChaCha20Poly1305.nonceBytes,
            sealed.parameters.prefix(4).allSatisfy({ $0 == 0 })
        else { throw .param("A nonce is four zero bytes and a 64-bit counter.") }
        let counter = sealed.parameters.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard counter > received else {
            throw .param("The nonce was used before; each is used once, in order.")
        }
        received = counter
        let opened = ChaCha20Poly1305.open(
            sealed.value.secret, key: cipher.incoming, nonce: sealed.parameters,
            associatedData: associatedData)
        guard let opened else { throw .param("The secret does not decrypt under its session.") }
        return SharedSecret(opened)
    }

    /// Appends parameters and value.
    func write(_ secret: borrowing Secret, to writer: inout MessageWriter) throws(BusError) {
        guard let cipher else {
            try writer.bytes([UInt8]().span)
            return try writer.bytes(secret.span)
        }
        sent += 1
        let nonce = [UInt8](capacity: ChaCha20Poly1305.nonceBytes) { output in
            output.append(repeating: 0, count: 4)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: sent >> UInt64(shift)))
            }
        }
        try writer.bytes(nonce.span)
        try writer.appendSpace(secret.count + ChaCha20Poly1305.tagBytes) { target in
            ChaCha20Poly1305.seal(
                secret.span, key: cipher.outgoing, nonce: nonce, associatedData: associatedData, into: &target
            )
        }
    }
}
