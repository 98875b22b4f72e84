import BrokerModel
import Sodium
import Testing

typealias Value = WireDictionary.Value

extension WireDictionary {
    /// A request as the bus would hand it over.
    init(_ entries: [(String, Value)]) throws(Refusal) {
        self.init()
        for (key, value) in entries { try append(key, value) }
    }
}

extension WireDictionary.Value: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    init(stringLiteral value: String) { self = .text(Array(value.utf8)) }
    init(booleanLiteral value: Bool) { self = .flag(value) }

    static func control(_ protection: String, _ flags: String...) -> Self {
        .accessControl(protection: protection, flags: flags)
    }

    static var aSecret: Self { .secret(SharedSecret(Secret(count: 1) { _ in })) }
}

/// The kind of the refusal that a request meets; nil where it is taken.
func refusal(_ body: () throws(Refusal) -> Void) -> Refusal.Kind? {
    do throws(Refusal) {
        try body()
        return nil
    } catch {
        return error.kind
    }
}

/// One row of a matrix: what stands beside the rest of a request, and what that meets.
struct Row: Sendable, CustomTestStringConvertible {
    let entries: [(String, Value)]
    let expected: Refusal.Kind?

    init(_ entries: KeyValuePairs<String, Value>, _ expected: Refusal.Kind?) {
        self.entries = entries.map { ($0.key, $0.value) }
        self.expected = expected
    }

    var testDescription: String {
        entries.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + " → " + (expected?.rawValue ?? "taken")
    }
}
