/// A JSON value, printed on one line with its members in a fixed order.
public indirect enum JSON: Equatable {
    /// Text.
    case string(String)
    /// A number, whole and not negative.
    case number(UInt64)
    /// True or false.
    case flag(Bool)
    /// Values in their order.
    case array([JSON])
    /// Names with their values, in their order.
    case object([Member])

    /// A member of an object.
    public struct Member: Equatable {
        /// Its name.
        public let name: String
        /// Its value.
        public let value: JSON

        /// A member of that name.
        public init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// An array of strings.
    public static func strings(_ values: [String]) -> JSON { .array(values.map { .string($0) }) }

    /// A number of 32 bits.
    public static func number(_ value: UInt32) -> JSON { .number(UInt64(value)) }

    /// As RFC 8259 has it.
    public var text: String {
        switch self {
        case .string(let text): Self.quoted(text)
        case .number(let number): String(number)
        case .flag(let flag): flag ? "true" : "false"
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            // DEL and the C1 controls need no escape, and could steer a terminal all the same.
            case "\0"..." ", "\u{7F}"..."\u{9F}":
                result += scalar == " " ? " " : escape(scalar.value)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func escape(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
