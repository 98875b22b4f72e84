public import Sodium

/// The key that a person writes down for the day that passcode or device are lost: 140 random bits in seven groups of
/// five letters and digits, the last of each a check on the other four.
///
/// The check is one Reed-Solomon symbol over GF(32), and the number of the group goes into it. So in each group it finds
/// every wrong character and every two that changed places, and it finds groups that did.
public struct RecoveryKey: Sendable {
    /// The 35 characters without what is between the groups: what the slot's key is derived from.
    public let symbols: SharedSecret

    /// How many groups there are, and how many characters in each.
    public static let shape = (groups: 7, symbols: 5)

    private static let count = shape.groups * shape.symbols
    // Without I, L, O and U: they are taken for 1, 1 and 0, or make words.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// What is wrong with what was typed. It says where, and never what.
    public enum Mistake: Error, Equatable {
        /// Groups with a character that is in no key.
        case strange([Int])
        /// So many characters, where there are 35.
        case length(Int)
        /// Groups whose check does not fit.
        case check([Int])

        /// A sentence for the person who typed it.
        public var text: String {
            switch self {
            case .strange(let groups):
                "\(Self.name(groups)) has a character that is in no recovery key: they have digits and the letters A to Z without I, L, O and U."
            case .length(let count):
                "A recovery key has 35 letters and digits, in seven groups of five; this has \(count)."
            case .check(let groups): "\(Self.name(groups)) has a mistake: its check character does not fit."
            }
        }

        private static func name(_ groups: [Int]) -> String {
            let numbers = groups.map(String.init)
            guard let last = numbers.last, numbers.count > 1 else { return "Group \(numbers.joined())" }
            return "One of the groups \(numbers.dropLast().joined(separator: ", ")) and \(last)"
        }
    }

    /// A new key from the system's random source.
    public static func random() -> RecoveryKey {
        let source = Secret.random(count)
        let symbols = Secret(count: count) { target in
            for group in 0..<shape.groups {
                var check = UInt8(group + 1)
                let start = group * shape.symbols
                for place in start..<start + shape.symbols - 1 {
                    let value = source.span[place] & 31
                    target[place] = alphabet[Int(value)]
                    check = double(check) ^ value
                }
                target[start + shape.symbols - 1] = alphabet[Int(double(check))]
            }
        }
        return RecoveryKey(SharedSecret(symbols))
    }

    private init(_ symbols: SharedSecret) { self.symbols = symbols }

    /// Reads what a person typed: small letters too, I and L for 1, O for 0, and whatever spaces and dashes.
    public init(_ typed: borrowing Secret) throws(Mistake) {
        var (count, strange) = (0, Set<Int>())
        let symbols = Secret(count: Self.count) { target in
            for index in 0..<typed.count {
                let byte = typed.span[index]
                if Self.isBetween(byte) { continue }
                if let value = Self.value(of: byte) {
                    if count < Self.count { target[count] = Self.alphabet[Int(value)] }
                } else {
                    strange.insert(min(count / Self.shape.symbols + 1, Self.shape.groups))
                }
                count += 1
            }
        }
        guard strange.isEmpty else { throw .strange(strange.sorted()) }
        guard count == Self.count else { throw .length(count) }
        let wrong = (1...Self.shape.groups).filter { !Self.fits(symbols, group: $0) }
        guard wrong.isEmpty else { throw .check(wrong) }
        self.init(SharedSecret(symbols))
    }

    /// As it is shown: groups with a dash between.
    public var shown: SharedSecret { SharedSecret(Self.grouped(symbols.secret)) }

    private static func grouped(_ symbols: borrowing Secret) -> Secret {
        Secret(count: count + shape.groups - 1) { target in
            for place in 0..<count {
                target[place + place / shape.symbols] = symbols.span[place]
            }
            for group in 1..<shape.groups { target[group * (shape.symbols + 1) - 1] = UInt8(ascii: "-") }
        }
    }

    private static func fits(_ symbols: borrowing Secret, group: Int) -> Bool {
        var check = UInt8(group)
        let start = (group - 1) * shape.symbols
        for place in start..<start + shape.symbols {
            check = double(check) ^ (value(of: symbols.span[place]) ?? 0)
        }
        return check == 0
    }

    // Times x in GF(2)[x] modulo x^5 + x^2 + 1, of which x makes every element but 0.
    private static func double(_ value: UInt8) -> UInt8 {
        value & 16 == 0 ? value << 1 : (value << 1 ^ 0b10_0101) & 31
    }

    private static func isBetween(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") || (9...13).contains(byte)
    }

    private static func value(of byte: UInt8) -> UInt8? {
        let capital = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xDF : byte
        switch capital {
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case UInt8(ascii: "O"): return 0
        default: return alphabet.firstIndex(of: capital).map(UInt8.init)
        }
    }
}
