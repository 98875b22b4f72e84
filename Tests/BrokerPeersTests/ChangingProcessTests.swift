import BrokerModel
import Glibc
import Testing

@testable import BrokerPeers

/// A process that becomes something else between the first look at it and the last.
@Suite struct ChangingProcessTests {
    private func reader(_ child: Child, _ change: @escaping @Sendable () -> Void) throws -> ProcessReader {
        ProcessReader(
            userID: geteuid(), groupIDs: [], processID: child.processID, descriptor: nil,
            securityLabel: nil, appearedMicroseconds: bootTimeMicroseconds(), policyPaths: [],
            reference: try .current(),
            memory: ExecutableMemory(), afterFirstLook: change)
    }

    /// A shell that answers once and then becomes `program`.
    private func shell(then program: String) throws -> Child {
        let script = "read line; echo \"$line\"; read line; exec \(program)"
        return try Child(["/bin/sh", "-c", script])
    }

    @Test func anExecIsNoticed() throws {
        let child = try shell(then: theCat)
        let reader = try reader(child) {
            try? child.say("go\n")
            try? child.echo()
        }
        #expect(throws: Doubt.changed) { try reader.read() }
    }

    /// Else the process would pass the look at its namespaces, go into some of its own where it lays out
    /// libraries as it likes, and start a trusted program there.
    @Test(.enabled(if: NamespaceTests.canUnshare, "needs user namespaces"))
    func aChangeOfNamespacesIsNoticed() throws {
        let child = try shell(then: "/usr/bin/unshare -Ur \(theCat)")
        let reader = try reader(child) {
            try? child.say("go\n")
            try? child.echo()
        }
        #expect(throws: Doubt.changed) { try reader.read() }
    }

    @Test func anEndIsNoticed() throws {
        let child = try Child([theCat])
        let reader = try reader(child) { child.end() }
        #expect(throws: Doubt.self) { try reader.read() }
    }

    @Test(.enabled(if: isRoot, "needs root: reads as another user"))
    func anEndIsNoticedWhereNothingCanBeReadOfTheProcess() async throws {
        let child = try Child([theCat])
        let reader = try reader(child) { child.end() }
        let outcome = await ThreadReader { OwnThread.becomeNobody() }.run(key: 0, deadlineMicroseconds: 0) {
            Result { () throws(Doubt) in try reader.read().facts }
        }
        #expect(outcome == .failure(.ended))
    }

    @Test func whatStaysAsItWasIsRead() throws {
        let child = try Child([theCat])
        let reader = try reader(child) { try? child.echo() }
        #expect(try reader.read().facts.executable?.paths == [theCat])
    }
}
