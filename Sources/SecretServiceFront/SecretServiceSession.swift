internal import Gcrypt
internal import SDBus
internal import Sodium

/// A session of one client: how secrets are turned into bytes of a message and back.
final class SecretServiceSession {
    let path: String
    private let key: SharedSecret?

    /// A session without encryption.
    init(plainAt path: String) {
        self.path = path
        key = nil
    }

    /// A session over a shared secret: an AES-128 key by HKDF-SHA256, without salt and info.
    init(path: String, sharedSecret: borrowing Secret) {
        self.path = path
        let derived = HKDF.deriveKey(from: sharedSecret, salt: [], info: [])
        key = SharedSecret(Secret(copying: derived.bytes.span.extracting(0..<AES128CBC.blockBytes)))
    }

    /// Decrypts what arrived. `InvalidArgs` for what no client of this session made.
    func open(_ sealed: WireSecret) throws(BusError) -> SharedSecret {
        guard let key else {
            guard sealed.parameters.isEmpty else {
                throw .invalidArguments("A plain session takes no parameters.")
            }
            return sealed.value
        }
        let opened = AES128CBC.decrypt(sealed.value.secret, key: key.secret, vector: sealed.parameters)
        guard let opened else {
            throw .invalidArguments("The secret does not decrypt under its session.")
        }
        return SharedSecret(opened)
    }

    /// Appends parameters and value.
    func write(_ secret: borrowing Secret, to writer: inout MessageWriter) throws(BusError) {
        guard let key else {
            try writer.bytes([UInt8]().span)
            return try writer.bytes(secret.span)
        }
        let vector = Random.bytes(AES128CBC.blockBytes)
        try writer.bytes(vector.span)
        var isDone = false
        try writer.appendSpace(AES128CBC.sealedCount(secret.count)) { target in
            isDone = AES128CBC.encrypt(secret, key: key.secret, vector: vector, into: &target)
        }
        guard isDone else { throw .failed("The secret could not be encrypted.") }
    }
}
