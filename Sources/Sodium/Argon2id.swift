internal import CSodium

/// The slow hash of passcodes: Argon2id version 1.3 (RFC 9106), one lane.
public enum Argon2id {
    /// What one derivation costs; stored beside what it protects.
    public struct Cost: Sendable, Equatable {
        /// Passes over the memory.
        public let passes: UInt32
        /// Memory in KiB.
        public let memoryKiB: UInt32

        /// Nil outside the bounds: a damaged or hostile header must make a derivation neither cheap nor
        /// endless.
        public init?(passes: UInt32, memoryKiB: UInt32) {
            guard (2...16).contains(passes), (64 << 10...1 << 20).contains(memoryKiB) else { return nil }
            self.passes = passes
            self.memoryKiB = memoryKiB
        }

        private init() {
            passes = 3
            memoryKiB = 64 << 10
        }

        /// What new slots get: 3 passes over 64 MiB.
        public static let standard = Cost()
    }

    /// The length of a salt.
    public static let saltBytes = 16

    /// Takes a tenth of a second or more: never on the actor's thread. Nil when there is no memory for it.
    public static func derive(_ passcode: borrowing Secret, salt: [UInt8], cost: Cost) -> Key? {
        precondition(salt.count == saltBytes)
        var succeeded = false
        let key = Key { target in
            unsafe target.withUnsafeMutableBufferPointer { output in
                unsafe passcode.span.withUnsafeBufferPointer { passcode in
                    // An empty span has no address, and libsodium wants one.
                    let empty: CChar = 0
                    unsafe withUnsafePointer(to: empty) { empty in
                        let text =
                            unsafe passcode.isEmpty
                            ? empty
                            : UnsafeRawPointer(passcode.baseAddress!).assumingMemoryBound(to: CChar.self)
                        succeeded =
                            unsafe crypto_pwhash(
                                output.baseAddress!, UInt64(output.count), text, UInt64(passcode.count),
                                salt, UInt64(cost.passes), Int(cost.memoryKiB) << 10,
                                crypto_pwhash_ALG_ARGON2ID13) == 0
                    }
                }
            }
        }
        guard succeeded else { return nil }
        return key
    }
}
