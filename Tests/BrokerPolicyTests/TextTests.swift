import BrokerModel
import BrokerPolicy
import Testing

/// What stands below the policy's meaning: bytes, lines, comments.
struct TextTests {
    private func lines(_ bytes: [UInt8]) -> [String] {
        let file = PolicyFile(path: "policy.conf", contents: bytes, origin: .system)
        do throws(PolicyErrors) {
            _ = try PolicyText(file)
            return []
        } catch {
            return error.lines
        }
    }

    private static let misfits: [(bytes: [UInt8], line: String)] = [
        (bytes("[Manager]\nExecu\0table=/a\n"), "2: A NUL byte has no place in a policy. (column 6)"),
        (bytes("[Manager]\n\n# bell \u{7}\n"), "3: A control character has no place in a policy. (column 8)"),
        (bytes("[Manager]\nKey=/a\rb\n"), "2: A control character has no place in a policy. (column 7)"),
        (bytes("[Manager]\u{7f}"), "1: A control character has no place in a policy. (column 10)"),
        (bytes("# a\n# ", [0xc3, 0x28]), "2: The line is not valid UTF-8."),
        (bytes("", [0xff, 0xfe, 0x41]), "1: The line is not valid UTF-8."),
        (bytes("[Manager]\n# ", [0xed, 0xa0, 0x80]), "2: The line is not valid UTF-8."),
    ]

    private static func bytes(_ text: String, _ more: [UInt8] = []) -> [UInt8] { Array(text.utf8) + more }

    @Test(arguments: misfits)
    func aByteThatHasNoPlaceIsToldWithItsLine(_ bytes: [UInt8], _ expected: String) {
        #expect(lines(bytes) == ["policy.conf:\(expected)"])
    }

    @Test func aFileOverTheLimitIsRefusedUnread() {
        let largest = [UInt8](repeating: 0x23, count: Limits.policyFileBytesMax)
        #expect(lines(largest) == [])
        #expect(lines(largest + [0]) == ["policy.conf:1: The file is larger than 1048576 bytes."])
    }

    @Test func linesEndInLineFeedOrInBoth() throws {
        let text = try PolicyText(PolicyFile("[A b]\r\nKey=value\r\n\r\nOther=x\n[C]"))
        #expect(text.sections.map(\.line) == [1, 5])
        #expect(text.sections[0].entries.map(\.value) == ["value", "x"])
        #expect(text.sections[0].entries.map(\.line) == [2, 4])
    }

    @Test func nothingGoesOnInTheNextLine() throws {
        let text = try PolicyText(PolicyFile("[A]\nKey=value\\\nOther=x"))
        #expect(text.sections[0].entries.map(\.value) == ["value\\", "x"])
    }

    @Test func aValueKeepsItsInnerSpaceAndItsOtherSigns() throws {
        let text = try PolicyText(PolicyFile("[A]\nKey = a  b=c#d;e \t# comment = none"))
        #expect(text.sections[0].entries.map(\.value) == ["a  b=c#d;e"])
    }

    @Test func whatFollowsAnUnreadableHeaderBelongsToNoSection() {
        let text = Array("[A]\nKey=1\n[B\nKey=2\n[C]\nKey=3".utf8)
        #expect(lines(text) == ["policy.conf:3: A section's header ends with ']'."])
        #expect(lines(Array("[B\nKey=2".utf8)) == ["policy.conf:1: A section's header ends with ']'."])
    }

    @Test func aFileOfErrorsHasAnEnd() {
        let text = Array(String(repeating: "nonsense\n", count: 5_000).utf8)
        #expect(lines(text).count == 100)
    }

    @Test func aMessageCannotSteerATerminal() throws {
        let file = PolicyFile("[A\u{9b}31m\u{202e}]", path: "evil\n\u{1b}[2J.conf")
        let error = #expect(throws: PolicyErrors.self) {
            _ = try Policy.load([file], environment: .fixture(isSystem: false))
        }
        let line = try #require(error?.lines.first)
        #expect(line.hasPrefix("evil\\u{a}\\u{1b}[2J.conf:1: 'A\\u{9b}31m\\u{202e}' is no section"))
    }

    @Test func aLongValueIsCutInTheMessage() throws {
        let file = PolicyFile("[Application a]\nRole=\(String(repeating: "x", count: 100_000))")
        let error = #expect(throws: PolicyErrors.self) {
            _ = try Policy.load([file], environment: .fixture(isSystem: false))
        }
        #expect(try #require(error?.lines.first).utf8.count < 300)
    }
}
