internal import Gcrypt
internal import SDBus
internal import Sodium

/// An encrypted session with another keyring (dh-ietf1024-sha256-aes128-cbc-pkcs7). One that offers none is refused: any
/// process of the user could listen.
@BrokerActor struct OldKeyringSession {
    let path: ObjectPath
    private let key: SharedSecret

    /// Opens one.
    init(with owner: String, _ connection: Connection) async throws(BusError) {
        guard let pair = ModpKeyPair() else { throw .failed("libgcrypt cannot be used.") }
        let key = pair.publicKey
        let reply = try await connection.call(
            owner, path: OldKeyring.root, interface: OldKeyring.service, member: "OpenSession"
        ) { (writer) throws(BusError) in
            try writer.append("dh-ietf1024-sha256-aes128-cbc-pkcs7")
            try writer.variant(key)
        }
        let (theirs, path) = try reply.withReader { (reader) throws(BusError) in
            guard try reader.enterVariant("ay") else { throw .failed("The keyring's answer has no key.") }
            let theirs = try reader.read([UInt8].self)
            try reader.exit()
            return (theirs, try reader.read(ObjectPath.self))
        }
        guard let shared = pair.sharedSecret(with: theirs) else {
            throw .failed("The keyring's public key is none.")
        }
        let derived = HKDF.deriveKey(from: shared, salt: [], info: [])
        self.path = path
        self.key = SharedSecret(Secret(copying: derived.bytes.span.extracting(0..<AES128CBC.blockBytes)))
    }

    /// Reads `(oayays)`: the secret, and what its program says of its bytes.
    func read(_ reader: inout MessageReader) throws(BusError) -> (secret: SharedSecret, contentType: String) {
        _ = try reader.enter("r", "oayays")
        guard try reader.read(ObjectPath.self) == path else {
            throw .failed("The secret is for another session.")
        }
        let vector = try reader.read([UInt8].self)
        let sealed = try reader.withBytes { bytes in SharedSecret(Secret(copying: bytes)) }
        let contentType = try reader.read(String.self)
        try reader.exit()
        guard let opened = AES128CBC.decrypt(sealed.secret, key: key.secret, vector: vector) else {
            throw .failed("The secret does not decrypt.")
        }
        return (SharedSecret(opened), contentType)
    }
}
