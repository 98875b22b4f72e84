import SDBus
import TestKit

/// Bytes that cannot be copied, as a secret is.
struct Blob: ~Copyable, BusEncodable {
    let bytes: [UInt8]

    static var signature: String { "ay" }

    borrowing func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.bytes(bytes.span)
    }
}

/// One struct of D-Bus and of Swift.
struct Point: BusCodable, Equatable {
    static var signature: String { "(iay)" }

    var x: Int32
    var tail: [UInt8]

    init(x: Int32, tail: [UInt8]) {
        self.x = x
        self.tail = tail
    }

    init(from reader: inout MessageReader) throws(BusError) {
        _ = try reader.enter("r", "iay")
        x = try reader.read()
        tail = try reader.read()
        try reader.exit()
    }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "iay")
        try writer.append(x)
        try writer.append(tail)
        try writer.close()
    }
}

/// Counts what a handler learns of a dictionary of variants.
struct Attributes: BusDecodable {
    static var signature: String { "a{sv}" }

    var seen: [String] = []

    init(from reader: inout MessageReader) throws(BusError) {
        var seen: [String] = []
        try reader.dictionary { (key, value) throws(BusError) in
            let (type, contents) = try value.peekType()
            seen.append("\(key):\(Character(UnicodeScalar(type)))\(contents)")
            if type == UInt8(ascii: "s") { seen.append(try value.read(String.self)) }
        }
        self.seen = seen.sorted()
    }
}

/// The service that most tests talk to.
@BrokerActor final class Echo {
    var count: UInt32 = 0
    let gate = Gate()

    /// A new one each time: one that was kept here would keep this alive, whose closures it holds.
    var interface: Interface {
        Interface(Fixture.name) {
            Method("Numbers", in: ["y", "n", "q", "i", "u", "x", "t", "d"], out: ["i", "u", "t", "d"]) {
                (_, y: UInt8, n: Int16, q: UInt16, i: Int32, u: UInt32, x: Int64, t: UInt64, d: Double) in
                Echo.sum(y, n, q, i, u, x, t, d)
            }
            Method("Texts", in: ["s", "o", "list"], out: ["s", "o", "list"]) {
                (_, s: String, o: ObjectPath, list: [String]) in
                (s, o, list)
            }
            Method("Flag", in: ["b"], out: ["b"]) { (_, b: Bool) in !b }
            Method("Points", in: ["points"], out: ["points"]) { (_, points: [Point]) in
                Array(points.reversed())
            }
            Method("Look", in: ["attributes"], out: ["seen"]) { (_, attributes: Attributes) in attributes.seen
            }
            Method("Map", in: ["map"], out: ["map"]) { (_, map: [String: UInt32]) in map }
            Method("Blob", out: ["blob"]) { _ in Blob(bytes: [1, 2, 3]) }.sensitive
            Method("Nothing") { _ in }
            Method("Refuse", in: ["extra"]) { (_, extra: UInt64) throws(BusError) -> Void in
                throw BusError(name: "org.lab.Error.No", message: "No.", extra: extra == 0 ? nil : extra)
            }
            Method("RefuseBadly") { _ throws(BusError) -> Void in
                throw BusError(name: "6.not a name", message: "No.")
            }
            Method("RefuseErrno") { _ throws(BusError) in throw BusError(errno: 13) }
            Method("NUL", out: ["s"]) { _ in "a\0b" }
            Method("BadPath", out: ["s", "o"]) { _ in ("x", ObjectPath("no path")) }
            Method("Who", out: ["sender", "interaction"]) { call in
                (call.sender ?? "", call.allowsInteraction)
            }
            Method("Wait", in: ["ticket"], out: ["ticket"]) { [self] (_, ticket: String) -> Answer<String> in
                if ticket.isEmpty { return .now("now") }
                return .later { [self] () async throws(BusError) in
                    await gate.wait(for: ticket)
                    return ticket
                }
            }
            Method("WaitRefused") { _ -> Answer<Void> in
                .later { () async throws(BusError) in
                    throw BusError(name: "org.lab.Error.Late", message: "Late.", extra: 7)
                }
            }
            Method("LaterPair", out: ["a", "b"]) { _ -> Answer<(String, UInt32)> in .later { ("a", 2) } }
            Property("Count", .emitsChange) { [self] in count }
            Property("Asker") { call in call.sender ?? "nobody" }
            Property("Secret", .emitsInvalidation) { true }
            Property("Version", .const) { "1" }
            Property("Broken") { () throws(BusError) -> String in
                throw BusError(name: "org.lab.Error.No", message: "No.")
            }
            Signal("Changed", ["path", "n"], (ObjectPath.self, UInt32.self))
            Signal("Bare")
        }
    }
}

extension Echo {
    nonisolated static func sum(
        _ y: UInt8, _ n: Int16, _ q: UInt16, _ i: Int32, _ u: UInt32, _ x: Int64, _ t: UInt64, _ d: Double
    ) -> (Int32, UInt32, UInt64, Double) {
        (i + Int32(n), u + UInt32(q) + UInt32(y), t &+ UInt64(bitPattern: x), d)
    }
}

/// Lets waiting calls go by name.
@BrokerActor final class Gate {
    private var waiting: [String: CheckedContinuation<Void, Never>] = [:]
    let arrivals = Mailbox<String>()

    nonisolated init() {}

    func wait(for ticket: String) async {
        await withCheckedContinuation { continuation in
            waiting[ticket] = continuation
            arrivals.post(ticket)
        }
    }

    func open(_ ticket: String) {
        waiting.removeValue(forKey: ticket)?.resume()
    }
}
