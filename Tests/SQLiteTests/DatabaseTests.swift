import Foundation
import TestKit
import Testing

@testable import SQLite

@Suite struct DatabaseTests {
    let folder: TemporaryFolder
    var path: String { folder.entry("db") }

    init() throws { folder = try TemporaryFolder() }

    private func kind(_ body: () throws(SQLiteError) -> Void) -> SQLiteError.Kind? {
        do throws(SQLiteError) {
            try body()
            return nil
        } catch {
            return error.kind
        }
    }

    private func make(_ sql: String = "CREATE TABLE t (a, b)") throws -> Database {
        let database = try Database(path: path, mode: .create)
        try database.execute(sql)
        return database
    }

    @Test(arguments: [Database.Mode.readOnly, .readWrite])
    func aFileThatMustExistIsNotMade(mode: Database.Mode) {
        #expect(kind { () throws(SQLiteError) in _ = try Database(path: path, mode: mode) } == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aFileIsMadeForItsOwnerAlone() throws {
        _ = try make()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func aFileThatExistsKeepsItsContentAndItsPermissions() throws {
        _ = try make("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        #expect(try Database(path: path, mode: .create).number("SELECT a FROM t") == 7)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test func aReadOnlyConnectionWritesNothing() throws {
        _ = try make()
        let database = try Database(path: path, mode: .readOnly)
        #expect(
            kind { () throws(SQLiteError) in try database.execute("INSERT INTO t VALUES (1, 2)") }
                == .readOnly)
    }

    @Test func theFileMustNotBeALinkButItsFolderMay() throws {
        _ = try make()
        let link = folder.entry("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(
            kind { () throws(SQLiteError) in _ = try Database(path: link, mode: .readWrite) } == .cannotOpen)
        let door = folder.entry("door")
        try FileManager.default.createSymbolicLink(atPath: door, withDestinationPath: folder.path)
        #expect(try Database(path: door + "/db", mode: .readWrite).number("SELECT count(*) FROM t") == 0)
    }

    @Test func aConstraintIsToldApart() throws {
        let database = try make("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
        #expect(
            kind { () throws(SQLiteError) in try database.execute("INSERT INTO t VALUES (1)") } == .constraint
        )
        let statement = try database.statement("INSERT INTO t VALUES (?1)")
        statement.bind(1, at: 1)
        #expect(kind { () throws(SQLiteError) in try statement.run() } == .constraint)
        statement.bind(2, at: 1)
        try statement.run()
        #expect(try database.number("SELECT count(*) FROM t") == 2)
    }

    @Test func aFullStoreIsToldApartAndKeepsWhatItHas() throws {
        let database = try make("CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA max_page_count = 4")
        #expect(
            kind { () throws(SQLiteError) in try database.execute("INSERT INTO t VALUES (zeroblob(50000))") }
                == .full)
        #expect(try database.number("SELECT count(*) FROM t") == 1)
    }

    @Test func aFileThatIsNoDatabaseIsDamaged() throws {
        try folder.write(String(repeating: "no database ", count: 500), to: "db")
        let database = try Database(path: path, mode: .readWrite)
        #expect(kind { () throws(SQLiteError) in _ = try database.number("SELECT 1 FROM t") } == .damaged)
    }

