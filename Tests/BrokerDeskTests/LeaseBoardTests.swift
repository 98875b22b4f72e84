import BrokerModel
import Testing

@testable import BrokerDesk

/// Who may refresh when; the board knows no clock but what it is told.
@Suite struct LeaseBoardTests {
    private let board = LeaseBoard()
    private let item = Reference(bytes: [UInt8](repeating: 1, count: 16))!
    private let other = Reference(bytes: [UInt8](repeating: 2, count: 16))!

    private func grant(_ fence: UInt64, _ connection: String = ":1.1", now: UInt64 = 0) -> LeaseBoard.Lease {
        let lease = LeaseBoard.Lease(
            fence: fence, reference: item, connection: connection, application: "app", service: "s",
            deadline: now + LeaseBoard.leaseMicroseconds)
        board.granted(lease)
        return lease
    }

    @Test func oneHasTheTurnUntilItIsALeaseOrNothing() {
        #expect(board.claim(item, now: 0) == .yours)
        #expect(board.claim(item, now: 1 << 60) == .wait(until: .max))
        #expect(board.claim(other, now: 0) == .yours)
        board.release(item)
        #expect(board.claim(item, now: 0) == .yours)
        let lease = grant(1)
        #expect(board.claim(item, now: lease.deadline - 1) == .wait(until: lease.deadline))
        #expect(board.claim(item, now: lease.deadline) == .yours)
    }

    @Test func anEarlierGrantClosesTheItemForItsTime() {
        #expect(board.claim(item, now: 10) == .yours)
        board.release(item, closedUntil: 50)
        #expect(board.claim(item, now: 49) == .wait(until: 50))
        #expect(board.claim(item, now: 50) == .yours)
    }

    @Test func thePauseDoublesUpToItsMaximumWithSomeChance() {
        var now: UInt64 = 0
        var pauses: [UInt64] = []
        for _ in 0..<80 {
            #expect(board.claim(item, now: now) == .yours)
            _ = grant(1, now: now)
            board.failed(1, item, now: now, chance: 1)
            guard case .wait(let until) = board.claim(item, now: now) else {
                Issue.record("there is no pause")
                return
            }
            pauses.append(until - now)
            now = until
        }
        let seconds: [UInt64] = [1, 2, 4, 8, 16, 32, 60]
        #expect(pauses.prefix(7).elementsEqual(seconds.map { $0 * 1_000_000 }))
        #expect(pauses.dropFirst(7).allSatisfy { $0 == LeaseBoard.pauseMicrosecondsMax })
        #expect(board.claim(item, now: now) == .yours)
        _ = grant(1, now: now)
        board.failed(1, item, now: now, chance: 0)
        #expect(board.claim(item, now: now) == .wait(until: now + LeaseBoard.pauseMicrosecondsMax / 2))
    }

    @Test func aChangeOfTheItemEndsLeaseAndPause() {
        #expect(board.claim(item, now: 0) == .yours)
        _ = grant(1)
        board.end(item)
        #expect(board.claim(item, now: 0) == .yours)
        _ = grant(2)
        board.failed(2, item, now: 0, chance: 1)
        board.end(item)
        #expect(board.claim(item, now: 0) == .yours)
    }

    @Test func whoeverIsFreedIsTold() {
        var freed: [Reference] = []
        board.freed = { freed.append($0) }
        #expect(board.claim(item, now: 0) == .yours)
        #expect(board.claim(item, now: 0) == .wait(until: .max))
        #expect(freed.isEmpty)
        // Whoever waits without an end learns of one.
        let lease = grant(1)
        #expect(freed == [item])
        #expect(board.claim(item, now: 0) == .wait(until: lease.deadline))
        board.end(other)
        #expect(freed == [item])
        board.end(item)
        #expect(freed == [item, item])
    }

    @Test func aConnectionThatGoesLosesWhatIsOpen() {
        #expect(board.claim(item, now: 0) == .yours)
        let first = grant(1)
        board.end(item)
        #expect(board.claim(item, now: 0) == .yours)
        let second = grant(2)
        #expect(board.lease(of: 1) == first)
        #expect(board.forget(":1.1") == [second])
        #expect(board.lease(of: 1) == nil && board.lease(of: 2) == nil)
        #expect(board.claim(item, now: 0) == .yours)
        #expect(board.forget(":1.1").isEmpty)
    }

    /// A holder that was late and has been passed over: its going away is nothing to the one who has it now.
    @Test func aConnectionThatWasPassedOverTakesNothingWithIt() {
        #expect(board.claim(item, now: 0) == .yours)
        _ = grant(1, ":1.1")
        #expect(board.claim(item, now: LeaseBoard.leaseMicroseconds) == .yours)
        let second = grant(2, ":1.2", now: LeaseBoard.leaseMicroseconds)
        #expect(board.forget(":1.1").isEmpty)
        #expect(board.claim(item, now: LeaseBoard.leaseMicroseconds) == .wait(until: second.deadline))
    }

    @Test func aLateFailureIsNothingToTheNextHolder() {
        #expect(board.claim(item, now: 0) == .yours)
        _ = grant(1)
        #expect(board.claim(item, now: LeaseBoard.leaseMicroseconds) == .yours)
        let second = grant(2, ":1.2", now: LeaseBoard.leaseMicroseconds)
        board.failed(1, item, now: LeaseBoard.leaseMicroseconds, chance: 1)
        #expect(board.claim(item, now: LeaseBoard.leaseMicroseconds) == .wait(until: second.deadline))
    }

    @Test func oneConnectionsFencesAreBounded() {
        for fence in 1...UInt64(3 * LeaseBoard.fencesPerConnectionMax) {
            #expect(board.claim(item, now: 0) == .yours)
            _ = grant(fence)
            board.end(item)
        }
        let kept = (1...UInt64(3 * LeaseBoard.fencesPerConnectionMax)).filter { board.lease(of: $0) != nil }
        #expect(kept.count == LeaseBoard.fencesPerConnectionMax)
        #expect(kept.first == UInt64(2 * LeaseBoard.fencesPerConnectionMax) + 1)
    }
}
