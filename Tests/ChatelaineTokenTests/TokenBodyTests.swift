import Chatelaine
import Sodium
import Testing

@testable import ChatelaineHTTP

/// A token server's answer, read strictly.
@Suite struct TokenBodyTests {
    private func response(_ body: String) -> TokenResponse? { TokenBody(secret(body))?.response }

    @Test func aResponseIsRead() throws {
        let found = try #require(
            response(
                #"{"access_token":"AT","token_type":"Bearer","expires_in":3600,"refresh_token":"RT","scope":"a b"}"#
            ))
        #expect(text(found.accessToken) == "AT" && text(found.refreshToken) == "RT")
        #expect(found.tokenType == "Bearer" && found.scope == "a b" && found.lifetime == 3_600)
    }

    @Test func whatServersAddIsPassedOver() throws {
        let found = try #require(
            response(
                #"""
                 { "x" : [ 1 , -2.5e+3 , { "y" : [ ] , "access_token" : "no" } , "\"]}\u00e9" ] , "t":true, "f" : false,
                "access_token" : "A\/\u0054" , "refresh_token" : null, "id_token":"\ud83d\ude00", "token_type":"b"}
                """#))
        #expect(text(found.accessToken) == "A/T" && found.refreshToken == nil && found.lifetime == nil)
    }

    /// GitHub answers with `"scope":""`.
    @Test func whatIsEmptyIsNotThere() throws {
        let found = try #require(
            response(#"{"access_token":"AT","token_type":"bearer","refresh_token":"","scope":""}"#))
        #expect(found.refreshToken == nil && found.scope == nil)
    }

    @Test(
        arguments: zip(
            ["60", "\"60\"", "60.9", "0", "null", "18446744073709551615"], [60, 60, 60, 0, nil, .max]))
    func aLifetimeIsRead(written: String, seconds: UInt64?) throws {
        let body = #"{"access_token":"a","token_type":"b","expires_in":\#(written)}"#
        #expect(try #require(response(body)).lifetime == seconds)
    }

    @Test(arguments: [
        "-1", "1e3", "01", "+1", "1.", ".5", "", "\"\"", "\"6", "\"x\"", "true", "[]", "18446744073709551616",
        "0x10",
    ])
    func aLifetimeThatIsNoneIsUnreadable(written: String) {
        #expect(response(#"{"access_token":"a","token_type":"b","expires_in":\#(written)}"#) == nil)
    }

    @Test(arguments: [
        "", " ", "null", "[]", "\"a\"", "{", "{}", "{}}", "{,}", #"{"access_token":"a"}"#,
        #"{"token_type":"b"}"#,
        #"{"access_token":"a","token_type":"b",}"#, #"{"access_token":"a" "token_type":"b"}"#,
        #"{"access_token":"a","token_type":"b"} x"#, #"{'access_token':'a','token_type':'b'}"#,
        #"{"access_token":"a","token_type":"b","access_token":"c"}"#,
        #"{"access_token":1,"token_type":"b"}"#, #"{"access_token":"","token_type":"b"}"#,
        #"{"access_token":"a\r\nX: y","token_type":"b"}"#, #"{"access_token":"a\u0000","token_type":"b"}"#,
        #"{"access_token":"\u00e9","token_type":"b"}"#,
        #"{"access_token":"a","token_type":"b","scope":"\n"}"#,
        #"{"access_token":"\x","token_type":"b"}"#, #"{"access_token":"\u12","token_type":"b"}"#,
        #"{"access_token":"\ud800","token_type":"b"}"#, #"{"access_token":"\ud800\u0041","token_type":"b"}"#,
        #"{"access_token":"\udc00","token_type":"b"}"#,
        #"{"access_token":"a","token_type":"b","error":"invalid_grant"}"#,
        "{\"access_token\":\"a\nb\",\"token_type\":\"b\"}",
    ])
    func anythingElseIsUnreadable(body: String) {
        #expect(response(body) == nil)
    }

    @Test func depthIsBounded() {
        let nested = { (depth: Int) in
            let (open, close) = (String(repeating: "[", count: depth), String(repeating: "]", count: depth))
            return #"{"access_token":"a","token_type":"b","x":\#(open)\#(close)}"#
        }
        #expect(response(nested(16)) != nil)
        #expect(response(nested(17)) == nil)
        #expect(response(nested(200_000)) == nil)
    }

    @Test(
        arguments: zip(
            [#""invalid_grant""#, #""Invalid grant of alice""#, #""""#, "7", "null"],
            ["invalid_grant", nil, nil, nil, nil]))
    func anErrorCodeIsOneOrNone(written: String, code: String?) {
        #expect(TokenBody(secret(#"{"error":\#(written)}"#))?.errorCode == code)
    }

    @Test func garbageIsNoCrash() {
        var random = SystemRandomNumberGenerator()
        var numbers = Numbers(state: random.next())
        let whole = Array(
            #"{"access_token":"A\u0041","token_type":"b","expires_in":12,"x":[{"y":-1.5e2},null]}"#.utf8)
        var readable = 0
        for _ in 0..<20_000 {
            var input = whole
            for _ in 0...numbers.next(3) {
                input[Int(numbers.next(UInt64(input.count)))] = UInt8(numbers.next(256))
            }
            if let response = TokenBody(secret(input))?.response {
                readable += 1
                #expect(bytes(response.accessToken).allSatisfy { $0 >= 0x20 && $0 <= 0x7E })
            }
        }
        #expect(readable > 0 && readable < 20_000)
    }
}
