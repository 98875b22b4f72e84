internal import CSodium
internal import Glibc

/// Locked memory for secrets, cut into slots.
///
/// `sodium_malloc` costs some 26 µs and four mappings a value, and stops at about 16,000 of them, so
/// secrets of up to 4 KiB share regions of it. A slot is wiped when it is given back, before anybody can
/// get it again. Larger secrets get an allocation of their own.
@safe final class SecretArena: @unchecked Sendable {
    // Sendable: every access to the stored fields holds `mutex`.
    static let shared = SecretArena()

    private static let slotSizes = [64, 256, 1024, 4096]

    /// The place of the smallest slot that is large enough; nil where none is.
    private static func slot(for count: Int) -> Int? {
        if count <= 64 { return 0 }
        return slotSizes.firstIndex { count <= $0 }
    }

    private static let regionBytes = 64 << 10

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var free: [[UnsafeMutableRawPointer]]
    private var unlockedRegion = false

    private init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe free = Array(repeating: [], count: Self.slotSizes.count)
        precondition(sodium_init() >= 0, "libsodium could not be initialised")
        // At once, so that a limit that is too small is known at the start and not by some later secret.
        for size in Self.slotSizes.indices { refill(size) }
    }

    /// Whether every region so far is locked in memory; false where `RLIMIT_MEMLOCK` was too small.
    var isLocked: Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return !unlockedRegion
    }

    /// Zeroed or stale-free memory of at least `count` bytes; the caller gives it back to `release`.
    @unsafe func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        guard let size = Self.slot(for: count) else {
            return unsafe region(of: count)
        }
        if unsafe free[size].isEmpty { refill(size) }
        return unsafe free[size].removeLast()
    }

    /// Wipes `count` bytes and takes the memory back.
    @unsafe func release(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        guard let size = Self.slot(for: count) else {
            return unsafe sodium_free(memory)
        }
        unsafe sodium_memzero(memory, count)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        unsafe free[size].append(memory)
    }

    private func refill(_ size: Int) {
        let base = unsafe region(of: Self.regionBytes)
        for offset in stride(from: 0, to: Self.regionBytes, by: Self.slotSizes[size]) {
            unsafe free[size].append(base + offset)
        }
    }

    private func region(of count: Int) -> UnsafeMutableRawPointer {
        // sodium_malloc ignores a lock that fails, so it is asked for again to learn of it.
        guard let memory = unsafe sodium_malloc(count) else { fatalError("out of memory for secrets") }
        if unsafe sodium_mlock(memory, count) != 0 { unlockedRegion = true }
        return unsafe memory
    }
}
