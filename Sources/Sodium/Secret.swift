internal import CSodium

/// Bytes that must not be copied, printed or left behind: in locked memory, wiped on release.
///
/// It moves and is borrowed; the compiler refuses a copy, an interpolation and a span that outlives it.
@safe public struct Secret: ~Copyable, Sendable {
    // Written during initialisation only, then read; freed once, in deinit.
    nonisolated(unsafe) private let memory: UnsafeMutableRawPointer
    /// The number of bytes, which may be 0.
    public let count: Int

    /// `count` bytes that `fill` writes; they are zero where it does not.
    public init<Failure: Error>(
        count: Int, _ fill: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let memory = unsafe SecretArena.shared.allocate(count)
        unsafe sodium_memzero(memory, count)
        do throws(Failure) {
            let bytes = unsafe memory.assumingMemoryBound(to: UInt8.self)
            var span = unsafe MutableSpan(_unsafeStart: bytes, count: count)
            try fill(&span)
        } catch {
            unsafe SecretArena.shared.release(memory, count)
            throw error
        }
        unsafe self.memory = memory
        self.count = count
    }

    /// A copy of `bytes`, which the caller wipes where it owns them.
    public init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { target in
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    /// `count` bytes from the system's random source.
    public static func random(_ count: Int) -> Secret {
        Secret(count: count) { target in
            unsafe target.withUnsafeMutableBytes {
                if count > 0 { unsafe randombytes_buf($0.baseAddress!, count) }
            }
        }
    }

    /// The bytes, for as long as the secret is borrowed.
    public var span: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let bytes = unsafe UnsafePointer(memory.assumingMemoryBound(to: UInt8.self))
            let span = unsafe Span(_unsafeStart: bytes, count: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Another secret of the same bytes, in memory of its own.
    public borrowing func duplicate() -> Secret { Secret(copying: span) }

    /// Whether both hold the same bytes, in time that depends on their lengths alone.
    public borrowing func isEqual(to other: borrowing Secret) -> Bool {
        guard count == other.count else { return false }
        return unsafe sodium_memcmp(memory, other.memory, count) == 0
    }

    deinit { unsafe SecretArena.shared.release(memory, count) }

    /// Whether all secret memory so far is locked, so that none of it can reach a swap device.
    public static var memoryIsLocked: Bool { SecretArena.shared.isLocked }
}

extension MutableSpan<UInt8> {
    /// Writes a secret's bytes into the span, which must have room for them.
    @_lifetime(self: copy self)
    public mutating func copy(_ secret: borrowing Secret, at offset: Int = 0) {
        for index in 0..<secret.count { self[offset + index] = secret.span[index] }
    }
}

/// A secret that several owners share, or that a collection holds; wiped with its last owner.
public final class SharedSecret: Sendable {
    /// The one secret.
    public let secret: Secret

    /// Takes the secret over.
    public init(_ secret: consuming Secret) { self.secret = secret }
}
