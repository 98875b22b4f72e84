public import SDBus
public import Sodium

/// A secret as it crosses the bus: `(oayay)`, session, parameters and value (INTERFACE, sessions).
public struct SealedSecret: BusDecodable {
    /// The session that it was sealed for.
    public let session: ObjectPath
    /// The nonce, or nothing.
    public let parameters: [UInt8]
    /// The ciphertext with its tag, or the secret itself: in locked memory either way.
    public let value: SharedSecret

    /// `(oayay)`.
    public static var signature: String { "(oayay)" }

    /// Reads the structure.
    public init(from reader: inout MessageReader) throws(BusError) {
        _ = try reader.enter("r", "oayay")
        session = try reader.read()
        parameters = try reader.read()
        value = try reader.withBytes { bytes in SharedSecret(Secret(copying: bytes)) }
        try reader.exit()
    }
}

/// A secret on its way into a message, encrypted there by its session in the step that queues it.
public struct OutgoingSecret: BusEncodable {
    let secret: SharedSecret
    let session: SecretSession

    /// A secret for the holder of the session.
    public init(_ secret: SharedSecret, for session: SecretSession) {
        self.secret = secret
        self.session = session
    }

    /// `(oayay)`.
    public static var signature: String { "(oayay)" }

    /// Appends the structure; the session's counter goes up by one.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "oayay")
        try writer.append(ObjectPath(session.path))
        try session.write(secret.secret, to: &writer)
        try writer.close()
    }
}
