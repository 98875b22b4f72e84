internal import Sodium

/// A line of the Assuan protocol, as far as pinentry speaks it.
enum AssuanLine {
    /// The command is done.
    case done
    /// The command has failed; the number of its reason.
    case refused(UInt32)
    /// A part of the answer.
    case data(SharedSecret)
    /// A question back, which has to be answered.
    case inquiry
    /// What need not be known.
    case remark

    /// A line without its end.
    init(_ line: Span<UInt8>) {
        if line.starts(with: "D ") {
            self = .data(SharedSecret(Self.decoded(line.extracting(2..<line.count))))
        } else if line.starts(with: "OK") {
            self = .done
        } else if line.starts(with: "ERR ") {
            self = .refused(Self.number(line.extracting(4..<line.count)))
        } else if line.starts(with: "INQUIRE") {
            self = .inquiry
        } else {
            self = .remark
        }
    }

    /// A text as it may stand in a command.
    static func encoded(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    // A percent sign without two digits stands for itself.
    private static func decoded(_ bytes: Span<UInt8>) -> Secret {
        var count = 0
        let room = Secret(count: bytes.count) { target in
            var index = 0
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                    let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2])
                {
                    target[count] = high << 4 | low
                    index += 3
                } else {
                    target[count] = bytes[index]
                    index += 1
                }
                count += 1
            }
        }
        return Secret(copying: room.span.extracting(0..<count))
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func number(_ bytes: Span<UInt8>) -> UInt32 {
        var number: UInt32 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
            number = number &* 10 &+ UInt32(byte - UInt8(ascii: "0"))
        }
        return number
    }
}

extension Span<UInt8> {
    fileprivate func starts(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return text.description.utf8.enumerated().allSatisfy { self[$0.offset] == $0.element }
    }
}
