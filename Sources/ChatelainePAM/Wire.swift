internal import Sodium

/// As much of D-Bus's wire format as two calls take.
enum Wire {
    /// What the broker answers here is small, and so are its signals.
    static let messageBytesMax = 64 << 10
    private static let headBytes = 16

    /// A call without arguments, or all of one but the bytes of a secret: what follows them are those.
    static func call(
        _ interface: String, _ member: String, on path: String, serial: UInt32, secretBytes: Int? = nil
    ) -> [UInt8] {
        var fields = Buffer()
        fields.field(1, "o", path)
        fields.field(2, "s", interface)
        fields.field(3, "s", member)
        var body = Buffer()
        if let secretBytes {
            fields.signature("(oayay)")
            // The plain session, which every direct connection has; no parameters; the secret.
            body.string("/")
            body.number(0)
            body.number(UInt32(secretBytes))
        }
        var message = Buffer()
        message.bytes = [order, 1, 0, 1]
        message.number(UInt32(body.bytes.count + (secretBytes ?? 0)))
        message.number(serial)
        message.number(UInt32(fields.bytes.count))
        message.bytes += fields.bytes
        message.align(8)
        return message.bytes + body.bytes
    }

    /// Nobody guesses it.
    static func randomSerial() -> UInt32 {
        max(1, number(Random.bytes(4), 0))
    }

    static func hexadecimal(_ userID: UInt32) -> String {
        String(userID).utf8.map { String($0, radix: 16) }.joined()
    }

    /// How many bytes to wait for, of which these are the first: the head's, or the message's.
    static func bytesWanted(for bytes: [UInt8]) -> Int {
        guard bytes.count >= headBytes else { return headBytes }
        let (body, fields) = (Int(number(bytes, 4)), Int(number(bytes, 12)))
        return headBytes + (fields + 7) / 8 * 8 + body
    }

    /// What a message of the broker's answers; serial 0 for none.
    struct Reply {
        let isReturn: Bool
        let serial: UInt32

        /// Nil for what is no message of this machine's byte order.
        init?(_ bytes: [UInt8]) {
            guard bytes.count >= headBytes, bytes[0] == order, bytes[3] == 1 else { return nil }
            isReturn = bytes[1] == 2
            let isAnswer = isReturn || bytes[1] == 3
            guard isAnswer else {
                serial = 0
                return
            }
            guard let serial = Self.replySerial(bytes) else { return nil }
            self.serial = serial
        }

        // A field is a number, a signature and a value; the one that is looked for has the signature "u".
        private static func replySerial(_ bytes: [UInt8]) -> UInt32? {
            var place = headBytes
            let end = headBytes + Int(number(bytes, 12))
            guard end <= bytes.count else { return nil }
            while place + 8 <= end {
                let (field, kind) = (bytes[place], bytes[place + 2])
                guard bytes[place + 1] == 1, bytes[place + 3] == 0 else { return nil }
                if field == 5 { return kind == UInt8(ascii: "u") ? number(bytes, place + 4) : nil }
                place += 4
                switch kind {
                case UInt8(ascii: "u"): place += 4
                case UInt8(ascii: "g"): place += 2 + Int(bytes[place])
                case UInt8(ascii: "s"), UInt8(ascii: "o"): place += 5 + Int(number(bytes, place))
                default: return nil
                }
                place = (place + 7) / 8 * 8
            }
            return nil
        }
    }

    private static let order = UInt8(ascii: 1.littleEndian == 1 ? "l" : "B")

    private static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        let value = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) }
        return UInt32(littleEndian: 1) == 1 ? value : value.byteSwapped
    }

    private struct Buffer {
        var bytes: [UInt8] = []

        mutating func align(_ size: Int) {
            while bytes.count % size != 0 { bytes.append(0) }
        }

        mutating func number(_ value: UInt32) {
            align(4)
            let little = UInt32(littleEndian: 1) == 1 ? value : value.byteSwapped
            for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: little >> (8 * UInt32(shift)))) }
        }

        mutating func string(_ text: String) {
            number(UInt32(text.utf8.count))
            bytes += Array(text.utf8) + [0]
        }

        mutating func field(_ number: UInt8, _ kind: Unicode.Scalar, _ text: String) {
            align(8)
            bytes += [number, 1, UInt8(ascii: kind), 0]
            string(text)
        }

        mutating func signature(_ text: String) {
            align(8)
            bytes += [8, 1, UInt8(ascii: "g"), 0, UInt8(text.utf8.count)] + Array(text.utf8) + [0]
        }
    }
}
