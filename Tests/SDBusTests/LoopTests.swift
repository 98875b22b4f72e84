import Glibc
import SDBus
import TestKit
import Testing

@Suite struct LoopTests {
    init() { TestLoop.start() }

    private var loop: EventLoop { BrokerActor.shared.loop }

    @BrokerActor @Test(arguments: [EventClock.monotonic, .boottime, .realtime])
    func timersFireOnceEachAndNotBeforeTheirTimes(_ clock: EventClock) async throws {
        let fired = Mailbox<(Int, UInt64)>()
        let start = loop.now(clock)
        let timers = [3, 1, 2].map { number in
            loop.timer(clock: clock, at: start + UInt64(number) * 2_000) { [loop] in
                fired.post((number, loop.now(clock)))
            }
        }
        var seen: Set<Int> = []
        for _ in timers {
            let (number, time) = try await fired.next("a timer")
            #expect(time >= start + UInt64(number) * 2_000)
            seen.insert(number)
        }
        #expect(seen == [1, 2, 3])
    }

    @BrokerActor @Test func cancelledAndReleasedTimersDoNotFire() async throws {
        let fired = Mailbox<Int>()
        let time = loop.now() + 1_000
        let cancelled = loop.timer(at: time) { fired.post(1) }
        cancelled.cancel()
        _ = loop.timer(at: time) { fired.post(2) }
        let kept = loop.timer(at: time + 1) { fired.post(3) }
        #expect(try await fired.next("the timer that was kept") == 3)
        cancelled.cancel()
        kept.cancel()
    }

    @BrokerActor @Test func aTimerInThePastFiresOnceAndLetsGoOfWhatItHeld() async throws {
        final class Held {}
        let fired = Mailbox<Void>()
        var held: Held? = Held()
        weak let watched = held
        let timer = loop.timer(at: 0) { [held] in
            _ = held
            fired.post(())
        }
        held = nil
        try await fired.next("the timer")
        try await waitUntil("the closure to go") { @BrokerActor in watched == nil }
        timer.cancel()
    }

    @BrokerActor @Test func sleepWaitsAndIsCancelled() async throws {
        let start = loop.now()
        try await loop.sleep(microseconds: 2_000)
        #expect(loop.now() >= start + 2_000)
        let ended = Mailbox<Bool>()
        let sleeper = BrokerActor.start {
            do throws(CancellationError) {
                try await loop.sleep(until: .max - 1)
                ended.post(false)
            } catch {
                ended.post(true)
            }
        }
        await Task.yield()
        sleeper.cancel()
        #expect(try await ended.next("the cancellation"))
        #expect(loop.isCurrent)
    }

    @BrokerActor @Test func aSignalIsCalledOnTheLoop() async throws {
        let arrived = Mailbox<Bool>()
        try loop.onSignal(SIGUSR1) { arrived.post(BrokerActor.shared.loop.isCurrent) }
        // To this thread alone, which is the loop's: the test process has others that do not block it.
        raise(SIGUSR1)
        #expect(try await arrived.next("the signal"))
        raise(SIGUSR1)
        #expect(try await arrived.next("the signal again"))
        #expect(throws: BusError.self) { try loop.onSignal(-1) {} }
    }

    @BrokerActor @Test func aDescriptorIsWatchedUntilItIsNot() async throws {
        let (socket, other) = try RawSocket.pair()
        let descriptor = UnixFD(owning: other)
        let number = descriptor.number
        let events = Mailbox<IOEvents>()
        let source = try loop.watch(number, .readable) { happened in
            var byte: UInt8 = 0
            unsafe read(number, &byte, 1)
            events.post(happened)
        }
        await socket.write([1])
        #expect(try await events.next("a byte") == .readable)
        source.cancel()
        await socket.write([1])
        events.post([])
        #expect(try await events.next("what was posted here") == [])
        #expect(throws: BusError.self) { try loop.watch(-1, .readable) { _ in } }
        _ = consume descriptor
    }

    @BrokerActor @Test func theActorRunsOnTheLoopBeforeAndAfterEachWait() async throws {
        #expect(loop.isCurrent)
        BrokerActor.preconditionIsolated()
        let thread = WorkThread(name: "elsewhere")
        let wasElsewhere = await thread.run { !BrokerActor.shared.loop.isCurrent }
        #expect(wasElsewhere && loop.isCurrent)
        await Task.yield()
        #expect(loop.isCurrent)
        let value = BrokerActor.assumeIsolated { 5 }
        #expect(value == 5)
    }

    @Test func tasksStartedOnTheActorStayOnTheLoopEvenWhereNothingIsIsolated() async {
        let stayed = await BrokerActor.start { await LoopTests.isOnLoop() }.value
        #expect(stayed)
        #expect(!BrokerActor.shared.loop.isCurrent)
    }

    @BrokerActor @Test func jobsFromManyThreadsAllRun() async throws {
        final class Counter { var value = 0 }
        let counter = Counter()
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask { @BrokerActor in counter.value += 1 }
            }
        }
        #expect(counter.value == 200)
    }

    @BrokerActor @Test func withoutASystemdWatchdogNoneIsAnswered() {
        #expect(loop.enableWatchdog() == false)
    }

    @concurrent private static func isOnLoop() async -> Bool {
        BrokerActor.shared.loop.isCurrent
    }

    @Test func theLoopRunsOnTheThreadThatCallsItAndStopsWithItsCode() async {
        await #expect(processExitsWith: .exitCode(7)) {
            BrokerActor.start {
                do throws(CancellationError) {
                    try await BrokerActor.shared.loop.sleep(microseconds: 1)
                } catch {}
                BrokerActor.shared.loop.stop(code: 7)
            }
            exit(BrokerActor.shared.loop.run())
        }
    }

    @Test func assumingIsolationElsewhereStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            BrokerActor.assumeIsolated {}
        }
    }
}
