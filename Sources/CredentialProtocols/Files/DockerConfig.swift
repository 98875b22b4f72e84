internal import Chatelaine
internal import Sodium

/// `config.json` of docker(1): passwords in Base64 under `auths`, where no credential helper is set.
struct DockerConfig {
    private var file = CredentialFile()
    private var registries: Set<String> = []

    static func read(_ text: SharedSecret) -> CredentialFile {
        var (config, reader) = (DockerConfig(), JSONReader(text: text))
        do throws(JSONReader.Mistake) {
            try config.read(&reader)
            return config.file
        } catch {
            var file = CredentialFile()
            file.blame(
                "byte \(error.offset) is not as JSON has it, or as docker writes it; nothing was taken")
            return file
        }
    }

    private mutating func read(_ reader: inout JSONReader) throws(JSONReader.Mistake) {
        var seen: Set<String> = []
        try reader.members { (reader, name) throws(JSONReader.Mistake) in
            guard seen.insert(name).inserted else { throw reader.mistake }
            switch name {
            case "auths":
                try reader.members { (reader, registry) throws(JSONReader.Mistake) in
                    try take(registry, &reader)
                }
            case "credsStore":
                if try reader.string().openText != "chatelaine" { leave(name) }
            case "credHelpers":
                try reader.skipValue(depth: 0)
                leave(name)
            default: try reader.skipValue(depth: 0)
            }
        }
        reader.skipSpace()
        guard reader.isAtEnd else { throw reader.mistake }
    }

    private mutating func leave(_ name: String) {
        file.leave("\(name) names programs that keep passwords for docker; they and what they keep are left")
    }

    private mutating func take(
        _ registry: String, _ reader: inout JSONReader
    ) throws(JSONReader.Mistake) {
        guard registries.insert(registry).inserted else { throw reader.mistake }
        let place = "entry \(registries.count) of auths"
        let members = try Self.readMembers(&reader)
        let values = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
        guard values.count == members.count else { throw reader.mistake }
        // What docker leaves where a helper has the password.
        if !Self.taken.contains(where: { values[$0] != nil }) && values["registrytoken"] == nil { return }
        guard values["registrytoken"] == nil else {
            return file.leave(
                "\(place) has a registry token, which no credential helper keeps; left as it is")
        }
        guard let found = Self.credential(values) else {
            return file.blame("\(place) is no name with a password; left as it is")
        }
        let credentials = DockerCredentials(
            serverURL: registry, username: found.username, secret: found.secret)
        file.entries.append(
            CredentialFile.Entry(
                place: place, attributes: credentials.item, secret: SharedSecret(found.secret.copy()),
                cuts: Self.cuts(members)))
    }

    /// The members of an entry that are its credential.
    private static let taken: Set = ["auth", "identitytoken", "username", "password"]

    private struct Member {
        let name: String
        /// Nil for what is no text.
        let value: SecretSlice?
        let range: Range<Int>
        /// Where the comma behind it is.
        var comma: Int?
    }

    private static func readMembers(_ reader: inout JSONReader) throws(JSONReader.Mistake) -> [Member] {
        var members: [Member] = []
        try reader.expect("{")
        reader.skipSpace()
        if reader.take("}") { return [] }
        while true {
            reader.skipSpace()
            let start = reader.place
            guard let name = try reader.string().openText else { throw reader.mistake }
            try reader.expect(":")
            reader.skipSpace()
            var value: SecretSlice?
            if reader.current == UInt8(ascii: "\"") {
                value = try reader.string()
            } else {
                try reader.skipValue(depth: 0)
            }
            members.append(Member(name: name, value: value, range: start..<reader.place))
            reader.skipSpace()
            guard reader.take(",") else { break }
            members[members.count - 1].comma = reader.place - 1
        }
        try reader.expect("}")
        return members
    }

    // A token stands for name and password where there is one, as docker itself hands it to a helper.
    private static func credential(
        _ values: [String: SecretSlice?]
    ) -> (username: String, secret: SecretSlice)? {
        if let token = values["identitytoken"] ?? nil, token.count > 0 { return ("<token>", token) }
        if let auth = values["auth"] ?? nil, auth.count > 0 {
            guard let decoded = SecretSlice(base64: auth),
                let (name, password) = decoded.split(at: UInt8(ascii: ":"))
            else { return nil }
            guard let username = name.openText, !username.isEmpty else { return nil }
            return (username, password)
        }
        guard let username = (values["username"] ?? nil)?.openText, !username.isEmpty,
            let password = values["password"] ?? nil
        else { return nil }
        return (username, password)
    }

    // With the comma behind it, or before it where nothing that stays follows.
    private static func cuts(_ members: [Member]) -> [Range<Int>] {
        var cuts: [Range<Int>] = []
        for (index, member) in members.enumerated() where taken.contains(member.name) {
            let staysBehind = members[(index + 1)...].contains { !taken.contains($0.name) }
            cuts.append(member.range)
            let comma = staysBehind ? member.comma : index > 0 ? members[index - 1].comma : nil
            if let comma { cuts.append(comma..<comma + 1) }
        }
        return cuts
    }
}

extension SecretSlice {
    /// What Base64 of RFC 4648, section 4, stands for; nil for what is none. The padding may be missing.
    init?(base64 text: SecretSlice) {
        var length = text.count
        while length > 0, text[length - 1] == UInt8(ascii: "=") { length -= 1 }
        guard text.count - length <= 2, length % 4 != 1 else { return nil }
        var isWrong = false
        let value = Secret(count: length * 3 / 4) { target in
            var (bits, count, place): (UInt32, Int, Int) = (0, 0, 0)
            for index in 0..<length {
                guard let digit = Self.digit(text[index]) else {
                    isWrong = true
                    return
                }
                bits = bits << 6 | UInt32(digit)
                count += 6
                guard count >= 8 else { continue }
                count -= 8
                target[place] = UInt8(truncatingIfNeeded: bits >> UInt32(count))
                place += 1
            }
        }
        if isWrong { return nil }
        self.init(SharedSecret(value))
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