    @Test func aDatabaseWithDamagedPagesIsDamaged() throws {
        do {
            let database = try make()
            try database.execute(
                """
                WITH c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500)
                INSERT INTO t SELECT n, zeroblob(200) FROM c
                """
            )
        }
        var contents = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        for index in 4096..<contents.count { contents[index] = 0xee }
        try Data(contents).write(to: URL(fileURLWithPath: path))
        let database = try Database(path: path, mode: .readOnly)
        #expect(
            kind { () throws(SQLiteError) in _ = try database.number("SELECT sum(a) FROM t") } == .damaged)
    }

    @Test func whoIsLockedOutIsBusy() throws {
        let holder = try make()
        try holder.execute("BEGIN EXCLUSIVE")
        let other = try Database(path: path, mode: .readWrite)
        other.setBusyTimeout(milliseconds: 10)
        #expect(kind { () throws(SQLiteError) in try other.execute("BEGIN IMMEDIATE") } == .busy)
    }

    @Test func aMistakeInASentenceIsMisuse() throws {
        let database = try make()
        #expect(kind { () throws(SQLiteError) in try database.execute("NONSENSE") } == .misuse)
        #expect(
            kind { () throws(SQLiteError) in _ = try database.statement("SELECT * FROM absent") } == .misuse)
        #expect(kind { () throws(SQLiteError) in _ = try database.number("NONSENSE") } == .misuse)
    }

    @Test func valuesComeBackAsTheyWentIn() throws {
        let database = try make("CREATE TABLE t (n, b, s, z)")
        let insert = try database.statement("INSERT INTO t VALUES (?1, ?2, ?3, ?4)")
        let rows: [(Int64, [UInt8], String)] = [
            (.min, [], ""), (0, [0], "\u{0}a"), (.max, [UInt8](repeating: 0xff, count: 70_000), "äöü"),
        ]
        for (number, bytes, text) in rows {
            insert.bind(number, at: 1)
            insert.bind(bytes, at: 2)
            insert.bind(text, at: 3)
            insert.bind(nil as Int64?, at: 4)
            try insert.run()
        }
        let select = try database.statement("SELECT n, b, s, z FROM t ORDER BY n")
        for (number, bytes, text) in rows {
            #expect(try select.step())
            #expect(select.number(0) == number && select.bytes(1) == bytes && select.text(2) == text)
            #expect(select.isNull(3) && !select.isNull(0) && select.number(3) == 0 && select.bytes(3).isEmpty)
            #expect(select.unsigned(0) == UInt64(max(0, number)))
        }
        #expect(try !select.step())
    }

    @Test func aKeptStatementIsResetAndItsParametersAreCleared() throws {
        let database = try make("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        let first = try database.statement("SELECT a FROM t WHERE a >= ?1")
        first.bind(1, at: 1)
        #expect(try first.step())
        let again = try database.statement("SELECT a FROM t WHERE a >= ?1")
        #expect(first === again)
        #expect(try !again.step())
        again.bind(2, at: 1)
        #expect(try again.step())
        #expect(again.number(0) == 2)
    }

    /// A look that is left open would keep the log from being truncated.
    @Test func aResetLetsGoOfTheReadTransaction() throws {
        let database = try make(
            "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        let reader = try Database(path: path, mode: .readOnly)
        let select = try reader.statement("SELECT a FROM t")
        #expect(try select.step())
        try database.execute("INSERT INTO t VALUES (3)")
        #expect(try database.number("PRAGMA wal_checkpoint(TRUNCATE)") == 1)
        select.reset()
        #expect(try database.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
    }

    @Test func aTransactionIsSeenToBeOpen() throws {
        let database = try make()
        #expect(!database.isInTransaction)
        try database.execute("BEGIN; INSERT INTO t VALUES (1, 2), (3, 4)")
        #expect(database.isInTransaction && database.changes == 2)
        try database.execute("ROLLBACK")
        #expect(!database.isInTransaction)
        #expect(try database.number("SELECT a FROM t") == nil)
    }

    @Test func aHandoverGivesResultsAndFailures() async throws {
        let handover = Handover(try make())
        let outcome = await Task.detached {
            (handover.execute("INSERT INTO t VALUES (5, 6)"), handover.number("SELECT a FROM t"))
        }.value
        #expect(outcome.1 == .success(5))
        guard case .failure(let error) = handover.execute("NONSENSE") else {
            Issue.record("no failure")
            return
        }
        #expect(error.kind == .misuse)
        #expect(handover.number("SELECT a FROM absent") != .success(nil))
    }

    @Test(
        arguments: [
            (19, SQLiteError.Kind.constraint), (2067, .constraint), (8, .readOnly), (1032, .readOnly),
            (13, .full),
            (10, .inputOutput), (4874, .inputOutput), (11, .damaged), (26, .damaged), (5, .busy), (6, .busy),
            (517, .busy), (14, .cannotOpen), (3, .cannotOpen), (23, .cannotOpen), (7, .outOfMemory),
            (1, .misuse),
            (21, .misuse),
        ] as [(Int32, SQLiteError.Kind)])
    func everyFamilyOfCodesHasItsKind(code: Int32, kind: SQLiteError.Kind) {
        #expect(SQLiteError(code: code).kind == kind)
    }
}
