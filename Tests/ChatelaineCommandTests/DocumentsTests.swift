import BrokerModel
import Foundation
import TestKit
import Testing

@testable import ChatelaineCommand

/// The manual page and the completions say what the parser's tables say.
@Suite struct DocumentsTests {
    private let options = Set(Option.allCases.map(\.name))
    private let firstWords = Set(Verb.allCases.map { String($0.words[0]) })

    @Test func theManualPageHasEveryVerbWithItsOptions() throws {
        let page = try ManualPage()
        #expect(Set(page.verbs.keys) == Set(Verb.allCases.map(\.rawValue)))
        for verb in Verb.allCases {
            let documented = try #require(page.verbs[verb.rawValue])
            let taken = Set(verb.options)
            let common = documented.takesItemOptions ? page.itemOptions.intersection(taken) : []
            #expect(documented.options.union(common) == taken, "\(verb.rawValue)")
            #expect(documented.takesItemOptions == taken.isSuperset(of: Option.item), "\(verb.rawValue)")
        }
    }

    @Test func theManualPageHasEveryOption() throws {
        let page = try ManualPage()
        #expect(page.globalOptions == Set(Option.global))
        #expect(page.itemOptions == Set(Option.item + [.reference, .expires, .freshUntil]))
        #expect(page.optionsAnywhere == options)
    }

    @Test func theManualPageHasEveryExitStatus() throws {
        let section = try ManualPage().section("EXIT STATUS")
        for code in 0...5 { #expect(section.contains("\n.It \(code)\n")) }
        #expect(!section.contains("\n.It 6\n") && ExitCode(rawValue: 6) == nil)
        let kinds = [
            "ItemNotFound": 1, "NoSuchClass": 2, "AuthFailed": 3, "InteractionNotAllowed": 4, "IO": 5,
        ]
        for (name, code) in kinds {
            #expect(ExitCode(Refusal.Kind(rawValue: name)).rawValue == Int32(code), "\(name)")
        }
    }

    @Test func bashOffersWhatTheParserTakes() async throws {
        let globals = Set(Option.global.map(\.name))
        #expect(try await bash([""]) == globals.union(firstWords))
        #expect(try await bash(["passcode", ""]) == ["set", "change", "remove"])
        #expect(try await bash(["recovery", ""]) == ["create", "remove", "use"])
        #expect(try await bash(["recovery", "create", "--"]) == ["--discard-old"])
        #expect(try await bash(["recovery", "use", "--"]) == ["--lose"])
        #expect(try await bash(["policy", ""]) == ["check", "explain", "reload"])
        #expect(try await bash(["import", ""]) == ["secret-service", "git", "netrc", "docker"])
        let imports = Set(Verb.importSecretService.options.map(\.name)).union(["--replace=newer"])
        #expect(try await bash(["import", "secret-service", "--"]) == imports)
        #expect(try await bash(["secret-service", ""]) == ["status", "on", "off"])
        #expect(try await bash(["--json", "--address", "x", "watch", "--"]) == ["--group"])
        for verb in Verb.allCases where verb.words.count == 1 {
            var expected = Set(verb.options.map(\.name))
            if verb.options.contains(.reference) { expected.insert("--synchronizable=any") }
            #expect(try await bash([verb.rawValue, "--"]) == expected, "\(verb.rawValue)")
        }
    }

    @Test func bashOffersTheClasses() async throws {
        let classes = try await bash(["set", "--class", ""])
        #expect(classes == ["generic-password", "internet-password"])
        #expect(try await bash(["get", "--accessible", ""]).count == 5)
    }

    @Test func zshKnowsTheSameVerbsAndOptions() throws {
        let text = try Self.read("docs/completions/_chatelaine")
        #expect(Set(text.matches(of: /--([a-z-]+)[=\[]/).map { "--\($0.1)" }) == options)
        let verbs = try #require(text.firstMatch(of: /local -a verbs=\(([^)]*)\)/)).1
        #expect(Set(verbs.matches(of: /['"]([a-z-]+):/).map { String($0.1) }) == firstWords)
        for verb in Verb.allCases where verb.words.count == 2 { #expect(text.contains(verb.words[1])) }
    }

    @Test func fishKnowsTheSameVerbsAndOptions() throws {
        let text = try Self.read("docs/completions/chatelaine.fish")
        #expect(Set(text.matches(of: /(?m)^complete .* -l ([a-z-]+)/).map { "--\($0.1)" }) == options)
        let verbs = text.matches(of: /__chatelaine_no_verb -a ([a-z-]+)/).map { String($0.1) }
        #expect(Set(verbs) == firstWords)
        for verb in Verb.allCases where verb.words.count == 2 {
            let words = try #require(text.firstMatch(of: try Regex("only \(verb.words[0])' -a '([a-z -]+)'")))
            #expect(words[1].substring?.split(separator: " ").contains(verb.words[1]) == true)
        }
    }

    // What bash would show for the words after `chatelaine`, of which the last is being typed.
    private func bash(_ words: [String]) async throws -> Set<String> {
        let line = (["chatelaine"] + words).map { "'\($0)'" }.joined(separator: " ")
        let script = """
            source '\(Self.root)/docs/completions/chatelaine.bash'
            COMP_WORDS=(\(line)); COMP_CWORD=\(words.count)
            _chatelaine
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let shell = try await ChildProcess.start(["bash", "--norc", "-c", script])
        let output = try await within("bash") { await shell.output.rest() }
        return Set(output.split(separator: "\n").map { String($0) })
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    static func read(_ path: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }
}

/// What chatelaine(1) says, as far as a test can read mdoc.
private struct ManualPage {
    let text: String

    struct VerbEntry {
        let options: Set<Option>
        let takesItemOptions: Bool
    }

    init() throws { text = try DocumentsTests.read("docs/man/chatelaine.1") }

    func section(_ title: String) throws -> Substring {
        let start = try #require(text.range(of: ".Sh \(title)\n"))
        let rest = text[start.upperBound...]
        return rest[..<(rest.range(of: "\n.Sh ")?.lowerBound ?? rest.endIndex)]
    }

    /// By the words of each `.It Cm` line of the section of the verbs.
    var verbs: [String: VerbEntry] {
        var verbs: [String: VerbEntry] = [:]
        for line in (try? section("VERBS").split(separator: "\n")) ?? [] where line.hasPrefix(".It Cm ") {
            let words = line.dropFirst(7).split(separator: " ")
            let name = words.prefix { !["Oo", "Op", "Ar", "Fl"].contains($0) }.joined(separator: " ")
            verbs[name] = VerbEntry(
                options: Self.options(line), takesItemOptions: line.contains("item-option"))
        }
        return verbs
    }

    var globalOptions: Set<Option> { headings("OPTIONS") }

    var itemOptions: Set<Option> { headings("ITEM OPTIONS") }

    var optionsAnywhere: Set<String> { Set(text.matches(of: /Fl -([a-z-]+)/).map { "--\($0.1)" }) }

    private func headings(_ title: String) -> Set<Option> {
        let joined = (try? section(title).replacing("\\\n", with: "")) ?? ""
        return joined.split(separator: "\n").filter { $0.hasPrefix(".It Fl ") }
            .reduce(into: []) { $0.formUnion(Self.options($1)) }
    }

    private static func options(_ line: Substring) -> Set<Option> {
        Set(line.matches(of: /Fl -([a-z-]+)/).compactMap { Option(rawValue: String($0.1)) })
    }
}
