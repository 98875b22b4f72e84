import BrokerModel
import Foundation
import Glibc
import Testing

@testable import BrokerPeers

/// A control group of the machine's unified hierarchy, gone with the value.
private final class Group: Sendable {
    private static let hierarchy = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first {
        unsafe access($0 + "/cgroup.procs", W_OK) == 0
    }

    static let canBeMade = (try? Group("chatelaine-test-\(getpid()).slice/a.service")) != nil

    private let path: String
    /// Those that this one made, and takes away again.
    private let made: [String]

    init(_ path: String) throws {
        guard let hierarchy = Self.hierarchy else { throw Child.Failure(step: "cgroup", code: ENOENT) }
        var made: [String] = []
        var folder = hierarchy
        for name in path.split(separator: "/") {
            folder += "/\(name)"
            if unsafe mkdir(folder, 0o755) == 0 { made.append(folder) }
        }
        self.path = folder
        self.made = made
        guard unsafe access(folder, W_OK) == 0 else { throw Child.Failure(step: "mkdir", code: errno) }
    }

    func take(_ child: Child) throws {
        let file = unsafe open("\(path)/cgroup.procs", O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let text = Array("\(child.processID)\n".utf8)
        guard unsafe write(file, text, text.count) == text.count else {
            throw Child.Failure(step: "cgroup.procs", code: errno)
        }
    }

    deinit {
        for folder in made.reversed() { unsafe rmdir(folder) }
    }
}

/// The unit of real processes in real control groups.
@TestActor @Suite(.serialized, .enabled(if: Group.canBeMade, "needs a control group to write to"))
struct UnitTests {
    private let slice = "chatelaine-test-\(getpid()).slice"
    private let manager = "user.slice/user-\(geteuid()).slice/user@\(geteuid()).service"

    private func unit(in path: String, _ meeting: Meeting = Meeting()) async throws -> PeerFacts.Unit? {
        let group = try Group(path)
        let child = try Child([theCat])
        try group.take(child)
        let found = try await facts(of: child, meeting)
        child.end()
        withExtendedLifetime(group) {}
        return found.unit
    }

    @Test func aServiceOfTheSystemIsOne() async throws {
        #expect(try await unit(in: "\(slice)/a.service") == .init(name: "a.service", isSystem: true))
        #expect(try await unit(in: "\(slice)/a.service/sub") == .init(name: "a.service", isSystem: true))
    }

    @Test func aServiceOfTheUsersManagerIsTheUsers() async throws {
        let path = "\(manager)/chatelaine-test.slice/a.service"
        #expect(try await unit(in: path) == .init(name: "a.service", isSystem: false))
    }

    @Test func aServiceOfAnotherUsersManagerIsNone() async throws {
        #expect(try await unit(in: "user.slice/user-4242.slice/user@4242.service/a.service") == nil)
    }

    @Test func aSessionIsNoUnit() async throws {
        #expect(try await unit(in: "user.slice/user-4242.slice/session-1.scope") == nil)
    }

    /// A number that is a later process's says nothing of its unit either.
    @Test func aLatePinOfAProcessYoungerThanTheConnectionHasNoUnit() async throws {
        let meeting = Meeting(pin: .lateAndOlderThanTheProcess)
        #expect(try await unit(in: "\(slice)/a.service", meeting) == nil)
    }
}

@TestActor @Suite struct RegisteredUserTests {
    @Test func aUserOfTheDatabasesIsRegistered() async throws {
        #expect(try await facts(of: Child([theCat])).userIsRegistered)
    }

    /// A user namespace has ids that are nobody's, with whom a broker for all users would fill its disk.
    @Test func aNumberOfNobodysIsNot() async throws {
        let facts = try await facts(of: Child([theCat]), Meeting(userID: 3_999_999_999))
        #expect(!facts.userIsRegistered)
        #expect(facts.userID == 3_999_999_999)
    }

    @Test(arguments: [
        (UInt32(0), false), (1, true), (999, true), (1000, false), (61_183, false), (61_184, true),
        (65_519, true), (65_520, false), (65_534, false),
    ])
    func servicesHaveTheirOwnNumbers(_ userID: UInt32, _ isService: Bool) {
        #expect(PeerFacts(userID: userID).userIsService == isService)
    }
}
