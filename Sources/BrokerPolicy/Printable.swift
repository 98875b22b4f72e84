extension StringProtocol {
    /// The text as it may stand in a message: what could steer a terminal or break a line is written
    /// as its code point, and what is long is cut.
    var printable: String {
        var result = ""
        for (index, scalar) in unicodeScalars.enumerated() {
            if index == printableScalarsMax { return result + "…" }
            if scalar.isPlain {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }

    /// ``printable`` between quotation marks.
    var quoted: String { "'\(printable)'" }
}

private let printableScalarsMax = 200

extension Unicode.Scalar {
    fileprivate var isPlain: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            false
        default: true
        }
    }
}
