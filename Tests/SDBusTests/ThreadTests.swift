import Glibc
import SDBus
import TestKit
import Testing

@Suite struct ThreadTests {
    init() { TestLoop.start() }

    @Test func workIsDoneInOrderOnOneThread() async {
        let thread = WorkThread(name: "a name that is too long")
        var threads: Set<UInt> = []
        for number in 0..<100 {
            let (got, id) = await thread.run { (number, UInt(pthread_self())) }
            #expect(got == number)
            threads.insert(id)
        }
        #expect(threads.count == 1)
    }

    @Test func manyCallersShareAWorkThread() async {
        let thread = WorkThread(name: "shared")
        let total = await withTaskGroup { group in
            for number in 1...100 { group.addTask { await thread.run { number } } }
            return await group.reduce(0, +)
        }
        #expect(total == 5_050)
    }

    @Test func aWorkThreadTakesNoSignals() async {
        let blocked = await WorkThread(name: "mask").run {
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            return [SIGTERM, SIGHUP, SIGUSR2, SIGINT].allSatisfy { unsafe sigismember(&mask, $0) == 1 }
        }
        #expect(blocked)
    }

    @Test func whatComesInTimeIsAnswered() async {
        let threads = DeadlineThreads(limitPerKey: 1)
        for number in 0..<20 {
            // One at a time fits a limit of one: the place is free again before the answer comes.
            #expect(await threads.run(deadlineMicroseconds: 60_000_000) { number } == number)
        }
    }

    @Test func whatIsLateIsLeftBehindAndCountsUntilItEnds() async throws {
        let threads = DeadlineThreads(limitPerKey: 2)
        let gates = [Latch(), Latch()]
        for gate in gates {
            #expect(await threads.run(key: 1, deadlineMicroseconds: 1_000) { gate.wait() } == nil)
        }
        let ran = Mailbox<Bool>()
        #expect(await threads.run(key: 1, deadlineMicroseconds: 60_000_000) { ran.post(true) } == nil)
        ran.post(false)
        #expect(try await ran.next("what was posted here") == false)
        #expect(await threads.run(key: 2, deadlineMicroseconds: 60_000_000) { 5 } == 5)
        gates[0].open()
        try await waitUntil("a place to be free") {
            await threads.run(key: 1, deadlineMicroseconds: 60_000_000) { true } == true
        }
        gates[1].open()
    }
}

/// Holds a thread up. It is a pipe, which needs no lock.
private final class Latch: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        unsafe pipe(&ends)
        self.ends = (ends[0], ends[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func wait() {
        var byte: UInt8 = 0
        unsafe read(ends.read, &byte, 1)
    }

    func open() {
        var byte: UInt8 = 1
        unsafe write(ends.write, &byte, 1)
    }
}
