import Sodium
import Testing

@testable import ChatelaineHTTP

/// What comes to the redirect's port, read piece by piece.
@Suite struct RedirectRequestTests {
    private static let host = "127.0.0.1:4711"

    private func read(_ text: String, path: String = "/back") -> RedirectRequest {
        RedirectRequest(Array(text.utf8), host: Self.host, path: path)
    }

    @Test func aBrowsersRequestIsRead() throws {
        let head =
            "GET /back?code=a%2Fb+c&state=s&empty HTTP/1.1\r\nhost: 127.0.0.1:4711\r\nAccept: */*\r\n\r\n"
        guard case .query(let fields) = read(head) else { throw Unexpected() }
        #expect(fields.mapValues { text($0) } == ["code": "a/b c", "state": "s", "empty": ""])
    }

    private struct Unexpected: Error {}

    @Test func nothingCountsBeforeItsEnd() {
        let head = "GET /back?code=a HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n"
        for count in 0..<head.utf8.count {
            let request = read(String(decoding: head.utf8.prefix(count), as: UTF8.self))
            if case .incomplete = request { continue }
            Issue.record("\(count) bytes: \(request)")
        }
    }

    @Test(arguments: [
        "GET /back HTTP/1.1\r\nHost: evil.example\r\n\r\n", "GET /back HTTP/1.1\r\n\r\n",
        "GET /back HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nHost: evil.example\r\n\r\n",
        "GET /back HTTP/1.1\r\nHost: 127.0.0.1:4712\r\n\r\n",
        "GET  /back HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n",
        "GET /back\r\nHost: 127.0.0.1:4711\r\n\r\n", "GET /back FTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n",
        "GET /back?a=1&%61=2 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n",
        "GET /back?a=%f HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n", "\r\n\r\n",
    ])
    func whatIsNoBrowsersIsRefused(head: String) {
        let request = read(head)
        if case .refused(.badRequest) = request { return }
        Issue.record("\(request)")
    }

    @Test func garbageIsNoCrash() {
        var random = SystemRandomNumberGenerator()
        var numbers = Numbers(state: random.next())
        let whole = Array("GET /back?code=a%20&state=b HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n".utf8)
        var accepted = 0
        for _ in 0..<5_000 {
            var input = whole
            for _ in 0...numbers.next(3) {
                input[Int(numbers.next(UInt64(input.count)))] = UInt8(numbers.next(256))
            }
            if case .query = RedirectRequest(input, host: Self.host, path: "/back") { accepted += 1 }
        }
        #expect(accepted < 5_000)
    }

    @Test func noPageTakesAnythingFromOutside() {
        for page in [Page.done, .declined, .foreign, .badRequest, .notFound, .notGet, .tooLarge] {
            let whole = String(decoding: page.bytes, as: UTF8.self)
            let parts = whole.split(separator: "\r\n\r\n", maxSplits: 1)
            #expect(parts.count == 2 && whole.contains("Content-Length: \(parts[1].utf8.count)\r\n"))
            #expect(whole.contains("default-src 'none'") && whole.contains("Cache-Control: no-store"))
        }
    }
}
