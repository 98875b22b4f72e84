import BrokerModel

/// How the values of single keys are read; each function refuses what its key does not allow.
enum Value {
    /// An absolute, normalised path without a pattern's characters, compared by device and inode later.
    static func path(_ text: String) throws(ValueError) -> String {
        try requireNormalised(text)
        if text.utf8.contains(where: { [0x2a, 0x3f, Ascii.openBracket].contains($0) }) {
            throw ValueError("\(text.quoted) is a pattern; only [Carriers] takes patterns.")
        }
        return text
    }

    /// A pattern of paths, normalised as a path is.
    static func pathPattern(_ text: String) throws(ValueError) -> Glob {
        try requireNormalised(text)
        return try Glob(text)
    }

    private static func requireNormalised(_ text: String) throws(ValueError) {
        guard text.utf8.first == 0x2f, text.utf8.count > 1 else {
            throw ValueError("\(text.quoted) is not an absolute path.")
        }
        let steps = text.utf8.dropFirst().split(separator: 0x2f, omittingEmptySubsequences: false)
        let isNormal = steps.allSatisfy { step in
            !step.isEmpty && !step.elementsEqual(".".utf8) && !step.elementsEqual("..".utf8)
        }
        guard isNormal else { throw ValueError("\(text.quoted) has '//', '.', '..' or a '/' at its end.") }
    }

    /// A pattern of unit names. One without a suffix could never match, so it is an error.
    static func unit(_ text: String) throws(ValueError) -> Glob {
        let glob = try Glob(text)
        if text.utf8.contains(where: { $0 == 0x2f || Ascii.isBlank($0) }) {
            throw ValueError("\(text.quoted) is no unit's name.")
        }
        if glob.isLiteral && !text.utf8.contains(0x2e) {
            throw ValueError("\(text.quoted) lacks a unit's suffix, such as '.service'.")
        }
        return glob
    }

    /// A Flatpak application id or a Snap name.
    static func sandboxID(_ text: String) throws(ValueError) -> String {
        try word(text, "an application id")
    }

    /// What may follow `app.` in a group's name.
    static func applicationID(_ text: String) throws(ValueError) -> String {
        guard text.utf8.count <= 200 else { throw ValueError("An application's id has 200 bytes at most.") }
        return try word(text, "an application's id")
    }

    private static func word(_ text: String, _ what: String) throws(ValueError) -> String {
        guard !text.isEmpty, text.utf8.allSatisfy(Ascii.isWord) else {
            throw ValueError("\(text.quoted) is not \(what): letters, digits, '.', '-' and '_'.")
        }
        return text
    }

    /// A number, or a name that is looked up; nil when nothing has the name.
    static func id(_ text: String, orNamed lookUp: (String) -> UInt32?) throws(ValueError) -> UInt32? {
        if text.utf8.contains(where: Ascii.isBlank) { throw ValueError("\(text.quoted) is not one name.") }
        guard text.utf8.allSatisfy(Ascii.isDigit) else { return lookUp(text) }
        guard let number = UInt32(text), number != .max else {
            throw ValueError("\(text.quoted) is no user's or group's number.")
        }
        return number
    }

    /// A security label. Of AppArmor it is the profile's name; `(enforce)`, which tools show behind it, is left
    /// away, and no label is there in a mode in which AppArmor only logs.
    static func securityLabel(_ text: String) throws(ValueError) -> String {
        for mode in [" (enforce)", " (kill)"] where text.hasSuffix(mode) {
            return String(text.dropLast(mode.count))
        }
        if text == "unconfined" || text.hasSuffix(" (complain)") || text.hasSuffix(" (unconfined)") {
            throw ValueError("\(text.quoted) holds nobody to anything, so it is no evidence.")
        }
        return text
    }

    /// A group's name.
    static func group(_ text: some StringProtocol) throws(ValueError) -> AccessGroup {
        guard let group = AccessGroup(String(text)) else {
            throw ValueError(
                "\(text.quoted) is no group's name: 1 to 255 printable ASCII characters without spaces.")
        }
        return group
    }

    /// A group that a policy may grant.
    static func grantedGroup(_ text: some StringProtocol) throws(ValueError) -> AccessGroup {
        let group = try group(text)
        if group.isReserved {
            let prefixes = AccessGroup.reservedPrefixes.joined(separator: ", ")
            throw ValueError("\(text.quoted) is a private group (\(prefixes)), which no policy grants.")
        }
        return group
    }

    /// The words of a list in their order, each at most once.
    static func list<Element: Hashable>(
        _ text: String, _ read: (Substring) throws(ValueError) -> Element
    ) throws(ValueError) -> [Element] {
        var elements: [Element] = []
        var seen: Set<Element> = []
        for word in Substring(text).words {
            let element = try read(word)
            guard seen.insert(element).inserted else {
                throw ValueError("\(word.quoted) stands there twice.")
            }
            elements.append(element)
        }
        return elements
    }

    /// One of a closed list of words.
    static func choice<Choice: RawRepresentable>(
        _ text: some StringProtocol, among words: [String]
    ) throws(ValueError) -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: String(text)) else {
            throw ValueError("\(text.quoted) is none of \(words.joined(separator: ", ")).")
        }
        return choice
    }

    /// One of the five protection classes.
    static func accessibility(_ text: Substring) throws(ValueError) -> Accessibility {
        guard let accessibility = Accessibility(name: text) else {
            let words = Accessibility.allCases.map(\.name).joined(separator: ", ")
            throw ValueError("\(text.quoted) is none of \(words).")
        }
        return accessibility
    }

    /// A whole number within bounds.
    static func count(_ text: String, in range: ClosedRange<UInt64>) throws(ValueError) -> UInt64 {
        let isNumber = text.utf8.allSatisfy(Ascii.isDigit)
        guard isNumber, let number = UInt64(text), range.contains(number) else {
            throw ValueError(
                "\(text.quoted) is no whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// A number of bytes, by a suffix of 1024 (K), 1024² (M) or 1024³ (G) of them.
    static func bytes(_ text: String) throws(ValueError) -> UInt64 {
        let shift: UInt64 =
            switch text.utf8.last {
            case UInt8(ascii: "K"): 10
            case UInt8(ascii: "M"): 20
            case UInt8(ascii: "G"): 30
            default: 0
            }
        let digits = Substring(text.utf8.dropLast(shift == 0 ? 0 : 1))
        let limit = UInt64(Int64.max)
        guard !digits.isEmpty, digits.utf8.allSatisfy(Ascii.isDigit), let number = UInt64(digits),
            number > 0, number <= limit >> shift
        else { throw ValueError("\(text.quoted) is no number of bytes, such as 65536, 64K, 8M or 1G.") }
        return number << shift
    }
}
