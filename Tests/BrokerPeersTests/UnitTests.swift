import BrokerModel
import Glibc
import Testing

@testable import BrokerPeers

extension RealGroupTests {
    /// The unit of real processes in real control groups.
    @TestActor @Suite
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
            let path = "\(manager)/\(slice)/a.service"
            #expect(try await unit(in: path) == .init(name: "a.service", isSystem: false))
        }

        @Test func aServiceOfAnotherUsersManagerIsNone() async throws {
            #expect(
                try await unit(in: "user.slice/user-4242.slice/user@4242.service/\(slice)/a.service") == nil)
        }

        @Test func aSessionIsNoUnit() async throws {
            #expect(try await unit(in: "user.slice/user-4242.slice/session-\(getpid()).scope") == nil)
        }

        /// A number that is a later process's says nothing of its unit either.
        @Test func aLatePinOfAProcessYoungerThanTheConnectionHasNoUnit() async throws {
            let meeting = Meeting(pin: .lateAndOlderThanTheProcess)
            #expect(try await unit(in: "\(slice)/a.service", meeting) == nil)
        }
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
