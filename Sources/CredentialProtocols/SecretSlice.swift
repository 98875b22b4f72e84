internal import Sodium

/// Part of a secret that is kept whole: no byte of it is copied.
struct SecretSlice: Sendable {
    private let whole: SharedSecret
    private let range: Range<Int>

    init(_ whole: SharedSecret, _ range: Range<Int>) {
        self.whole = whole
        self.range = range
    }

    init(_ whole: SharedSecret) { self.init(whole, 0..<whole.secret.count) }

    var count: Int { range.count }

    /// What stands before the first such byte and what behind it; nil where there is none.
    func split(at byte: UInt8) -> (before: SecretSlice, after: SecretSlice)? {
        guard let place = range.first(where: { whole.secret.byte(at: $0) == byte }) else { return nil }
        return (
            SecretSlice(whole, range.lowerBound..<place), SecretSlice(whole, place + 1..<range.upperBound)
        )
    }

    /// Another secret of these bytes.
    func copy() -> Secret {
        Secret(count: count) { target in
            for index in range { target[index - range.lowerBound] = whole.secret.byte(at: index) }
        }
    }

    /// Whether both are the same bytes, in time that depends on their lengths alone.
    func isEqual(to other: SecretSlice) -> Bool { copy().isEqual(to: other.copy()) }

    func contains(_ byte: UInt8) -> Bool { range.contains { whole.secret.byte(at: $0) == byte } }

    /// The byte at that place from the start of the slice.
    subscript(index: Int) -> UInt8 { whole.secret.byte(at: range.lowerBound + index) }

    /// The bytes themselves, where they are no secret.
    var openBytes: [UInt8] { range.map { whole.secret.byte(at: $0) } }

    /// The text, where it is no secret; nil if it is no UTF-8.
    var openText: String? { String(validating: openBytes, as: UTF8.self) }
}

extension Secret {
    /// The byte at that place.
    borrowing func byte(at index: Int) -> UInt8 { span[index] }
}
