public import Chatelaine
public import Sodium

/// A file of passwords of another program's, taken apart: what can be moved into the keychain, and what is left.
public struct CredentialFile: Sendable {
    /// What can be moved, in the order of the file.
    public internal(set) var entries: [Entry] = []
    /// What is left where it is, and why.
    public internal(set) var remarks: [Remark] = []

    /// The files that are known.
    public enum Kind: Sendable {
        /// `~/.git-credentials` (git-credential-store(1)).
        case git
        /// `~/.netrc` of ftp(1), curl(1) and many others.
        case netrc
        /// `config.json` of docker(1).
        case docker
    }

    /// A credential, in the form in which the programs of Chatelaine find it.
    public struct Entry: Sendable {
        /// Where it is, for a person: a line, or the number of an entry.
        public let place: String
        /// Its attributes, without a group.
        public let attributes: Attributes
        /// Its secret.
        public let secret: SharedSecret
        /// Which bytes of the file are about it alone.
        let cuts: [Range<Int>]
    }

    /// Something that is left, without a word of what stands there.
    public struct Remark: Sendable, Equatable {
        /// Where and why, for a person.
        public let text: String
        /// Whether the file is not as it should be there.
        public let isMistake: Bool
    }

    /// Reads the file's bytes.
    public init(_ kind: Kind, _ text: SharedSecret) {
        switch kind {
        case .git: self = GitStore.read(text)
        case .netrc: self = Netrc.read(text)
        case .docker: self = DockerConfig.read(text)
        }
    }

    init() {}

    mutating func leave(_ text: String) { remarks.append(Remark(text: text, isMistake: false)) }

    mutating func blame(_ text: String) { remarks.append(Remark(text: text, isMistake: true)) }

    /// The file's bytes without those entries of it. A line of which nothing but white space would stay goes too.
    public static func remaining(of text: SharedSecret, without entries: [Entry]) -> Secret {
        let count = text.secret.count
        var isCut = [Bool](repeating: false, count: count)
        for cut in entries.flatMap(\.cuts) { for place in cut { isCut[place] = true } }
        for line in SecretLines(text).lines where line.contains(where: { isCut[$0] }) {
            let isEmpty = line.allSatisfy { isCut[$0] || text.secret.byte(at: $0).isSpace }
            guard isEmpty else { continue }
            for place in line.lowerBound..<min(line.upperBound + 1, count) { isCut[place] = true }
        }
        return Secret(count: isCut.count { !$0 }) { target in
            var place = 0
            for index in 0..<count where !isCut[index] {
                target[place] = text.secret.byte(at: index)
                place += 1
            }
        }
    }
}

/// Where the lines of a secret text are.
struct SecretLines {
    /// Without their newlines.
    let lines: [Range<Int>]

    init(_ text: SharedSecret) {
        var lines: [Range<Int>] = []
        var start = 0
        for place in 0..<text.secret.count where text.secret.byte(at: place) == 0x0A {
            lines.append(start..<place)
            start = place + 1
        }
        if start < text.secret.count { lines.append(start..<text.secret.count) }
        self.lines = lines
    }
}

extension UInt8 {
    /// White space within a line, or its end.
    var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}

extension Attributes.Value {
    /// As text where it is text, so that a person can read it.
    init(openBytes bytes: [UInt8]) {
        self = String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .bytes(bytes)
    }
}
