import Sodium
import Testing

@testable import CredentialProtocols

/// What docker's JSON may look like, and what it may not.
@Suite struct JSONReaderTests {
    private func read(_ text: String) throws -> [String: String] {
        let secret = SharedSecret(Secret(copying: Array(text.utf8).span))
        return try JSONReader.strings(["A", "B"], of: secret).mapValues {
            String(decoding: $0.openBytes, as: UTF8.self)
        }
    }

    @Test(arguments: [
        (#"{"A":"x"}"#, ["A": "x"]),
        (" {\n\"B\" : \"\" ,\t\"A\":\"y\" } \r\n", ["A": "y", "B": ""]),
        (#"{"A":"\"\\\/\b\f\n\r\t"}"#, ["A": "\"\\/\u{8}\u{C}\n\r\t"]),
        (#"{"A":"\u003ctoken\u003E"}"#, ["A": "<token>"]),
        (#"{"A":"\u00e9\uD83D\uDE00\u0000é"}"#, ["A": "é😀\0é"]),
        (#"{"C":[1,-0.5e+3,{"A":"no"},[],{},true,false,null],"A":"x"}"#, ["A": "x"]),
        ("{}", [:]),
    ])
    func itReadsWhatItIsAskedFor(_ text: String, _ wanted: [String: String]) throws {
        #expect(try read(text) == wanted)
    }

    @Test(arguments: [
        "", "{", "[]", #""A""#, #"{"A":"x""#, #"{"A":"x"}}"#, #"{"A":"x",}"#, #"{"A":"x" "B":"y"}"#,
        #"{"A":1}"#, #"{"A":null}"#, #"{"A":"x","A":"y"}"#, #"{A:"x"}"#, #"{"A":"\x"}"#, #"{"A":"\u12"}"#,
        #"{"A":"\uD800"}"#, #"{"A":"\uDC00"}"#, #"{"A":"\uD800\u0041"}"#, "{\"A\":\"\n\"}", #"{"A":"x\"}"#,
        #"{"C":01}"#, #"{"C":+1}"#, #"{"C":.5}"#, #"{"C":tru}"#, #"{"C":[1,]}"#, #"{"A":"\"#,
        "{\"C\":" + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}",
    ])
    func itRefusesWhatIsNoObjectOfStrings(_ text: String) {
        #expect(throws: JSONReader.Mistake.self) { try read(text) }
    }

    @Test func whatItWritesItReads() throws {
        let text = String(String.UnicodeScalarView((0...0x7F).map { Unicode.Scalar(UInt8($0)) })) + "é😀"
        let slice = SecretSlice(SharedSecret(Secret(copying: Array(text.utf8).span)))
        let escaped = String(
            decoding: SecretSlice(SharedSecret(slice.escapedForJSON())).openBytes, as: UTF8.self)
        #expect(try read("{\"A\":\"\(escaped)\"}") == ["A": text])
    }
}
