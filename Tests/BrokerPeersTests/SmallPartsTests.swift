import BrokerModel
import Glibc
import Testing

@testable import BrokerPeers

@Suite struct ProcTextTests {
    private func stat(_ name: String) -> [UInt8] {
        Array("42 (\(name)) S \((4...21).map(String.init).joined(separator: " ")) 777 23 24\n".utf8)
    }

    @Test(arguments: ["cat", "a) R 1 2 3", "x y", ")", "(((", "new\nline"])
    func theStartIsFoundWhateverTheProgramIsCalled(_ name: String) {
        #expect(ProcText.startTicks(in: stat(name)) == 777)
    }

    @Test(arguments: ["", "42 (cat", "42 (cat) S 1 2 3", "42 cat S 4 5 6"])
    func aTextThatWasCutHasNoStart(_ text: String) {
        #expect(ProcText.startTicks(in: Array(text.utf8)) == nil)
    }

    @Test func aNumberIsTakenOnlyFromTheLineWithItsKey() {
        let text = Array("Name:\tUid:\\n7\nUid:\t1\t2\t3\t4\nPid:\t-1\nGid:\tx\n".utf8)
        #expect(ProcText.numbers(of: "Uid:", in: text) == [1, 2, 3, 4])
        #expect(ProcText.numbers(of: "Pid:", in: text) == [-1])
        #expect(ProcText.numbers(of: "Gid:", in: text) == [])
        #expect(ProcText.numbers(of: "Groups:", in: text) == nil)
    }

    @Test func theKernelTellsOfThisProcess() throws {
        let own = try ProcessFolder(processID: UInt32(getpid()))
        #expect(try own.userIDs() == [getuid(), geteuid()])
        let started = try own.startMicroseconds()
        #expect(started > 0 && started <= bootTimeMicroseconds())
    }
}

@Suite struct SystemErrorTests {
    @Test(arguments: [EMFILE, ENFILE, ENOMEM, EINTR])
    func theBrokersOwnTroubleIsNotTakenForAnAbsence(_ code: Int32) {
        #expect(throws: SystemError(code: code)) {
            try whereReadable { () throws(SystemError) -> Int in throw SystemError(code: code) }
        }
    }

    @Test(arguments: [ENOENT, EACCES, EPERM, ELOOP, ENOTDIR])
    func whatIsAbsentOrForbiddenIsMissing(_ code: Int32) throws {
        #expect(try whereReadable { () throws(SystemError) -> Int in throw SystemError(code: code) } == nil)
    }
}

@Suite struct ExecutableMemoryTests {
    private func record(
        _ path: String, inode: UInt64 = 1, born: Int64 = 1
    ) -> ExecutableMemory.Record {
        .init(
            path: path, file: FileID(device: 1, inode: inode),
            birth: BirthTime(seconds: born, nanoseconds: 0))
    }

    @Test func anInodeThatWasGivenAnewIsAnotherFile() {
        var memory = ExecutableMemory()
        memory.remember(record("/a"))
        #expect(memory.holds(record("/a")))
        #expect(!memory.holds(record("/a", born: 2)))
        #expect(!memory.holds(record("/a", inode: 2)))
        #expect(!memory.holds(record("/b")))
    }

    @Test func twoUpgradesLaterTheFirstImageIsStillKnown() {
        var memory = ExecutableMemory()
        memory.remember(record("/a", inode: 1))
        memory.remember(record("/a", inode: 2))
        #expect(memory.holds(record("/a", inode: 1)))
        #expect(memory.holds(record("/a", inode: 2)))
    }

    @Test func theLongestUnseenIsForgottenFirst() {
        var memory = ExecutableMemory()
        for inode in 0..<UInt64(ExecutableMemory.recordsMax) { memory.remember(record("/a", inode: inode)) }
        memory.remember(record("/a", inode: 0))
        memory.remember(record("/b"))
        #expect(memory.records.count == ExecutableMemory.recordsMax)
        #expect(memory.holds(record("/a", inode: 0)))
        #expect(!memory.holds(record("/a", inode: 1)))
    }
}

@Suite struct GroupDirectoryTests {
    private func group(_ id: UInt32, of userID: UInt32) throws -> PeerFacts.Group {
        try #require(GroupDirectory.describe([id], of: userID).first)
    }

    @Test func aUsersPrimaryGroupIsOneItIsAMemberOf() throws {
        #expect(try group(0, of: 0) == .init(id: 0, name: "root", userIsMember: true))
    }

    @Test func aGroupThatDoesNotListTheUserIsOneItIsNoMemberOf() throws {
        #expect(try group(0, of: nobody) == .init(id: 0, name: "root", userIsMember: false))
    }

    @Test func whoeverIsNotShownToBeNoMemberCountsAsOne() throws {
        let unknown: UInt32 = 3_999_999_999
        #expect(try group(unknown, of: 0) == .init(id: unknown, name: nil, userIsMember: true))
        #expect(try group(0, of: unknown) == .init(id: 0, name: "root", userIsMember: true))
    }

    @Test func groupsKeepTheirOrder() {
        #expect(GroupDirectory.describe([1, 0], of: 0).map(\.id) == [1, 0])
        #expect(GroupDirectory.describe([], of: 0).isEmpty)
    }
}
