/// D-Bus bytes made by hand, for peers that do not behave.
enum RawMessage {
    /// What a client says first; uid 0 or whoever runs the tests.
    static func handshake(user: UInt32) -> [UInt8] {
        let hex = String(user).utf8.map { String($0, radix: 16) }.joined()
        return [0] + Array("AUTH EXTERNAL \(hex)\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8)
    }

    /// A method call without arguments, with a sender that nobody asked for.
    static func call(
        serial: UInt32, path: String, interface: String, member: String, sender: String? = nil
    ) -> [UInt8] {
        var fields: [UInt8] = []
        field(1, "o", path, &fields)
        field(2, "s", interface, &fields)
        field(3, "s", member, &fields)
        if let sender { field(7, "s", sender, &fields) }
        var bytes: [UInt8] = [UInt8(ascii: "l"), 1, 0, 1]
        bytes += number(0) + number(serial) + number(UInt32(fields.count)) + fields
        while bytes.count % 8 != 0 { bytes.append(0) }
        return bytes
    }

    /// How many complete messages, little-endian, the bytes begin with; they are taken out.
    static func take(from bytes: inout [UInt8]) -> Int {
        var (start, count) = (0, 0)
        while bytes.count - start >= 16 {
            let (body, fields) = (number(bytes, start + 4), number(bytes, start + 12))
            let size = (16 + fields + 7) / 8 * 8 + body
            if bytes.count - start < size { break }
            start += size
            count += 1
        }
        bytes.removeFirst(start)
        return count
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
    }

    private static func field(_ code: UInt8, _ type: String, _ value: String, _ fields: inout [UInt8]) {
        while fields.count % 8 != 0 { fields.append(0) }
        fields += [code, 1] + Array(type.utf8) + [0]
        fields += number(UInt32(value.utf8.count)) + Array(value.utf8) + [0]
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
