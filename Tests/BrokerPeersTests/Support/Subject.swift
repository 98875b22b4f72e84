import BrokerModel
import Glibc

@testable import BrokerPeers

/// How the bus and the broker met a connection.
struct Meeting: Sendable {
    enum Pin: Sendable {
        /// dbus 1.16: a pidfd fixed at connect.
        case byTheBus
        /// Before that; the connection appeared after its process had started.
        case late
        /// As `late`, but its name is older than the process of that number.
        case lateAndOlderThanTheProcess
        /// As `late`, on a connection that is older than the broker.
        case lateAndOlderThanTheBroker
    }

    var pin = Pin.byTheBus
    var userID = geteuid()
    var groupIDs: [UInt32] = []
    var policy: [String] = []
    var label: [UInt8]?
    /// Nil: as with `--user`.
    var reference: ReferenceNamespaces?
    var reader: any DeadlineReader = ThreadReader()
}

extension ConnectionCredentials {
    /// What the bus says; `pidfd` adds a descriptor that the receiver owns.
    static func of(
        _ processID: UInt32?, userID: UInt32? = geteuid(), groupIDs: [UInt32] = [], pidfd: Bool = false
    ) -> ConnectionCredentials {
        var credentials = ConnectionCredentials()
        credentials.userID = userID
        credentials.processID = processID
        credentials.groupIDs = groupIDs
        if pidfd, let processID, let opened = try? Kernel.openProcess(processID) {
            credentials.processFD = fcntl(opened.raw, F_DUPFD_CLOEXEC, 3)
        }
        return credentials
    }
}

/// The facts of one new connection of `child`, asked of a new broker.
@TestActor func facts(of child: Child, _ meeting: Meeting = Meeting()) async throws -> PeerFacts {
    let number = child.processID
    let source = FixedSource([
        ":1.1": {
            var credentials = ConnectionCredentials.of(
                number, userID: meeting.userID, groupIDs: meeting.groupIDs,
                pidfd: meeting.pin == .byTheBus)
            credentials.securityLabel = meeting.label
            return credentials
        }
    ])
    let peers = Peers(
        source: source, reader: meeting.reader, reference: try meeting.reference ?? .current())
    switch meeting.pin {
    case .byTheBus, .lateAndOlderThanTheBroker: break
    case .late: peers.noteAppeared(":1.1", bootTimeMicroseconds: bootTimeMicroseconds())
    case .lateAndOlderThanTheProcess: peers.noteAppeared(":1.1", bootTimeMicroseconds: 1)
    }
    return try await peers.identify(":1.1", policyExecutables: meeting.policy).facts
}

func bootTimeMicroseconds() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &now)
    return UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
}

let identityUnavailable = Refusal(.identityUnavailable, "compared by kind")
