internal import Chatelaine
internal import Sodium

/// The file of git-credential-store(1): a URL with user and password a line, each part in percent-encoding. It is read as git
/// reads it, but for line ends of two characters, after which git finds nothing.
enum GitStore {
    static func read(_ text: SharedSecret) -> CredentialFile {
        var file = CredentialFile()
        for (number, line) in SecretLines(text).lines.enumerated() {
            let isCarriage = !line.isEmpty && text.secret.byte(at: line.upperBound - 1) == 0x0D
            let url = isCarriage ? line.dropLast() : line
            guard url.contains(where: { !text.secret.byte(at: $0).isSpace }) else { continue }
            let place = "line \(number + 1)"
            guard let parts = Parts(text, url), let found = parts.place else {
                file.blame("\(place) is no URL with a user and a password; left as it is")
                continue
            }
            file.entries.append(
                CredentialFile.Entry(
                    place: place, attributes: found.primaryKey(group: nil),
                    secret: SharedSecret(parts.password.copy()), cuts: [line]))
        }
        return file
    }

    /// A URL taken apart.
    private struct Parts {
        let scheme: [UInt8]
        let username: [UInt8]
        let password: SecretSlice
        let host: [UInt8]
        let path: [UInt8]

        /// What the item is for; nil for what git would not take.
        var place: GitPlace? {
            guard ([scheme, username, host, path].allSatisfy { !$0.contains { $0 == 0x0A || $0 == 0 } }),
                !password.contains(0x0A), !password.contains(0)
            else { return nil }
            guard !host.isEmpty || !path.isEmpty else { return nil }
            return GitPlace(
                scheme: scheme, host: host, path: path.isEmpty ? nil : path, username: username)
        }

        init?(_ text: SharedSecret, _ url: Range<Int>) {
            func first(_ bytes: String, in range: Range<Int>) -> Int? {
                range.first { place in bytes.utf8.contains(text.secret.byte(at: place)) }
            }
            guard let colon = first(":", in: url), colon > url.lowerBound, colon + 2 < url.upperBound,
                text.secret.byte(at: colon + 1) == UInt8(ascii: "/"),
                text.secret.byte(at: colon + 2) == UInt8(ascii: "/")
            else { return nil }
            scheme = SecretSlice(text, url.lowerBound..<colon).openBytes
            let rest = colon + 3..<url.upperBound
            let slash = first("/?#", in: rest) ?? rest.upperBound
            let authority = rest.lowerBound..<slash
            guard let at = first("@", in: authority), let divider = first(":", in: authority), divider < at
            else {
                return nil
            }
            username = SecretSlice(percentEncoded: text, authority.lowerBound..<divider).openBytes
            password = SecretSlice(percentEncoded: text, divider + 1..<at)
            host = SecretSlice(percentEncoded: text, at + 1..<slash).openBytes
            let isSlash = { (place: Int) in text.secret.byte(at: place) == UInt8(ascii: "/") }
            let start = (slash..<rest.upperBound).first { !isSlash($0) } ?? rest.upperBound
            var path = SecretSlice(percentEncoded: text, start..<rest.upperBound).openBytes
            while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
            self.path = path
        }
    }
}

extension SecretSlice {
    /// What part of a text stands for in percent-encoding. What is none of its escapes stands for itself.
    init(percentEncoded text: SharedSecret, _ range: Range<Int>) {
        func digit(_ place: Int) -> UInt8? {
            guard place < range.upperBound, text.secret.byte(at: place) < 0x80 else { return nil }
            let character = Character(Unicode.Scalar(text.secret.byte(at: place)))
            return character.hexDigitValue.map { UInt8($0) }
        }
        var count = 0
        let value = Secret(count: range.count) { target in
            var place = range.lowerBound
            while place < range.upperBound {
                let byte = text.secret.byte(at: place)
                // As git has it: no escape gives a NUL.
                if byte == UInt8(ascii: "%"), let high = digit(place + 1), let low = digit(place + 2),
                    high << 4 | low > 0
                {
                    target[count] = high << 4 | low
                    place += 3
                } else {
                    target[count] = byte
                    place += 1
                }
                count += 1
            }
        }
        self.init(SharedSecret(value), 0..<count)
    }
}
