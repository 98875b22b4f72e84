internal import BrokerModel
internal import Sodium

/// The content of a sealed completion: version (1) ‖ reference (16) ‖ base revision (8) ‖ revision (8) ‖ expires (8) ‖
/// fresh until (8), all ones for none ‖ length (4) and attributes as an item's attribute part has them ‖ the secret.
///
/// What it belongs to stands inside, since a box has no associated data.
struct SealedCompletion {
    let attributes: AttributeSet
    let expires: UInt64?
    let freshUntil: UInt64?
    let secret: SharedSecret

    private static let version: UInt8 = 1

    init(_ changes: Changes, _ secret: SharedSecret) {
        attributes = changes.attributes
        expires = changes.expires
        freshUntil = changes.freshUntil
        self.secret = secret
    }

    /// Nil for a public key that is none.
    func sealed(for row: RowHeader, revision: UInt64, to publicKey: [UInt8]) -> [UInt8]? {
        // The secret must not pass through an array: it is written into the box's content at once.
        let head = Self.head(row.reference, base: row.revision, revision: revision)
        var body = ByteWriter()
        body.number(expires ?? .max)
        body.number(freshUntil ?? .max)
        body.counted(AttributeCoding.encode(attributes, protection: .accessible(.afterFirstUnlock)))
        let front = head + body.bytes
        let content = Secret(count: front.count + secret.secret.count) { target in
            for index in front.indices { target[index] = front[index] }
            target.copy(secret.secret, at: front.count)
        }
        return SealedBox.seal(content, to: publicKey)
    }

    /// Nil for what was not sealed for this row of the table.
    init?(_ row: CompletionTable.Row, with pair: borrowing X25519KeyPair) {
        guard let content = SealedBox.open(row.sealed, with: pair) else { return nil }
        let head = Self.head(row.reference, base: row.base, revision: row.revision)
        var reader = ByteReader(content.span)
        guard reader.raw(head.count) == head, let expires = reader.number(UInt64.self),
            let freshUntil = reader.number(UInt64.self), let coded = reader.counted(),
            let decoded = AttributeCoding.decode(coded.span, accessibility: .afterFirstUnlock)
        else { return nil }
        attributes = decoded.attributes
        self.expires = expires == .max ? nil : expires
        self.freshUntil = freshUntil == .max ? nil : freshUntil
        secret = SharedSecret(Secret(copying: content.span.extracting(reader.offset...)))
    }

    private static func head(_ reference: Reference, base: UInt64, revision: UInt64) -> [UInt8] {
        var head = ByteWriter(capacity: 64)
        head.number(version)
        head.raw(reference.bytes)
        head.number(base)
        head.number(revision)
        return head.bytes
    }
}
