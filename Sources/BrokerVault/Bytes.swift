/// Writes the vault's binary formats: big-endian numbers, lengths before bytes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    mutating func number<Number: FixedWidthInteger>(_ value: Number) {
        bytes.append(addingCapacity: Number.bitWidth / 8) { output in
            for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: value >> Number(shift)))
            }
        }
    }

    mutating func raw(_ value: some Sequence<UInt8>) { bytes.append(contentsOf: value) }

    mutating func counted(_ value: some Collection<UInt8>) {
        number(UInt32(value.count))
        raw(value)
    }
}

/// Reads what ``ByteWriter`` wrote. Every read is bounded; nil means that the bytes are damaged.
struct ByteReader: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// How many bytes were read.
    var offset: Int { position }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        let width = Number.bitWidth / 8
        guard bytes.count - position >= width else { return nil }
        var value: Number = 0
        for _ in 0..<width {
            value = (width == 1 ? 0 : value << 8) | Number(truncatingIfNeeded: bytes[position])
            position += 1
        }
        return value
    }

    mutating func raw(_ count: Int) -> [UInt8]? {
        guard count >= 0, bytes.count - position >= count else { return nil }
        defer { position += count }
        var copy: [UInt8] = []
        copy.reserveCapacity(count)
        for index in position..<position + count { copy.append(bytes[index]) }
        return copy
    }

    mutating func counted() -> [UInt8]? {
        guard let count = number(UInt32.self) else { return nil }
        return raw(Int(count))
    }
}
