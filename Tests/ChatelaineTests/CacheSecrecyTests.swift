import Chatelaine
import SDBus
import TestKit
import Testing

/// A secret that is made byte by byte, so that it stands nowhere but where the library has put it.
private enum Pattern {
    static let count = 3_000
    static let mask: UInt8 = 0x5A

    static func byte(_ index: Int) -> UInt8 {
        var value = UInt64(index) &* 0xD134_2543_DE82_EF95 &+ 0x0F1E_2D3C_4B5A_6978
        value ^= value >> 31
        value = value &* 0x9E37_79B9_7F4A_7C15
        return UInt8(truncatingIfNeeded: value >> 43)
    }

    static func secret() -> Secret {
        Secret(count: count) { span in
            for index in 0..<count { span[index] = byte(index) }
        }
    }

    /// Copies of pieces of it anywhere in this process. The ends are left out: a freed block's ends are overwritten.
    static func copies() async throws -> Int {
        let windows = stride(from: 200, to: count - 200, by: 500).map { start in
            (start..<start + 24).map { byte($0) ^ mask }
        }
        return try await MemoryScan.count(masked: windows, mask: mask)
    }
}

/// What a cache holds is in this process, and is gone from it after a lock and after a logout.
@Suite(.serialized) struct CacheSecrecyTests {
    @Test(arguments: BrokerStage.Way.allCases)
    func aLockWipesIt(way: BrokerStage.Way) async throws {
        let stage = try await BrokerStage()
        let cache = RuntimeSecretCache(stage.vault(way: way))
        _ = try await cache.secret(account: "alice") { FetchedSecret(Pattern.secret()) }
        #expect(try await Pattern.copies() > 0)
        try await stage.setPasscode()
        try await stage.lock()
        try await waitUntil("the lock to wipe it") { try await Pattern.copies() == 0 }
        withExtendedLifetime(cache) {}
    }

    @Test func aLogoutWipesIt() async throws {
        let stage = try await BrokerStage()
        let cache = RuntimeSecretCache(stage.vault())
        _ = try await cache.secret(account: "alice") { FetchedSecret(Pattern.secret()) }
        // As a second reader gets it: out of a message.
        let second = RuntimeSecretCache(stage.vault())
        _ = try await second.secret(account: "alice") { throw TestFailure("it is stored") }
        #expect(try await Pattern.copies() > 0)
        try await stage.vault().logOut()
        try await waitUntil("the logout to wipe it") { try await Pattern.copies() == 0 }
        withExtendedLifetime((cache, second)) {}
    }
}
