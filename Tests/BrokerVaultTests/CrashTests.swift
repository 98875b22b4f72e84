import BrokerModel
import Foundation
import Testing
import SQLite
import TestKit

@testable import BrokerVault

/// The files as a crash would leave them, at arbitrary points of a storm of writes.
@Suite struct CrashTests {
    /// What was acknowledged is there, whole; what was not is there whole or not at all.
    @VaultActor @Test func everyCopyOfTheFilesOpensWithAllThatWasAcknowledged() async throws {
        let bench = try Bench(ThreadWorker())
        // The two files cannot be copied at one moment, so all that changes is the log, which only grows.
        _ = try bench.vault.openStore().writing.database.number("PRAGMA wal_autocheckpoint = 0")
        let acknowledged = Shared<[String: Int]>([:])
        let started = Shared<[String: Int]>([:])
        let isRunning = Shared(true)
        let writers = (0..<4).map { writer in
            Task { @VaultActor in
                var round = 0
                while isRunning.value {
                    round += 1
                    let account = "\(writer)-\(round % 5)"
                    started.value[account] = round
                    let value = "\(account) \(round) " + String(repeating: "v", count: round % 3 * 2000)
                    let met = await refusal { () throws(Refusal) in
                        try await bench.store(.item(account), value)
                    }
                    #expect(met == nil)
                    acknowledged.value[account] = round
                }
            }
        }
        for _ in 0..<25 {
            for _ in 0..<40 { await Task.yield() }
            let before = acknowledged.value
            let copy = try TemporaryFolder()
            try Self.copyFiles(from: bench.folder, to: copy)
            try judge(copy, acknowledged: before, started: started.value)
        }
        isRunning.value = false
        for writer in writers { await writer.value }
        #expect(!acknowledged.value.isEmpty)
    }

    private static func copyFiles(from folder: TemporaryFolder, to copy: TemporaryFolder) throws {
        for name in ["keychain.db", "keychain.db-wal"] {
            try FileManager.default.copyItem(atPath: folder.entry(name), toPath: copy.entry(name))
        }
    }

    @VaultActor private func judge(
        _ copy: TemporaryFolder, acknowledged: [String: Int], started: [String: Int]
    ) throws {
        let crashed = try Bench(in: copy)
        for (account, round) in acknowledged {
            let words = try crashed.secret(.query(account)).split(separator: " ")
            let found = try #require(Int(words[1]))
            #expect(words[0] == account && found >= round && found <= started[account] ?? 0)
            #expect((words.count > 2 ? words[2].count : 0) == found % 3 * 2000)
        }
        #expect(
            try crashed.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'")
                == 0)
        let all = try crashed.search(.query(nil))
        #expect(all.count == Int(try crashed.number("SELECT background FROM groups") ?? 0))
    }

    /// A log cut anywhere gives the state of some commit.
    @VaultActor @Test func aLogThatIsCutAnywhereGivesAnEarlierState() async throws {
        let bench = try Bench()
        try bench.vault.open()
        for round in 1...6 {
            try await bench.store(.item("a"), "\(round)")
            try await bench.store(.item("b"), "\(round)")
        }
        let log = try Bench.contents(of: bench.path + "-wal")
        for cut in stride(from: 0, through: log.count, by: 1777) {
            let copy = try TemporaryFolder()
            try FileManager.default.copyItem(atPath: bench.path, toPath: copy.entry("keychain.db"))
            try Data(log.prefix(cut)).write(to: URL(fileURLWithPath: copy.entry("keychain.db-wal")))
            let crashed = try Bench(in: copy)
            let found = try crashed.search(.query(nil))
            #expect(found.count <= 2)
            if found.count == 2 {
                let a = try #require(Int(try crashed.secret(.query("a"))))
                let b = try #require(Int(try crashed.secret(.query("b"))))
                #expect(a == b || a == b + 1, "cut at \(cut)")
            }
        }
    }
}
