import Testing

@testable import BrokerPolicy

struct GlobTests {
    private static let patterns: [(pattern: String, candidate: String, fits: Bool)] = [
        ("/usr/bin/python3*", "/usr/bin/python3", true),
        ("/usr/bin/python3*", "/usr/bin/python3.11", true),
        ("/usr/bin/python3*", "/usr/bin/python2", false),
        ("/usr/bin/python3*", "/usr/bin/python3/evil", false),
        ("/usr/*/java", "/usr/lib/jvm/java", false),
        ("/usr/*/*/java", "/usr/lib/jvm/java", true),
        ("*", "", true), ("*", "a/b", false), ("", "", true), ("", "a", false),
        ("a?c", "abc", true), ("a?c", "a/c", false), ("a?c", "ac", false),
        ("*a*b*", "xxaxxbxx", true), ("*a*b*", "xxbxxaxx", false), ("*ab", "aab", true), ("a*", "ba", false),
        ("[ab]*.service", "b.service", true), ("[ab]*.service", "c.service", false),
        ("[0-9]", "5", true), ("[!0-9]", "5", false), ("[!0-9]", "x", true), ("[!0-9]", "/", false),
        ("[]]", "]", true), ("[a-]", "-", true), ("[-a]", "-", true), ("[!]]", "]", false),
        ("dev-disk-by\\x2dlabel.mount", "dev-disk-by\\x2dlabel.mount", true),
        ("a\\*", "a*", false), ("a\\*", "a\\b", true),
    ]

    @Test(arguments: patterns)
    func aPatternFitsTheWholeOrNotAtAll(_ pattern: String, _ candidate: String, _ fits: Bool) throws {
        #expect(try Glob(pattern).matches(candidate) == fits)
    }

    @Test(arguments: ["[", "[a", "[]", "[!", "[!]", "a[b-", "[z-a]"])
    func aBrokenSetIsRefused(_ pattern: String) {
        #expect(throws: ValueError.self) { try Glob(pattern) }
    }

    /// A matcher that tries every star again for every other would not come back from this.
    @Test func manyStarsTakeNoLonger() throws {
        let glob = try Glob(String(repeating: "*a", count: 5_000) + "b")
        #expect(!glob.matches(String(repeating: "a", count: 10_000)))
    }
}
