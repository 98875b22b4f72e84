@_spi(Testing) import BrokerGate
import BrokerModel
import SQLite
import TestKit
import Testing

@testable import BrokerVault

/// The reader's place in the write-ahead log is kept between reads, and is in nobody's way.
@Suite struct ReadMarkTests {
    @VaultActor @Test func theLogStartsAnewThoughEveryWriteIsReadBack() async throws {
        let bench = try Bench()
        let secret = String(repeating: "x", count: 8192)
        for number in 0..<800 {
            try await bench.store(.item("a"), secret + "\(number)")
            #expect(try bench.secret(.query("a")) == secret + "\(number)")
        }
        // SQLite copies it into the file at 1,000 pages of 4 KiB; all that was written is some 30 MiB.
        #expect(try Bench.contents(of: bench.path + "-wal").count < 6 << 20)
    }

    @VaultActor @Test func theLogIsTruncatedAfterARead() async throws {
        let bench = try Bench()
        try await bench.add(.item("a"), "x")
        #expect(try bench.secret(.query("a")) == "x")
        await bench.vault.checkpoint()
        #expect(try Bench.contents(of: bench.path + "-wal").isEmpty)
        #expect(try bench.secret(.query("a")) == "x")
    }

    @VaultActor @Test func whatAnotherConnectionChangedIsSeenByTheNextRead() async throws {
        let bench = try Bench()
        try await bench.add(.item("a"), "x")
        #expect(try bench.secret(.query("a")) == "x")
        try bench.tamper("DELETE FROM background_items")
        #expect(try bench.search(.query("a")).isEmpty)
    }
}
