internal import SDBus

/// What leases and upkeep go by: CLOCK_MONOTONIC, which stands still while the machine sleeps, and chance.
public struct LeaseClock {
    let boot: [UInt8]
    let now: () -> UInt64
    let timer: (UInt64, @escaping @BrokerActor () -> Void) -> AnyObject
    let chance: () -> Double

    /// `boot` tells one boot of the machine from another; `timer` calls back at that time, and is cancelled when its
    /// result is released; `chance` gives a number in 0 to 1.
    public init(
        boot: [UInt8], now: @escaping () -> UInt64,
        timer: @escaping (UInt64, @escaping @BrokerActor () -> Void) -> AnyObject,
        chance: @escaping () -> Double
    ) {
        self.boot = boot
        self.now = now
        self.timer = timer
        self.chance = chance
    }

    /// The clock of the loop.
    @BrokerActor public static func loop(boot: [UInt8]) -> LeaseClock {
        let loop = BrokerActor.shared.loop
        return LeaseClock(
            boot: boot, now: { loop.now() }, timer: { loop.timer(at: $0, $1) },
            chance: { Double.random(in: 0...1) })
    }
}
