import BrokerModel
import Foundation
import Glibc
import Testing

@testable import BrokerPeers

/// What holds of a broker for the whole machine, which is sandboxed itself. A process with mounts of its own
/// stands in for PID 1.
@TestActor @Suite(.enabled(if: isRoot, "needs root: makes mount namespaces"))
struct MachineTests {
    private let scratch: Scratch
    private let program: String
    private let first: Child

    init() throws {
        scratch = try Scratch(trusted: true)
        program = "\(scratch.path)/program"
        let script = """
            mount -t tmpfs -o mode=755 none \(scratch.path) && cp \(theCat) \(program) && exec \(theCat)
            """
        first = try Child(["/usr/bin/unshare", "-m", "/bin/sh", "-c", script])
    }

    private func besideFirst(_ program: String) throws -> Child {
        try Child(["/usr/bin/nsenter", "-m", "-t", "\(first.processID)", program])
    }

    @Test func pathsMeanWhatTheyMeanToPID1WhateverIsThereHere() async throws {
        let machine = ReferenceNamespaces.machine(firstProcess: first.processID)
        #expect(machine.trouble == nil)
        #expect(!FileManager.default.fileExists(atPath: program))
        let facts = try await facts(
            of: besideFirst(program), Meeting(policy: [program], reference: machine))
        #expect(facts.executable == .init(paths: [program], trust: .file))
        #expect(facts.inReferenceNamespaces == true)
    }

    @Test func theBrokersOwnNamespacesAreNoReferenceOnes() async throws {
        let machine = ReferenceNamespaces.machine(firstProcess: first.processID)
        let facts = try await facts(of: Child([theCat]), Meeting(policy: [theCat], reference: machine))
        #expect(facts.inReferenceNamespaces == false)
        #expect(facts.executable == nil)
    }

    @Test func aBrokerThatMayNotLookAtPID1SaysSo() async throws {
        let number = first.processID
        let machine = await ThreadReader { OwnThread.becomeNobody() }.run(key: 0, deadlineMicroseconds: 0) {
            ReferenceNamespaces.machine(firstProcess: number)
        }
        #expect(try #require(machine).trouble != nil)
        #expect(try #require(machine).root == nil)
    }
}

/// A user's manager with a mount namespace of its own, and who would pass for it.
@TestActor @Suite(.enabled(if: isRoot, "needs root: makes mount namespaces"))
struct UserManagerTests {
    private let scratch: Scratch
    private let first: Namespaces

    init() throws {
        scratch = try Scratch()
        first = try Namespaces(of: ProcessFolder(path: "/proc/self"))
    }

    /// The reference with these processes in the manager's control group. This process is PID 1's stand-in,
    /// and `program` its program.
    private func reference(_ members: [Child], program: String = theCat, parent: pid_t = getpid()) throws
        -> ReferenceNamespaces
    {
        let group = "\(scratch.path)/sys/fs/cgroup/user.slice/user-0.slice/user@0.service/init.scope"
        try FileManager.default.createDirectory(atPath: group, withIntermediateDirectories: true)
        let text = members.map { "\($0.processID)\n" }.joined()
        try text.write(toFile: "\(group)/cgroup.procs", atomically: false, encoding: .utf8)
        let executable = try Kernel.open(program, in: nil, pathOnly).status().id
        return ReferenceNamespaces(
            mount: [first.mount], user: [first.user],
            managers: UserManagers(
                root: try Kernel.open(scratch.path, in: nil, O_DIRECTORY | pathOnly), executable: executable,
                firstProcess: Int64(parent)),
            root: try Kernel.open("/", in: nil, O_DIRECTORY | pathOnly))
    }

    private func ownMounts(_ program: [String] = [theCat]) throws -> Child {
        try Child(["/usr/bin/unshare", "-m"] + program)
    }

    private func namespaces(_ child: Child) throws -> Namespaces {
        try Namespaces(of: ProcessFolder(processID: child.processID))
    }

    @Test func theManagersMountNamespaceIsAReferenceOne() async throws {
        let manager = try ownMounts()
        let reference = try reference([manager])
        #expect(try reference.contain(namespaces(manager), of: 0) == true)
        #expect(try reference.contain(namespaces(manager), of: nobody) == false)
        #expect(try reference.contain(namespaces(try ownMounts()), of: 0) == false)
        // What the manager starts in it is known by its program.
        let entered = try Child(["/usr/bin/nsenter", "-m", "-t", "\(manager.processID)", theCat])
        let found = try await facts(of: entered, Meeting(reference: reference))
        #expect(found.inReferenceNamespaces == true)
        #expect(found.executable == .init(paths: [theCat], trust: .file))
    }

    @Test func whoeverIsNotPID1sChildIsNoManager() throws {
        let forger = try ownMounts()
        #expect(try reference([forger], parent: 1).contain(namespaces(forger), of: 0) == false)
    }

    @Test func whoeverRunsAnotherProgramIsNoManager() throws {
        let forger = try ownMounts()
        #expect(try reference([forger], program: "/usr/bin/env").contain(namespaces(forger), of: 0) == false)
    }

    @Test func aProcessOfAnotherUserIsNoManager() throws {
        let forger = try ownMounts(asNobody + [theCat])
        #expect(try reference([forger]).contain(namespaces(forger), of: 0) == false)
    }

    @Test func whoeverCannotGainPrivilegesIsNoManager() throws {
        let forger = try ownMounts(["/usr/bin/setpriv", "--no-new-privs", theCat])
        #expect(try reference([forger]).contain(namespaces(forger), of: 0) == false)
    }

    /// The user owns the manager's control group, and may put there what it started in namespaces of its own.
    @Test(.enabled(if: NamespaceTests.canUnshare, "needs user namespaces"))
    func aMountNamespaceOfTheUsersOwnMakingIsNone() throws {
        let forger = try Child(["/usr/bin/unshare", "-Urm", theCat])
        #expect(try reference([forger]).contain(namespaces(forger), of: 0) == false)
        let entered = try Child(["/usr/bin/nsenter", "-m", "-t", "\(forger.processID)", theCat])
        #expect(try reference([forger]).contain(namespaces(entered), of: 0) == false)
    }

    @Test func whereSeveralPassForTheManagerNoneIs() throws {
        let two = [try ownMounts(), try ownMounts()]
        let reference = try reference(two)
        for one in two { #expect(try reference.contain(namespaces(one), of: 0) == false) }
    }
}
