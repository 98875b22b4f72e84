internal import Chatelaine
internal import Sodium

/// A form as a request carries it, with the secrets in it, built in secret memory.
struct Form {
    private var fields: [(name: String, value: SharedSecret)] = []

    init() {}

    /// Adds a field.
    mutating func append(_ name: String, _ value: SharedSecret) {
        fields.append((name, value))
    }

    /// Adds a field that is no secret.
    mutating func append(_ name: String, _ text: String) {
        append(name, SharedSecret(Secret(text)))
    }

    /// `application/x-www-form-urlencoded`.
    var encoded: SharedSecret {
        let count = fields.reduce(0) { $0 + $1.name.utf8.count + 2 + Self.encodedCount($1.value.secret) }
        return SharedSecret(
            Secret(count: max(count - 1, 0)) { target in
                var place = 0
                for (name, value) in fields {
                    if place > 0 { place = Self.put(UInt8(ascii: "&"), at: place, into: &target) }
                    for byte in name.utf8 { place = Self.put(byte, at: place, into: &target) }
                    place = Self.put(UInt8(ascii: "="), at: place, into: &target)
                    place = Self.encode(value.secret, at: place, into: &target)
                }
            })
    }

    /// A text as it stands in the query of an address.
    static func escaped(_ text: String) -> String {
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            isUnreserved(byte) ? [byte] : [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func encodedCount(_ value: borrowing Secret) -> Int {
        let bytes = value.span
        var count = 0
        for index in bytes.indices { count += isUnreserved(bytes[index]) ? 1 : 3 }
        return count
    }

    private static func encode(
        _ value: borrowing Secret, at start: Int, into target: inout MutableSpan<UInt8>
    ) -> Int {
        let bytes = value.span
        var place = start
        for index in bytes.indices {
            let byte = bytes[index]
            if isUnreserved(byte) {
                place = put(byte, at: place, into: &target)
            } else {
                place = put(UInt8(ascii: "%"), at: place, into: &target)
                place = put(digit(byte >> 4), at: place, into: &target)
                place = put(digit(byte & 15), at: place, into: &target)
            }
        }
        return place
    }

    private static func put(_ byte: UInt8, at place: Int, into target: inout MutableSpan<UInt8>) -> Int {
        target[place] = byte
        return place + 1
    }

    /// RFC 3986, section 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
