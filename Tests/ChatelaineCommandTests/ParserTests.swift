import Chatelaine
import Console
import Testing

@testable import ChatelaineCommand

@Suite struct ParserTests {
    @Test func aVerbStandsAlone() throws {
        #expect(try parse("status") == Invocation(.status))
        #expect(try parse("passcode change") == Invocation(.passcodeChange))
    }

    @Test func globalOptionsStandBeforeTheVerb() throws {
        let invocation = try parse("--json --address=unix:path=/a,guid=b clients")
        #expect(invocation.isJSON)
        #expect(invocation.endpoint == .address("unix:path=/a,guid=b"))
        #expect(try parse("--system status").endpoint == .system)
        #expect(try parse("--user status").endpoint == .user)
    }

    @Test func aValueIsInTheNextWordOrBehindAnEqualsSign() throws {
        let spaced = try parse("get --service a --account b")
        #expect(spaced == (try parse("get --service=a --account=b")))
        #expect(spaced[.service] == "a" && spaced[.account] == "b")
        #expect(try parse("get --service=a=b")[.service] == "a=b")
        #expect(try parse("get --service=")[.service] == "")
    }

    @Test func aValueMayLookLikeAnOption() throws {
        #expect(try parse("get --service --account")[.service] == "--account")
        #expect(try parse("get --service --")[.service] == "--")
    }

    @Test func allWordsAreOperandsAfterTwoDashes() throws {
        #expect(try parse("policy check -- --odd").operands == ["--odd"])
        #expect(try parse("policy explain - a").operands == ["-", "a"])
    }

    @Test func anOptionalValueStandsOnlyBehindAnEqualsSign() throws {
        #expect(try parse("list --synchronizable")[.synchronizable] == "")
        #expect(try parse("list --synchronizable=any")[.synchronizable] == "any")
        #expect(refusal("list --synchronizable=no")?.contains("no value but 'any'") == true)
        #expect(refusal("list --synchronizable any")?.contains("a word too many") == true)
    }

    @Test func onlyWatchTakesAnOptionTwice() throws {
        #expect(try parse("watch --group a --group b").all(.group) == ["a", "b"])
        #expect(refusal("get --service a --service b")?.contains("given twice") == true)
    }

    @Test func helpIsGivenAnywhere() throws {
        #expect(try request("--help") == .help(nil))
        #expect(try request("--json --help get") == .help(nil))
        #expect(try request("get --service x --help") == .help(.get))
        #expect(try request("passcode --help") == .help(nil))
        #expect(try request("--version") == .version)
    }

    @Test(arguments: [
        ("", "a verb is missing"), ("--json", "a verb is missing"), ("frob", "no verb 'frob'"),
        ("passcode", "one of set, change, remove"), ("policy frob", "one of check, explain, reload"),
        ("--frob status", "no option --frob"), ("get --frob", "no option --frob"),
        ("get --limit 1", "--limit is not for get"), ("set --reference a", "--reference is not for set"),
        ("get --json", "--json stands before the verb"), ("--service a get", "--service stands after"),
        ("get --service", "--service needs a value: TEXT"), ("--address", "--address needs a value: ADDRESS"),
        ("delete --all=yes", "--all takes no value"), ("--system --user status", "is enough"),
        ("--address a --address b status", "is enough"), ("status now", "'now' is a word too many"),
        ("policy explain", "PROCESS|CONNECTION is missing"), ("policy explain 1", "GROUP is missing"),
        ("policy check a b", "'b' is a word too many"),
    ])
    func whatMakesNoSenseIsSaidSo(line: String, expected: String) {
        let text = refusal(line)
        #expect(text?.contains(expected) == true, "\(line): \(text ?? "taken")")
    }

    @Test(arguments: ["set hunter2", "set -hunter2", "unlock hunter2", "passcode set hunter2"])
    func whatMayBeASecretIsNotRepeated(line: String) throws {
        let text = try #require(refusal(line))
        #expect(!text.contains("hunter2"))
    }

    @Test func aWordThatCouldSteerATerminalIsMadeHarmless() {
        #expect(refusal("\u{1B}[2J")?.contains("\u{1B}") == false)
        #expect(refusal("--\u{1B}[2J")?.contains("\u{1B}") == false)
    }

    @Test func everyMistakeIsUsage() {
        #expect(throws: Failure.self) { try request("frob") }
        do throws(Failure) {
            _ = try request("get --frob")
        } catch {
            #expect(error.code == .usage && error.text.hasSuffix("; see chatelaine get --help"))
        }
    }

    @Test func everyVerbHasHelp() {
        for verb in Verb.allCases {
            let text = Help.text(for: verb)
            #expect(text.hasPrefix("Usage: chatelaine"))
            for option in verb.options { #expect(text.contains(option.form)) }
            #expect(Help.text(for: nil).contains("  \(verb.rawValue) "))
        }
    }

    private func request(_ line: String) throws(Failure) -> Request {
        try Request.parse(line.split(separator: " ").map { String($0) })
    }

    private func parse(_ line: String) throws -> Invocation {
        guard case .run(let invocation) = try request(line) else { throw Failure(.failed, "no verb") }
        return invocation
    }

    private func refusal(_ line: String) -> String? {
        do throws(Failure) {
            _ = try request(line)
            return nil
        } catch {
            return error.text
        }
    }
}
