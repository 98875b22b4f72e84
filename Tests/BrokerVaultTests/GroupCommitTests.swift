@_spi(Testing) import BrokerGate
import BrokerModel
import SQLite
import Testing
import TestKit

@testable import BrokerVault

/// Many writes share one flush, and each has its own result (ARCHITECTURE, one global actor).
@Suite struct GroupCommitTests {
    let worker = HeldWorker()

    /// A store with one item, whose next flushes are held.
    @VaultActor private func held() async throws -> Bench {
        let bench = try Bench(worker)
        try await bench.add(.item("first"), "x")
        bench.forgetNotices()
        await worker.hold()
        return bench
    }

    @VaultActor private func start(
        _ body: @escaping @VaultActor () async throws(Refusal) -> Void
    ) -> Task<Refusal.Kind?, Never> {
        Task.immediate { await refusal(body) }
    }

    @VaultActor @Test func writesThatArriveDuringAFlushShareTheNextOne() async throws {
        let bench = try await held()
        let before = await worker.jobs
        let writes = (0..<20).map { number in
            start { () throws(Refusal) in try await bench.add(.item("\(number)")) }
        }
        await worker.release()
        for write in writes { #expect(await write.value == nil) }
        #expect(await worker.jobs - before == 2)
        #expect(try bench.accounts(.query(nil)).count == 21)
    }

    @VaultActor @Test func aReadDuringAFlushSeesTheLastDurableState() async throws {
        let bench = try await held()
        let write = start { () throws(Refusal) in try await bench.update(.query("first"), [:], "y") }
        let deletion = start { () throws(Refusal) in try await bench.delete(.query("first")) }
        #expect(try bench.secret(.query("first")) == "x")
        #expect(bench.notices.isEmpty)
        await worker.releaseOnce()
        #expect(await write.value == nil)
        #expect(try bench.secret(.query("first")) == "y")
        #expect(bench.notices.count == 1)
        await worker.release()
        #expect(await deletion.value == nil)
        #expect(try bench.search(.query("first")).isEmpty)
        #expect(bench.notices.count == 2)
    }

    @VaultActor @Test func aRefusedWriteDoesNotTakeItsBatchDown() async throws {
        let bench = try await held()
        let first = start { () throws(Refusal) in try await bench.add(.item("1")) }
        let duplicate = start { () throws(Refusal) in try await bench.add(.item("first")) }
        let absent = start { () throws(Refusal) in try await bench.delete(.query("absent")) }
        let second = start { () throws(Refusal) in try await bench.add(.item("2")) }
        await worker.release()
        #expect(await first.value == nil)
        #expect(await duplicate.value == .duplicateItem)
        #expect(await absent.value == .itemNotFound)
        #expect(await second.value == nil)
        #expect(try bench.accounts(.query(nil)) == ["first", "1", "2"])
    }

    @VaultActor @Test func aLaterWriteOfABatchSeesTheEarlierOnes() async throws {
        let bench = try await held()
        let add = start { () throws(Refusal) in try await bench.add(.item("1"), "1") }
        let again = start { () throws(Refusal) in try await bench.add(.item("1"), "2") }
        let update = start { () throws(Refusal) in try await bench.update(.query("1"), [:], "3") }
        await worker.release()
        #expect(await add.value == nil)
        #expect(await again.value == .duplicateItem)
        #expect(await update.value == nil)
        #expect(try bench.secret(.query("1")) == "3")
    }

    @VaultActor @Test func theGateIsAskedWhenTheChangeIsMade() async throws {
        let bench = try await held()
        let first = start { () throws(Refusal) in try await bench.add(.item("1")) }
        let isAllowed = Shared(true)
        let late = start { () throws(Refusal) in
            _ = try await bench.vault.delete(
                { () throws(Refusal) in
                    if isAllowed.value { return Who.one.grant() }
                    throw .missingOperation
                }, Query(.query("first"), for: .delete))
        }
        isAllowed.value = false
        await worker.release()
        #expect(await first.value == nil)
        #expect(await late.value == .missingEntitlement)
        #expect(try bench.accounts(.query("first")) == ["first"])
    }

    /// Every write that fits is done; the one that does not is told so, and nothing of it stays.
    @VaultActor @Test func aFullStoreRefusesWhatDoesNotFitAndKeepsTheRest() async throws {
        let bench = try await held()
        let database = try bench.vault.openStore().writing.database
        let pages = try #require(try database.number("PRAGMA page_count"))
        try database.execute("PRAGMA max_page_count = \(pages + 8)")
        let writes = ["1", "huge", "2", "huge too", "3"].map { account in
            let secret = String(repeating: "s", count: account.hasPrefix("huge") ? 200_000 : 10)
            return start { () throws(Refusal) in try await bench.add(.item(account), secret) }
        }
        await worker.release()
        var met: [Refusal.Kind?] = []
        for write in writes { met.append(await write.value) }
        #expect(met == [nil, .io, nil, .io, nil])
        #expect(try bench.accounts(.query(nil)) == ["first", "1", "2", "3"])
        #expect(bench.notices.count == 3)
        bench.restart()
        #expect(try bench.accounts(.query(nil)) == ["first", "1", "2", "3"])
    }

    /// A flush that fails is taken back, and each write is tried again alone.
    @VaultActor @Test func aCommitThatFailsIsTriedAgainWriteByWrite() async throws {
        let folder = try TemporaryFolder()
        let database = try Database(path: folder.entry("db"), mode: .create)
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
            """)
        let told = Shared<[Notice]>([])
        let writer = Writer(
            mark: nil, database: database, thread: worker, didCommit: { told.value += $0 })
        await worker.hold()
        // The orphan is found at the commit alone.
        let sql = [
            "INSERT INTO parent VALUES (1)", "INSERT INTO parent VALUES (2)",
            "INSERT INTO child VALUES (99)", "INSERT INTO parent VALUES (3)",
        ]
        let writes = sql.enumerated().map { position, sql in
            start { () throws(Refusal) in
                try await writer.write { () throws(Refusal) in
                    try stored { () throws(SQLiteError) in try database.execute(sql) }
                    return ((), [.lockStateChanged(position == 3 ? .locked : .unlocked)])
                }
            }
        }
        await worker.release()
        var met: [Refusal.Kind?] = []
        for write in writes { met.append(await write.value) }
        #expect(met == [nil, nil, .io, nil])
        #expect(try database.number("SELECT group_concat(id, '') FROM parent") == 123)
        #expect(try database.number("SELECT count(*) FROM child") == 0)
        #expect(
            told.value == [
                .lockStateChanged(.unlocked), .lockStateChanged(.unlocked), .lockStateChanged(.locked),
            ])
    }

    /// A writer that always comes again must not keep the log from being truncated.
    @VaultActor @Test func theLogIsTruncatedInItsTurnHoweverManyWritesWait() async throws {
        let bench = try await held()
        let isDone = Shared(false)
        let batches = Shared(0)
        let storm = start { () throws(Refusal) in
            while !isDone.value && batches.value < 50 {
                batches.value += 1
                let next = self.start { () throws(Refusal) in try await bench.add(.item("\(batches.value)b"))
                }
                try await bench.add(.item("\(batches.value)a"))
                _ = await next.value
            }
        }
        let truncation = Task.immediate {
            let done = await bench.truncateLog()
            isDone.value = true
            return done
        }
        await worker.release()
        #expect(await truncation.value)
        #expect(await storm.value == nil)
        #expect(batches.value < 10)
    }

    @VaultActor @Test func manyWritersOnAThreadLoseNothing() async throws {
        let bench = try Bench(ThreadWorker())
        let writes = (0..<200).map { number in
            Task { @VaultActor in
                await refusal { () throws(Refusal) in
                    try await bench.store(.item("\(number % 40)"), "\(number)")
                }
            }
        }
        for write in writes { #expect(await write.value == nil) }
        #expect(try bench.accounts(.query(nil)).count == 40)
        bench.restart()
        #expect(try bench.accounts(.query(nil)).count == 40)
        #expect(try bench.number("SELECT revision FROM groups") == 200)
    }

    /// A reader beside a writer never takes an item for damaged because it changed meanwhile.
    @VaultActor @Test func aReaderBesideAWriterNeverSeesAHalfChange() async throws {
        let bench = try Bench(ThreadWorker())
        try await bench.add(.item("a"), "x")
        let writer = start { () throws(Refusal) in
            for _ in 0..<150 {
                try await bench.update(.query("a"), ["Account": "b"])
                try await bench.update(.query("b"), ["Account": "a"])
            }
        }
        let isRunning = Shared(true)
        let reader = Task { @VaultActor in
            while isRunning.value {
                let met = await refusal { () throws(Refusal) in _ = try bench.secrets(.query("a")) }
                #expect(met == nil || met == .itemNotFound)
                await Task.yield()
            }
        }
        #expect(await writer.value == nil)
        isRunning.value = false
        await reader.value
    }
}

extension Bench {
    func truncateLog() async -> Bool {
        do {
            return try await vault.openStore().writer.truncateLog()
        } catch {
            return false
        }
    }
}
