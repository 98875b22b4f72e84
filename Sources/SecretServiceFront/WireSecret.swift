internal import SDBus
internal import Sodium

/// A secret as it crosses the bus: `(oayays)`, session, parameters, value and content type.
struct WireSecret: BusDecodable {
    let session: ObjectPath
    let parameters: [UInt8]
    /// The ciphertext, or the secret itself: in locked memory either way.
    let value: SharedSecret
    let contentType: String

    static var signature: String { "(oayays)" }

    init(from reader: inout MessageReader) throws(BusError) {
        _ = try reader.enter("r", "oayays")
        session = try reader.read()
        parameters = try reader.read()
        value = try reader.withBytes { bytes in SharedSecret(Secret(copying: bytes)) }
        contentType = try reader.read()
        try reader.exit()
    }
}

/// A secret on its way into a message, encrypted there by its session.
struct WireSecretReply: BusEncodable {
    let secret: SharedSecret
    let contentType: String
    let session: SecretServiceSession

    static var signature: String { "(oayays)" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "oayays")
        try writer.append(ObjectPath(session.path))
        try session.write(secret.secret, to: &writer)
        try writer.append(contentType)
        try writer.close()
    }
}
