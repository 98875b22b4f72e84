internal import Sodium

/// The words of a netrc file, which white space parts, lines or not.
struct NetrcWords {
    private let text: SharedSecret
    private var place = 0
    private var line = 1

    /// A word, with what its quotes and backslashes stand for.
    struct Word {
        let value: SecretSlice
        let line: Int
        let range: Range<Int>
    }

    /// Quotes that do not end.
    struct Mistake: Error {
        let line: Int
    }

    init(_ text: SharedSecret) { self.text = text }

    /// The next word that is to be a keyword: comments are passed over.
    mutating func keyword() throws(Mistake) -> Word? {
        while let word = try next() {
            guard word.value.count > 0, word.value[0] == UInt8(ascii: "#") else { return word }
            place = word.range.lowerBound
            line = word.line
            skip { $0 != 0x0A }
        }
        return nil
    }

    /// The next word, whatever it is.
    mutating func next() throws(Mistake) -> Word? {
        skip(while: \.isSpace)
        let (start, first) = (place, line)
        guard let byte = current else { return nil }
        let isQuoted = byte == UInt8(ascii: "\"")
        if isQuoted { place += 1 }
        let content = place
        let count = try passWord(isQuoted, from: first)
        let value = Secret(count: count) { target in
            var source = content
            for index in 0..<count {
                if text.secret.byte(at: source) == Self.backslash, source + 1 < text.secret.count {
                    source += 1
                }
                target[index] = text.secret.byte(at: source)
                source += 1
            }
        }
        return Word(value: SecretSlice(SharedSecret(value)), line: first, range: start..<place)
    }

    // Goes to the end of a word, and says how many bytes it stands for.
    private mutating func passWord(_ isQuoted: Bool, from line: Int) throws(Mistake) -> Int {
        var count = 0
        while let byte = current {
            if isQuoted && byte == UInt8(ascii: "\"") {
                place += 1
                return count
            }
            if !isQuoted && byte.isSpace { return count }
            if byte == Self.backslash, place + 1 < text.secret.count { advance() }
            count += 1
            advance()
        }
        if isQuoted { throw Mistake(line: line) }
        return count
    }

    private static let backslash = UInt8(ascii: "\\")

    /// Passes over a macro: what follows up to an empty line, or the end.
    mutating func skipMacro() {
        while current != nil {
            skip { $0 != 0x0A }
            advance()
            let isEnd = current == nil || current == 0x0A || current == 0x0D
            if isEnd { return }
        }
    }

    private var current: UInt8? { place < text.secret.count ? text.secret.byte(at: place) : nil }

    private mutating func advance() {
        if current == 0x0A { line += 1 }
        place += 1
    }

    private mutating func skip(while isPassed: (UInt8) -> Bool) {
        while let byte = current, isPassed(byte) { advance() }
    }
}
