import ChatelaineHTTP
import Foundation
import TestKit

/// `token_server.py`, running.
final class TokenServer: Sendable {
    private let process: ChildProcess
    /// Its scheme, host and port.
    let origin: String

    /// Starts it; with a certificate, whose key is in the same file, it speaks TLS.
    init(certificate: String? = nil) async throws {
        let script = Self.file("token_server.py")
        let process = try await ChildProcess.start(
            ["/usr/bin/python3", script] + (certificate.map { [$0] } ?? []))
        let port = try await within("the token server's port") { await process.output.next() }
        guard let port else { throw TestFailure("the token server ended") }
        self.process = process
        origin = (certificate == nil ? "http" : "https") + "://127.0.0.1:" + port
    }

    /// A file that stands beside the tests.
    static func file(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: name)
            .path(percentEncoded: false)
    }

    /// An address on it.
    func address(_ path: String) throws -> HTTPAddress {
        guard let address = HTTPAddress(origin + path) else { throw TestFailure("no address: \(path)") }
        return address
    }

    /// Its token endpoint that does what the path says.
    func endpoint(_ path: String, transport: any HTTPTransport = CurlTransport()) throws -> TokenEndpoint {
        TokenEndpoint(try address("/token/" + path), clientID: "app", transport: transport)
    }

    /// The next request that came, which it waits for.
    func request() async throws -> String? {
        try await within("a request") { await self.process.output.next() }
    }

    /// Lets one held request go on.
    func release() throws { try process.write("\n") }

    /// Ends it, and gives the requests that nobody has asked for.
    func end() async -> [String] {
        process.kill()
        return await process.output.rest().split(separator: "\n").map(String.init)
    }
}
