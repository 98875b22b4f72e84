internal import Sodium

/// One sealed part of a row: version (1 byte) ‖ per-item key wrapped under a class key (72) ‖ the part
/// sealed under the per-item key.
enum SealedPart {
    private static let wrappedKeyBytes = Key.byteCount + XChaCha20Poly1305.overhead
    /// How much longer a sealed part is than its content.
    static let overhead = 1 + wrappedKeyBytes + XChaCha20Poly1305.overhead

    static func seal(
        _ content: Span<UInt8>, under classKey: borrowing Key, id: UInt32, associatedData: [UInt8]
    ) -> [UInt8] {
        let itemKey = Key.random()
        let wrapping = RowHeader.wrappingData(associatedData, classKeyID: id)
        return [RowHeader.version]
            + XChaCha20Poly1305.seal(itemKey.bytes.span, key: classKey, associatedData: wrapping)
            + XChaCha20Poly1305.seal(content, key: itemKey, associatedData: associatedData)
    }

    /// Seals a secret.
    static func seal(
        _ content: borrowing Secret, under classKey: borrowing Key, id: UInt32, associatedData: [UInt8]
    ) -> [UInt8] {
        seal(content.span, under: classKey, id: id, associatedData: associatedData)
    }

    /// Nil for a part that is damaged, or was sealed for another row, group, class or revision.
    static func open(
        _ sealed: [UInt8], under classKey: borrowing Key, id: UInt32, associatedData: [UInt8]
    ) -> Secret? {
        guard let itemKey = unwrap(sealed, under: classKey, id: id, associatedData: associatedData)
        else { return nil }
        let content = sealed.span.extracting((1 + wrappedKeyBytes)...)
        return XChaCha20Poly1305.open(content, key: itemKey, associatedData: associatedData)
    }

    /// The part under another class key; its content is not touched. Nil for a damaged part.
    static func rewrap(
        _ sealed: [UInt8], from old: borrowing Key, id oldID: UInt32, to new: borrowing Key, id newID: UInt32,
        associatedData: [UInt8]
    ) -> [UInt8]? {
        guard let itemKey = unwrap(sealed, under: old, id: oldID, associatedData: associatedData)
        else { return nil }
        let wrapping = RowHeader.wrappingData(associatedData, classKeyID: newID)
        return [RowHeader.version]
            + XChaCha20Poly1305.seal(itemKey.bytes.span, key: new, associatedData: wrapping)
            + sealed[(1 + wrappedKeyBytes)...]
    }

    private static func unwrap(
        _ sealed: [UInt8], under classKey: borrowing Key, id: UInt32, associatedData: [UInt8]
    ) -> Key? {
        guard sealed.count >= overhead, sealed[0] == RowHeader.version else { return nil }
        let wrapping = RowHeader.wrappingData(associatedData, classKeyID: id)
        let wrapped = sealed.span.extracting(1..<1 + wrappedKeyBytes)
        guard let key = XChaCha20Poly1305.open(wrapped, key: classKey, associatedData: wrapping)
        else { return nil }
        return Key(key)
    }
}
