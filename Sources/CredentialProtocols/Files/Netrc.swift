internal import Chatelaine
internal import Sodium

/// `~/.netrc`: a machine, with login and password, again and again (ftp(1), curl(1)).
///
/// Each becomes an internet password with the machine as server and no protocol, since the file says none.
struct Netrc {
    private var file = CredentialFile()
    private var open: Section?

    /// What stands behind `machine` or `default`.
    private struct Section {
        let line: Int
        /// Nil behind `default`.
        let machine: [UInt8]?
        var login: [UInt8]?
        var password: SecretSlice?
        var hasAccount = false
        var hasMacro = false
        var isWrong = false
        var cuts: [Range<Int>]
    }

    static func read(_ text: SharedSecret) -> CredentialFile {
        var (netrc, words) = (Netrc(), NetrcWords(text))
        do throws(NetrcWords.Mistake) {
            while let word = try words.keyword() { try netrc.take(word, &words) }
        } catch {
            netrc.open?.isWrong = true
            netrc.file.blame(
                "line \(error.line) has a quote or a keyword without its end; left as it is, and what follows"
            )
        }
        netrc.finish()
        return netrc.file
    }

    private mutating func take(
        _ word: NetrcWords.Word, _ words: inout NetrcWords
    ) throws(NetrcWords.Mistake) {
        switch word.value.openText {
        case "machine":
            finish()
            let name = try value(of: word, &words)
            open = Section(line: word.line, machine: name.value.openBytes, cuts: [word.range, name.range])
        case "default":
            finish()
            open = Section(line: word.line, machine: nil, cuts: [])
        case "macdef":
            words.skipMacro()
            if open?.machine != nil { open?.hasMacro = true }
            file.leave("line \(word.line) is a macro; left as it is")
        case "login", "user":
            try set(word, &words) {
                $0.login == nil
            } to: {
                $0.login = $1.openBytes
            }
        case "password":
            try set(word, &words) {
                $0.password == nil
            } to: {
                $0.password = $1
            }
        case "account":
            try set(word, &words) {
                !$0.hasAccount
            } to: { (section, _) in
                section.hasAccount = true
            }
        default: blame(word)
        }
    }

    private mutating func set(
        _ word: NetrcWords.Word, _ words: inout NetrcWords, if isNew: (Section) -> Bool,
        to change: (inout Section, SecretSlice) -> Void
    ) throws(NetrcWords.Mistake) {
        let value = try value(of: word, &words)
        guard var section = open, isNew(section) else { return blame(word) }
        change(&section, value.value)
        section.cuts += [word.range, value.range]
        open = section
    }

    private func value(
        of word: NetrcWords.Word, _ words: inout NetrcWords
    ) throws(NetrcWords.Mistake) -> NetrcWords.Word {
        guard let value = try words.next() else { throw NetrcWords.Mistake(line: word.line) }
        return value
    }

    // Said once for a machine: what follows is of as little use.
    private mutating func blame(_ word: NetrcWords.Word) {
        if open?.isWrong != true {
            file.blame(
                "line \(word.line) has a word in a place where netrc has none; left as it is, with its machine"
            )
        }
        open?.isWrong = true
    }

    private mutating func finish() {
        defer { open = nil }
        guard let open, !open.isWrong else { return }
        let place = "line \(open.line)"
        guard let machine = open.machine else {
            return file.leave(
                "\(place) is the default for every other machine, which no item can be; left as it is")
        }
        guard let password = open.password else {
            return file.leave("\(place) has no password; left as it is")
        }
        if open.hasAccount {
            return file.leave(
                "\(place) has an account beside login and password, which no item has; left as it is")
        }
        if open.hasMacro { return file.leave("\(place) has a macro of its own; left as it is") }
        var attributes = Attributes()
        attributes["Class"] = .text("internet-password")
        attributes["Server"] = .init(openBytes: machine)
        if let login = open.login, !login.isEmpty { attributes["Account"] = .init(openBytes: login) }
        attributes["Label"] = .text("netrc")
        file.entries.append(
            CredentialFile.Entry(
                place: place, attributes: attributes, secret: SharedSecret(password.copy()), cuts: open.cuts))
    }
}
