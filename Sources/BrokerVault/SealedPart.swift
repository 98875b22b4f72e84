internal import Sodium

/// One sealed part of a row: version (1 byte) ‖ per-item key wrapped under a class key (72) ‖ the part
/// sealed under the per-item key.
enum SealedPart {
    private static let wrappedKeyBytes = Key.byteCount + XChaCha20Poly1305.overhead
    /// How much longer a sealed part is than its content.
    static let overhead = 1 + wrappedKeyBytes + XChaCha20Poly1305.overhead

    static func seal(
        _ content: Span<UInt8>, _ part: RowHeader.Part, under classKey: borrowing Key, id: UInt32,
        _ binding: inout RowHeader.Binding
    ) -> [UInt8] {
        let itemKey = Key.random()
        let wrapped = wrap(itemKey, part, under: classKey, id: id, &binding)
        binding.select(part, classKeyID: 0)
        return wrapped + XChaCha20Poly1305.seal(content, key: itemKey, associatedData: binding.bytes)
    }

    /// Seals a secret.
    static func seal(
        _ content: borrowing Secret, _ part: RowHeader.Part, under classKey: borrowing Key, id: UInt32,
        _ binding: inout RowHeader.Binding
    ) -> [UInt8] {
        seal(content.span, part, under: classKey, id: id, &binding)
    }

    /// Nil for a part that is damaged, or was sealed for another row, group, class or revision.
    static func open(
        _ sealed: [UInt8], _ part: RowHeader.Part, under classKey: borrowing Key, id: UInt32,
        _ binding: inout RowHeader.Binding
    ) -> Secret? {
        guard let itemKey = unwrap(sealed, part, under: classKey, id: id, &binding) else { return nil }
        binding.select(part, classKeyID: 0)
        let content = sealed.span.extracting((1 + wrappedKeyBytes)...)
        return XChaCha20Poly1305.open(content, key: itemKey, associatedData: binding.bytes)
    }

    /// The part under another class key; its content is not touched. Nil for a damaged part.
    static func rewrap(
        _ sealed: [UInt8], _ part: RowHeader.Part, from old: borrowing Key, id oldID: UInt32,
        to new: borrowing Key, id newID: UInt32, _ binding: inout RowHeader.Binding
    ) -> [UInt8]? {
        guard let itemKey = unwrap(sealed, part, under: old, id: oldID, &binding) else { return nil }
        return wrap(itemKey, part, under: new, id: newID, &binding) + sealed[(1 + wrappedKeyBytes)...]
    }

    private static func wrap(
        _ itemKey: borrowing Key, _ part: RowHeader.Part, under classKey: borrowing Key, id: UInt32,
        _ binding: inout RowHeader.Binding
    ) -> [UInt8] {
        binding.select(part, classKeyID: id)
        return [RowHeader.version]
            + XChaCha20Poly1305.seal(itemKey.bytes, key: classKey, associatedData: binding.bytes)
    }

    private static func unwrap(
        _ sealed: [UInt8], _ part: RowHeader.Part, under classKey: borrowing Key, id: UInt32,
        _ binding: inout RowHeader.Binding
    ) -> Key? {
        guard sealed.count >= overhead, sealed[0] == RowHeader.version else { return nil }
        binding.select(part, classKeyID: id)
        let wrapped = sealed.span.extracting(1..<1 + wrappedKeyBytes)
        guard
            let key = XChaCha20Poly1305.open(wrapped, key: classKey, associatedData: binding.bytes)
        else { return nil }
        return Key(key)
    }
}
