import BrokerModel
import Sodium

extension WireDictionary {
    /// A request as the bus would hand it over.
    init(_ entries: KeyValuePairs<String, Value>) throws(Refusal) {
        self.init()
        for (key, value) in entries { try append(key, value) }
    }

    func adding(_ key: String, _ value: Value?) throws(Refusal) -> WireDictionary {
        guard let value else { return self }
        var copy = self
        try copy.append(key, value)
        return copy
    }
}

extension WireDictionary.Value: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    init(stringLiteral value: String) { self = .text(Array(value.utf8)) }
    init(booleanLiteral value: Bool) { self = .flag(value) }

    static func text(_ text: String) -> Self { .text(Array(text.utf8)) }
}

extension SharedSecret {
    convenience init(_ text: String) { self.init(Secret(copying: Array(text.utf8).span)) }

    convenience init(_ bytes: [UInt8]) { self.init(Secret(copying: bytes.span)) }

    var bytes: [UInt8] { copy(secret) }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension AccessGroup: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self = AccessGroup(value)! }
}

/// A secret's bytes, for a test to look at.
func copy(_ secret: borrowing Secret) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in 0..<secret.count { bytes.append(secret.span[index]) }
    return bytes
}

/// The kind of the refusal that a call met; nil where it met none.
func refusal(_ body: () async throws(Refusal) -> Void) async -> Refusal.Kind? {
    do throws(Refusal) {
        try await body()
        return nil
    } catch {
        return error.kind
    }
}
