import Chatelaine
import Sodium
import Testing

@testable import CredentialProtocols

/// What is found in files of other programs, what is left in them, and what is said of it.
@Suite struct CredentialFileTests {
    private func text(_ text: String) -> SharedSecret {
        SharedSecret(Secret(copying: Array(text.utf8).span))
    }

    private func open(_ secret: borrowing Secret) -> String {
        String(decoding: (0..<secret.count).map { secret.span[$0] }, as: UTF8.self)
    }

    private func secrets(_ kind: CredentialFile.Kind, _ source: String) -> [String] {
        CredentialFile(kind, text(source)).entries.map { open($0.secret.secret) }
    }

    private func remaining(_ kind: CredentialFile.Kind, _ source: String) -> String {
        let source = text(source)
        return open(
            CredentialFile.remaining(of: source, without: CredentialFile(kind, source).entries))
    }

    @Test(arguments: [
        ("https://u:p@h", ["p"], ""),
        ("https://u:p@h\r\nhttps://u:q@h/\r\n", ["p", "q"], ""),
        ("\n\nhttps://u:p@h\n\n", ["p"], "\n\n\n"),
        ("https://u:%70%40%25%00%4@h", ["p@%%00%4"], ""),
        ("https://u:a:b@h", ["a:b"], ""),
        ("https://:@h\n", [""], ""),
        ("no", [], "no"),
        ("https://u@h\n", [], "https://u@h\n"),
        ("https://h/u:p@x", [], "https://h/u:p@x"),
        ("://u:p@h", [], "://u:p@h"),
        ("https://u:p@", [], "https://u:p@"),
        ("https://u%0Av:p@h", [], "https://u%0Av:p@h"),
        ("https://u:p%0a@h", [], "https://u:p%0a@h"),
        ("cert://u:p@/path", ["p"], ""),
    ])
    func gitsLines(_ source: String, _ wanted: [String], _ left: String) {
        #expect(secrets(.git, source) == wanted)
        #expect(remaining(.git, source) == left)
        #expect(CredentialFile(.git, text(source)).remarks.isEmpty == !wanted.isEmpty)
    }

    @Test func gitsItemIsTheHelpers() throws {
        let entry = try #require(CredentialFile(.git, text("https://a%20b:p@h:8080/x//")).entries.first)
        var wanted = Attributes()
        wanted["Class"] = .text("internet-password")
        wanted["Protocol"] = .text("https")
        wanted["Server"] = .text("h")
        wanted["Port"] = .number(8080)
        wanted["Path"] = .text("x")
        wanted["Account"] = .text("a b")
        #expect(entry.attributes == wanted)
        #expect(entry.place == "line 1")
    }

    @Test(arguments: [
        ("machine m login l password p", ["p"], ""),
        ("machine m password p\nmachine n password q # c\n", ["p", "q"], "    # c\n"),
        ("machine\nm\nuser\nl\npassword\np\n", ["p"], ""),
        ("machine m password \"\"\n", [""], ""),
        ("machine m password \"a b\\\"\\\\\"\n", ["a b\"\\"], ""),
        ("machine m password a\\ b\n", ["a b"], ""),
        ("machine m password #p\n#machine n password q\n", ["#p"], "#machine n password q\n"),
        ("machine m login l\n", [], "machine m login l\n"),
        ("default login l password p\n", [], "default login l password p\n"),
        ("machine m password p password q\n", [], "machine m password p password q\n"),
        ("machine m password p account a\n", [], "machine m password p account a\n"),
        ("machine m password", [], "machine m password"),
        ("machine m password \"p", [], "machine m password \"p"),
        (
            "machine m password p\nmacdef x\nmachine n password q\n\n", [],
            "machine m password p\nmacdef x\nmachine n password q\n\n"
        ),
        ("macdef x\nput\n\nmachine m password p\n", ["p"], "macdef x\nput\n\n"),
        ("macdef x", [], "macdef x"),
        ("login l password p", [], "login l password p"),
    ])
    func netrcsMachines(_ source: String, _ wanted: [String], _ left: String) {
        #expect(secrets(.netrc, source) == wanted)
        #expect(remaining(.netrc, source) == left)
    }

    @Test func whatNetrcHasNoItemForIsNoMistake() {
        let file = CredentialFile(.netrc, text("macdef x\n\ndefault password p\nmachine m login l"))
        #expect(file.remarks.map(\.isMistake) == [false, false, false])
        #expect(CredentialFile(.netrc, text("machine m word")).remarks.map(\.isMistake) == [true])
    }

