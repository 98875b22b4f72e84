import BrokerModel
import Chatelaine
import Console
import Sodium
import Testing

@testable import ChatelaineCommand

@Suite struct OutputTests {
    @Test(arguments: [
        ("2030-01-31T12:00:00Z", 1_896_091_200_000_000), ("1970-01-01T00:00:00Z", 0),
        ("2024-02-29t23:59:59z", 1_709_251_199_000_000), ("2026-11-30T03:12:25.5Z", 1_796_008_345_500_000),
        ("2026-11-30 04:12:25+01:00", 1_796_008_345_000_000),
        ("2026-11-29T22:42:25-04:30", 1_796_008_345_000_000),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000_000),
        ("2000-02-29T00:00:00.123456789Z", 951_782_400_123_456),
    ])
    func momentsAreRead(text: String, expected: UInt64) {
        #expect(Moment.parse(text, now: 7) == expected)
    }

    @Test func durationsCountFromNow() {
        #expect(Moment.parse("90s", now: 5) == 90_000_005)
        #expect(Moment.parse("2min", now: 0) == 120_000_000)
        #expect(Moment.parse("8h", now: 0) == 28_800_000_000)
        #expect(Moment.parse("1d", now: 0) == 86_400_000_000)
        #expect(Moment.parse("2w", now: 0) == 1_209_600_000_000)
    }

    @Test(arguments: [
        "", "8", "h", "8m", "8 h", "-8h", "1.5h", "99999999999999999999h", "9999999999999w", "tomorrow",
        "2030-01-31", "2030-13-01T00:00:00Z", "2030-02-29T00:00:00Z", "2030-01-31T24:00:00Z",
        "2030-01-31T12:60:00Z", "2030-01-31T12:00:00", "1969-12-31T23:59:59Z", "2030-01-31T12:00:00Zx",
        "٢٠٣٠-01-31T12:00:00Z", "٨h",
    ])
    func whatIsNoMomentIsRefused(text: String) {
        #expect(Moment.parse(text, now: 0) == nil)
    }

    @Test func everyDayComesBackAsItWas() {
        // Four centuries and the turns of their years, in steps that meet every day of the month.
        for day in stride(from: UInt64(0), to: 160_000, by: 13) {
            let moment = (day * 86_400 + 3_723) * 1_000_000
            #expect(Moment.parse(Moment.text(moment), now: 0) == moment)
        }
        #expect(Moment.text(1_709_251_199_999_999) == "2024-02-29T23:59:59Z")
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64IsThatOfTheStandard(plain: String, expected: String) {
        #expect(Base64.text(Array(plain.utf8)) == expected)
        let secret = Base64.text(Secret(copying: Array(plain.utf8).span))
        #expect(bytes(secret) == Array(expected.utf8))
    }

    @Test func base64KnowsEveryBit() {
        #expect(Base64.text([0xFF, 0xEF, 0xBE, 0x00]) == "/+++AA==")
    }

    @Test func jsonEscapesWhatItMust() {
        let json = JSON.object([
            JSON.Member("a\"", .string("\\ \n\r\t\u{0}\u{1B}\u{7F}\u{9B}é€")),
            JSON.Member("b", .number(UInt64.max)),
            JSON.Member("c", .array([.flag(true), .object([])])),
        ])
        #expect(
            json.text
                == #"{"a\"":"\\ \n\r\t\u0000\u001b\u007f\u009bé€","b":18446744073709551615,"c":[true,{}]}"#)
    }

    @Test func tablesAreAlignedAndLeaveEmptyColumnsOut() {
        var table = Table(["ONE", "TWO", "THREE"])
        table.add(["a", "", "long"])
        table.add(["bcdef", "", "c"])
        #expect(table.text(Style(isColoured: false)) == "ONE    THREE\na      long\nbcdef  c\n")
    }

    @Test func cellsCannotSteerATerminal() {
        var table = Table(["A", "B"])
        table.add(["\u{1B}[31m", "x\ny\u{202E}"])
        let text = table.text(Style(isColoured: false))
        #expect(text == "A           B\n\\u{1b}[31m  x\\u{a}y\\u{202e}\n")
    }

    @Test func coloursTakeNoWidth() {
        var fields = Fields()
        fields.add("A", "good", .good)
        fields.add("Long", ["x", "y"])
        #expect(fields.text(Style(isColoured: false)) == "A     good\nLong  x\n      y\n")
        #expect(
            fields.text(Style(isColoured: true))
                == "\u{1B}[1mA\u{1B}[0m     \u{1B}[32mgood\u{1B}[0m\n\u{1B}[1mLong\u{1B}[0m  x\n      y\n")
    }

    @Test func attributesKeepTheirTypesInJSON() {
        var attributes = Attributes()
        attributes["Service"] = .text("a")
        attributes["Account"] = .bytes([0, 255])
        attributes["Port"] = .number(1)
        attributes["Synchronizable"] = .flag(false)
        attributes["Expires"] = .counter(1_000_000)
        attributes["AccessControl"] = .accessControl(protection: "when-unlocked", flags: ["user-presence"])
        #expect(
            attributes.json.text == #"{"Service":"a","Account":{"Base64":"AP8="},"Port":1,"#
                + #""Synchronizable":false,"Expires":1000000,"#
                + #""AccessControl":{"Protection":"when-unlocked","Flags":["user-presence"]}}"#)
        #expect(attributes.text(of: "Account") == "base64:AP8=")
        #expect(attributes.text(of: "Expires") == "1970-01-01T00:00:01Z")
        #expect(attributes.text(of: "AccessControl") == "when-unlocked user-presence")
    }

    @Test func theSecondEntryOfAKeyReplacesTheFirst() {
        var attributes = Attributes()
        attributes["A"] = .number(1)
        attributes["B"] = .number(2)
        attributes["A"] = .number(3)
        attributes["B"] = nil
        #expect(attributes.entries.map(\.key) == ["A"] && attributes["A"] == .number(3))
    }
}
