extension StringProtocol {
    /// The text as it may stand on a terminal: what could steer it or break a line is written as its code
    /// point. Attributes come from any program.
    public var printable: String {
        var result = ""
        for scalar in unicodeScalars {
            if scalar.isPlain {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    fileprivate var isPlain: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            false
        default: true
        }
    }
}
