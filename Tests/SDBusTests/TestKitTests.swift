import Glibc
import TestKit
import Testing

@Suite struct TestKitTests {
    @Test func aChildsLinesAndStatusAreRead() async throws {
        let child = try await ChildProcess.start(["sh", "-c", "echo one; printf two; exit 3"])
        #expect(await child.output.next() == "one")
        #expect(await child.output.next() == "two")
        #expect(await child.output.next() == nil)
        #expect(await child.waitForExit() == .exited(3))
    }

    @Test func aChildReadsItsInputAndItsEnvironment() async throws {
        let child = try await ChildProcess.start(
            ["sh", "-c", "cat; echo $ADDED"], environment: ["ADDED": "yes"])
        try child.write("line\n")
        child.closeInput()
        #expect(await child.output.rest() == "line\nyes\n")
    }

    @Test func aChildTakesSIGTERM() async throws {
        let child = try await ChildProcess.start(["sleep", "1000"])
        child.terminate()
        #expect(await child.waitForExit() == .signalled(SIGTERM))
    }

    @Test func aChildsErrorsGoToAFile() async throws {
        let folder = try TemporaryFolder()
        let child = try await ChildProcess.start(
            ["sh", "-c", "echo wrong >&2"], errors: .file(folder.entry("errors")))
        #expect(await child.waitForExit() == .exited(0))
        let reader = try await ChildProcess.start(["cat", folder.entry("errors")])
        #expect(await reader.output.next() == "wrong")
    }

    @Test func whatNeverComesFailsWithItsName() async {
        await #expect {
            try await within("the end of time", deadline: .milliseconds(5)) {
                try await Task.sleep(for: .seconds(1_000))
            }
        } throws: { String(describing: $0).contains("the end of time") }
    }

    @Test func aFolderGoesWithAllInIt() throws {
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(folder?.path)
        try folder?.write("x", to: "file")
        unsafe #expect(access(path + "/file", F_OK) == 0)
        folder = nil
        unsafe #expect(access(path, F_OK) != 0)
    }

    @Test func mailboxesKeepTheirOrder() async throws {
        let box = Mailbox<Int>()
        for number in 0..<100 { box.post(number) }
        for number in 0..<100 { #expect(try await box.next("a number") == number) }
    }
}
