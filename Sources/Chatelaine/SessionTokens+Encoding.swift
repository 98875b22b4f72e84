internal import BrokerModel
public import Sodium

// `C` `T`, the version, then fields in the order of their tags, each once: tag, length (four bytes, big-endian), bytes.
// docs/FORMATS.md has the table.
extension SessionTokens {
    private enum Tag: UInt8 {
        case accessToken = 1
        case refreshToken = 2
        case tokenType = 3
        case scope = 4
        case stored = 5
        case expires = 6
    }

    private static let magic: [UInt8] = [UInt8(ascii: "C"), UInt8(ascii: "T"), 1]
    private static let headerBytes = 5

    /// The one secret of the item.
    public func encoded() -> SharedSecret {
        let parts: [(tag: Tag, part: Part?)] = [
            (.accessToken, .secret(accessToken)), (.refreshToken, refreshToken.map(Part.secret)),
            (.tokenType, .bytes(Array(tokenType.utf8))), (.scope, scope.map { .bytes(Array($0.utf8)) }),
            (.stored, .bytes(Self.bigEndian(stored))), (.expires, expires.map { .bytes(Self.bigEndian($0)) }),
        ]
        let count = parts.reduce(Self.magic.count) { $0 + ($1.part.map { Self.headerBytes + $0.count } ?? 0) }
        let secret = Secret(count: count) { target in
            var place = Self.write(Self.magic.span, at: 0, into: &target)
            for (tag, part) in parts {
                switch part {
                case .secret(let shared): place = Self.write(tag, shared.secret, at: place, into: &target)
                case .bytes(let bytes): place = Self.write(tag, bytes.span, at: place, into: &target)
                case nil: continue
                }
            }
        }
        return SharedSecret(secret)
    }

    private enum Part {
        case secret(SharedSecret)
        case bytes([UInt8])

        var count: Int {
            switch self {
            case .secret(let secret): secret.secret.count
            case .bytes(let bytes): bytes.count
            }
        }
    }

    /// Reads them back; `decode` for whatever ``encoded()`` would not have written.
    public init(encoded item: SharedSecret) throws(ChatelaineError) {
        guard let fields = Self.fields(item.secret),
            let accessToken = fields[.accessToken].map({ Self.secret(item, $0) }),
            let tokenType = fields[.tokenType].flatMap({ Self.text(item, $0) }),
            let stored = fields[.stored].flatMap({ Self.number(item, $0) })
        else { throw .notTokens }
        var scope: String?
        if let place = fields[.scope] {
            guard let text = Self.text(item, place) else { throw .notTokens }
            scope = text
        }
        var expires: UInt64?
        if let place = fields[.expires] {
            guard let number = Self.number(item, place) else { throw .notTokens }
            expires = number
        }
        self.init(
            accessToken: accessToken, refreshToken: fields[.refreshToken].map { Self.secret(item, $0) },
            tokenType: tokenType, scope: scope, stored: stored, expires: expires)
    }

    /// Where each field's bytes are; nil unless the fields fill the item, in order.
    private static func fields(_ item: borrowing Secret) -> [Tag: Range<Int>]? {
        let bytes = item.span
        guard bytes.count >= magic.count else { return nil }
        for index in magic.indices where bytes[index] != magic[index] { return nil }
        var fields: [Tag: Range<Int>] = [:]
        var place = magic.count
        var last: UInt8 = 0
        while place < bytes.count {
            guard bytes.count - place >= headerBytes, let tag = Tag(rawValue: bytes[place]),
                tag.rawValue > last
            else { return nil }
            var length = 0
            for index in place + 1..<place + headerBytes { length = length << 8 | Int(bytes[index]) }
            place += headerBytes
            guard length <= bytes.count - place else { return nil }
            fields[tag] = place..<place + length
            place += length
            last = tag.rawValue
        }
        return fields
    }

    private static func secret(_ item: SharedSecret, _ place: Range<Int>) -> SharedSecret {
        SharedSecret(copy(item.secret, place))
    }

    private static func copy(_ item: borrowing Secret, _ place: Range<Int>) -> Secret {
        Secret(copying: item.span.extracting(place))
    }

    private static func bytes(_ item: borrowing Secret, _ place: Range<Int>) -> [UInt8] {
        let bytes = item.span
        var copy: [UInt8] = []
        for index in place { copy.append(bytes[index]) }
        return copy
    }

    private static func text(_ item: SharedSecret, _ place: Range<Int>) -> String? {
        String(validating: bytes(item.secret, place), as: UTF8.self)
    }

    private static func number(_ item: SharedSecret, _ place: Range<Int>) -> UInt64? {
        guard place.count == 8 else { return nil }
        return bytes(item.secret, place).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }

    private static func write(
        _ tag: Tag, _ secret: borrowing Secret, at place: Int, into target: inout MutableSpan<UInt8>
    ) -> Int {
        write(tag, secret.span, at: place, into: &target)
    }

    private static func write(
        _ tag: Tag, _ bytes: Span<UInt8>, at place: Int, into target: inout MutableSpan<UInt8>
    ) -> Int {
        target[place] = tag.rawValue
        for index in 0..<4 {
            target[place + 1 + index] = UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * index))
        }
        return write(bytes, at: place + headerBytes, into: &target)
    }

    private static func write(
        _ bytes: Span<UInt8>, at place: Int, into target: inout MutableSpan<UInt8>
    ) -> Int {
        for index in bytes.indices { target[place + index] = bytes[index] }
        return place + bytes.count
    }
}

extension ChatelaineError {
    fileprivate static let notTokens = ChatelaineError(
        Refusal(
            .decode,
            """
            The item holds no session tokens that this version can read: it is damaged, or something else. Sign in \
            again.
            """))
}