    @Test(arguments: [
        (#"{"auths":{"r":{"auth":"dTpw"}}}"#, ["p"], #"{"auths":{"r":{}}}"#),
        (#"{"auths":{"r":{"auth":"dTpwOnE="}}}"#, ["p:q"], #"{"auths":{"r":{}}}"#),
        (#"{"auths":{"r":{"email":"e","auth":"dTpw"}}}"#, ["p"], #"{"auths":{"r":{"email":"e"}}}"#),
        (#"{"auths":{"r":{"auth":"dTpw","email":"e"}}}"#, ["p"], #"{"auths":{"r":{"email":"e"}}}"#),
        (
            #"{"auths":{"r":{"a":1,"auth":"dTpw","b":2,"identitytoken":"t"}}}"#, ["t"],
            #"{"auths":{"r":{"a":1,"b":2}}}"#
        ),
        (#"{"auths":{"r":{"username":"u","password":"p"}}}"#, ["p"], #"{"auths":{"r":{}}}"#),
        (#"{"auths":{"r":{}}}"#, [], #"{"auths":{"r":{}}}"#),
        (#"{"auths":{"r":{"auth":"bm8="}}}"#, [], #"{"auths":{"r":{"auth":"bm8="}}}"#),
        (#"{"auths":{"r":{"auth":"d*=="}}}"#, [], #"{"auths":{"r":{"auth":"d*=="}}}"#),
        (#"{"auths":{"r":{"auth":1}}}"#, [], #"{"auths":{"r":{"auth":1}}}"#),
        (
            #"{"auths":{"r":{"auth":"dTpw","auth":"dTpw"}}}"#, [],
            #"{"auths":{"r":{"auth":"dTpw","auth":"dTpw"}}}"#
        ),
        (#"{"auths":{"r":{"auth":"dTpw"}}"#, [], #"{"auths":{"r":{"auth":"dTpw"}}"#),
        ("{}", [], "{}"),
    ])
    func dockersEntries(_ source: String, _ wanted: [String], _ left: String) {
        #expect(secrets(.docker, source) == wanted)
        #expect(remaining(.docker, source) == left)
    }

    @Test func dockersItemIsTheHelpers() throws {
        let file = CredentialFile(
            .docker, text(#"{"auths":{"r":{"auth":"dTpw"}},"credsStore":"chatelaine"}"#))
        let entry = try #require(file.entries.first)
        let credentials = DockerCredentials(
            serverURL: "r", username: "u", secret: SecretSlice(text("p")))
        #expect(entry.attributes == credentials.item)
        #expect(entry.place == "entry 1 of auths")
        #expect(file.remarks.isEmpty)
        let other = CredentialFile(.docker, text(#"{"credsStore":"desktop","credHelpers":{"a":"b"}}"#))
        #expect(other.remarks.map(\.isMistake) == [false, false])
    }

    @Test(arguments: [CredentialFile.Kind.git, .netrc, .docker])
    func whateverIsInAFileNothingOfItIsLostOrMixedUp(_ kind: CredentialFile.Kind) {
        let seeds = [
            "https://u:%70@h:1/p\r\n\nx\n",
            "machine m login \"a b\" password p\\ q # c\nmacdef i\nx\n\ndefault\n",
            #"{"auths":{"r":{"auth":"dTpw","email":"e"},"s":{"identitytoken":"t\u0041"}},"credsStore":"x"}"#,
        ]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1500 {
            var bytes = Array((seeds.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
                default: bytes.insert(contentsOf: bytes[..<place].suffix(8), at: place)
                }
            }
            let source = SharedSecret(Secret(copying: bytes.span))
            let file = CredentialFile(kind, source)
            #expect(open(CredentialFile.remaining(of: source, without: [])) == open(source.secret))
            // What is left has nothing to be moved any more, and the same faults.
            let left = SharedSecret(CredentialFile.remaining(of: source, without: file.entries))
            let again = CredentialFile(kind, left)
            #expect(again.entries.isEmpty)
            #expect(again.remarks.count == file.remarks.count)
        }
    }

    @Test func remarksSayNothingOfWhatStandsThere() {
        let sources: [(CredentialFile.Kind, String)] = [
            (.git, "https://Zebra@Zebra"), (.netrc, "machine Zebra Zebra"),
            (.netrc, "machine Zebra password \"Zebra"),
            (.netrc, "Zebra"), (.docker, #"{"auths":{"Zebra":{"auth":"Zebra"}}}"#),
            (.docker, #"{"Zebra":Zebra"#),
        ]
        for (kind, source) in sources {
            let file = CredentialFile(kind, text(source))
            #expect(!file.remarks.isEmpty && file.entries.isEmpty)
            #expect(!file.remarks.contains { $0.text.contains("Zebra") })
        }
    }
}
