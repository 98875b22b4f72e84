import Glibc
import TestKit
import Testing

@testable import Sodium

/// Secret memory: locked, wiped, handed out once.
@Suite(.serialized) struct SecretTests {
    @Test(arguments: [0, 1, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 65_536, 1 << 20])
    func aSecretOfAnySizeHoldsItsBytes(count: Int) {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
        let one = secret(content)
        #expect(one.count == count && bytes(one) == content)
        let two = one.duplicate()
        #expect(bytes(two) == content)
        let areEqual = one.isEqual(to: two)
        #expect(areEqual)
        let zero = Secret(count: count) { _ in }
        #expect(bytes(zero) == [UInt8](repeating: 0, count: count))
    }

    @Test func equalityIsOfAllBytesAndOfTheLength() {
        let one = secret([1, 2, 3])
        for other in [[1, 2, 4], [0, 2, 3], [1, 2], [1, 2, 3, 0], []] as [[UInt8]] {
            let areEqual = one.isEqual(to: secret(other))
            #expect(!areEqual, "\(other)")
        }
        let emptyOnes = secret([]).isEqual(to: secret([]))
        #expect(emptyOnes)
    }

    /// A slot comes back to the next secret of its size; what it held is gone by then.
    @Test(arguments: [1, 48, 200, 1000, 4000])
    func aSlotThatComesBackIsZero(count: Int) {
        let arena = SecretArena.shared
        let first = unsafe arena.allocate(count)
        unsafe memset(first, 0xa5, count)
        unsafe arena.release(first, count)
        let second = unsafe arena.allocate(count)
        let isTheSame = unsafe first == second
        #expect(isTheSame)
        let found = (0..<count).filter {
            unsafe second.load(fromByteOffset: $0, as: UInt8.self) != 0
        }
        #expect(found.isEmpty)
        unsafe arena.release(second, count)
    }

    private static let mask: UInt8 = 0x3c

    @Test(arguments: [48, 4000, 5000])
    func aSecretIsInMemoryOnceAndNotAfterItsRelease(count: Int) async throws {
        let masked = (0..<48).map { UInt8(truncatingIfNeeded: $0 &* 29 &+ count) }
        func make() -> SharedSecret {
            SharedSecret(
                Secret(count: count) { target in
                    for index in 0..<48 { target[index] = masked[index] ^ Self.mask }
                })
        }
        do {
            let shared = make()
            #expect(try await MemoryScan.count(masked: [masked], mask: Self.mask) == 1)
            #expect(shared.secret.count == count)
        }
        #expect(try await MemoryScan.count(masked: [masked], mask: Self.mask) == 0)
    }

    @Test func aFillThatThrowsLeavesNothing() async throws {
        struct Stop: Error {}
        let masked = (0..<48).map { UInt8(truncatingIfNeeded: $0 &* 23 &+ 5) }
        #expect(throws: Stop.self) {
            _ = try Secret(count: 48) { (target) throws(Stop) in
                for index in 0..<48 { target[index] = masked[index] ^ Self.mask }
                throw Stop()
            }
        }
        #expect(try await MemoryScan.count(masked: [masked], mask: Self.mask) == 0)
    }

    /// No two secrets that live at once share a byte.
    @Test func theArenaServesManyThreads() async {
        let workers = (0..<16).map { worker in Task.detached { Self.churn(seed: UInt8(worker)) } }
        for worker in workers { #expect(await worker.value) }
    }

    private static func churn(seed: UInt8) -> Bool {
        var kept: [(SharedSecret, UInt8)] = []
        for round in 0..<400 {
            let mark = seed &* 16 &+ UInt8(truncatingIfNeeded: round)
            let count = [5, 64, 100, 256, 900, 3000, 5000][round % 7]
            kept.append((SharedSecret(Secret(count: count) { $0.update(repeating: mark) }), mark))
            if kept.count > 20 {
                let (shared, mark) = kept.removeFirst()
                guard bytes(shared.secret).allSatisfy({ $0 == mark }) else { return false }
            }
        }
        return kept.allSatisfy { shared, mark in bytes(shared.secret).allSatisfy { $0 == mark } }
    }

    @Test func moreSecretsThanMappingsAreAllowedLiveTogether() {
        let many = (0..<20_000).map { number in
            SharedSecret(Secret(count: 32) { $0[0] = UInt8(truncatingIfNeeded: number) })
        }
        #expect(many.enumerated().allSatisfy { bytes($1.secret)[0] == UInt8(truncatingIfNeeded: $0) })
    }

    /// As an ordinary user: a limit does not bind root.
    @Test(.enabled(if: !isSanitized, "a sanitizer makes mlock do nothing"))
    func memoryThatCannotBeLockedIsReported() async {
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { precondition(setuid(65_534) == 0) }
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            precondition(unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0)
            let first = Secret(count: 32) { $0[0] = 1 }
            precondition(Secret.memoryIsLocked && first.count == 32)
            let large = Secret(count: 4 << 20) { $0[0] = 1 }
            precondition(!Secret.memoryIsLocked && bytes(large)[0] == 1)
        }
    }

    @Test func memoryIsLockedWhereTheLimitAllowsIt() async {
        await #expect(processExitsWith: .success) {
            let one = Secret(count: 32) { $0[0] = 1 }
            precondition(Secret.memoryIsLocked && one.count == 32)
        }
    }

    @Test func randomBytesAreOfTheLengthAskedForAndDiffer() {
        #expect(Random.bytes(0).isEmpty)
        #expect(Random.bytes(24).count == 24 && Random.bytes(24) != Random.bytes(24))
    }
}

/// Whether this process runs under the thread or the address sanitizer.
private var isSanitized: Bool {
    unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
