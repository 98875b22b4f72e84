import BrokerModel
import Foundation
import Glibc
import Testing

@testable import BrokerPeers

/// On the caller's thread.
private struct SameThread: BlockingWorker {
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result { body() }
}

@Suite struct ExecutableFileTests {
    private let scratch: Scratch
    private let file: ExecutableFile
    private let folder: String

    init() throws {
        scratch = try Scratch()
        folder = "\(scratch.path)/chatelaine"
        file = ExecutableFile(folder: folder, worker: SameThread())
    }

    private func record(_ path: String, inode: UInt64 = 7) -> ExecutableMemory.Record {
        .init(
            path: path, file: FileID(device: 1, inode: inode), birth: BirthTime(seconds: -1, nanoseconds: 5))
    }

    private var name: String { "\(folder)/\(ExecutableFile.name)" }

    @Test func whatIsKeptComesBackInItsOrder() async {
        #expect(file.load().isEmpty)
        let records = [record("/a"), record("/b c (deleted)"), record("/a", inode: .max)]
        await file.save(records)
        #expect(file.load() == records)
        await file.save(Array(records.dropFirst()))
        #expect(file.load() == Array(records.dropFirst()))
    }

    @Test func theFileIsItsOwnersAloneAndNothingLiesBesideIt() async throws {
        await file.save([record("/a")])
        var status = stat()
        #expect(unsafe stat(name, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [ExecutableFile.name])
    }

    @Test func whatABrokenWriteLeftBehindIsNotInTheWay() async throws {
        await file.save([record("/a")])
        try "half".write(toFile: name + ".new", atomically: false, encoding: .utf8)
        #expect(file.load() == [record("/a")])
        await file.save([record("/b")])
        #expect(file.load() == [record("/b")])
    }

    /// Else whoever may write the folder would have the broker write where it likes.
    @Test func aLinkInItsPlaceIsNeitherReadNorWrittenThrough() async throws {
        await file.save([record("/a")])
        let elsewhere = "\(scratch.path)/elsewhere"
        try FileManager.default.moveItem(atPath: name, toPath: elsewhere)
        let before = FileManager.default.contents(atPath: elsewhere)
        for link in [name, name + ".new"] {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: elsewhere)
        }
        #expect(file.load().isEmpty)
        await file.save([record("/b")])
        #expect(FileManager.default.contents(atPath: elsewhere) == before)
        #expect(file.load() == [record("/b")])
    }

    @Test(arguments: [0o620, 0o602, 0o666]) func aFileThatOthersMayWriteIsNotBelieved(_ mode: UInt32)
        async throws
    {
        await file.save([record("/a")])
        try setPermissions(mode, of: name)
        #expect(file.load().isEmpty)
    }

    @Test(arguments: [0o775, 0o1777]) func aFolderThatOthersMayWriteIsNotUsed(_ mode: UInt32) async throws {
        await file.save([record("/a")])
        try setPermissions(mode, of: folder)
        #expect(file.load().isEmpty)
        await file.save([record("/b")])
        try setPermissions(0o755, of: folder)
        #expect(file.load() == [record("/a")])
    }

    @Test(.enabled(if: isRoot, "needs root: gives a file away"))
    func aFileOfAnotherUserIsNotBelieved() async throws {
        await file.save([record("/a")])
        try setOwner(nobody, group: 0, of: name)
        #expect(file.load().isEmpty)
    }

    private static let damage: [@Sendable (String) -> String] = [
        { _ in "" }, { _ in "\n" }, { String($0.dropLast()) }, { $0 + "1 2 3\n" },
        { $0 + "1 2 3 4 relative\n" },
        { $0 + "1 -2 3 4 /a\n" }, { "x" + $0 }, { $0.replacing(" 1 ", with: " 2 ", maxReplacements: 1) },
    ]

    @Test(arguments: damage.indices) func ofADamagedFileNothingIsBelieved(_ index: Int) async throws {
        await file.save([record("/a")])
        let text = try String(contentsOfFile: name, encoding: .utf8)
        try Self.damage[index](text).write(toFile: name, atomically: false, encoding: .utf8)
        #expect(file.load().isEmpty)
    }

    @Test func aFileOfAnotherBootIsNotBelieved() {
        let text = ExecutableText.text(of: [record("/a")], boot: "one", limit: 4096)
        #expect(ExecutableText.records(in: text, boot: "one") == [record("/a")])
        #expect(ExecutableText.records(in: text, boot: "two") == nil)
    }

    @Test func theOldestAreLeftOutWhereTheyDoNotFit() throws {
        let records = (0..<100).map { record("/program-\($0)") }
        let text = ExecutableText.text(of: records, boot: "b", limit: 1024)
        #expect(text.count <= 1024)
        let kept = try #require(ExecutableText.records(in: text, boot: "b"))
        #expect(kept.count > 10 && kept == Array(records.suffix(kept.count)))
    }

    @Test func aPathThatCouldPassForALineIsNotKept() {
        let text = ExecutableText.text(of: [record("/a\n1 2 3 4 /b"), record("/c")], boot: "b", limit: 4096)
        #expect(ExecutableText.records(in: text, boot: "b") == [record("/c")])
    }
}

@TestActor @Suite struct KeptMemoryTests {
    @Test(.enabled(if: isRoot, "needs root: owns folders"))
    func anOldImageIsKnownToABrokerThatWasStartedAnew() async throws {
        let scratch = try Scratch(trusted: true)
        let program = try scratch.copyOfCat()
        let child = try Child([program])
        let number = child.processID
        let source = FixedSource([":1.1": { .of(number, pidfd: true) }])
        let file = ExecutableFile(folder: "\(scratch.path)/runtime", worker: SameThread())
        func broker() throws -> Peers {
            Peers(source: source, reader: ThreadReader(), reference: try .current(), memoryFile: file)
        }
        let before = try await broker().identify(":1.1", policyExecutables: [])
        try scratch.replace(program)
        let after = try await broker().identify(":1.1", policyExecutables: [])
        #expect(after.facts.executable == .init(paths: [program], trust: .file))
        #expect(after.facts == before.facts)
    }
}
