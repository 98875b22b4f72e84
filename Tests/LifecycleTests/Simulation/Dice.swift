/// Chance that comes out the same for the same seed (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Whether what happens so often out of a thousand times happens now.
    mutating func chance(perMille: UInt64) -> Bool { next() % 1000 < perMille }

    /// A time between the two, in microseconds.
    mutating func time(_ range: ClosedRange<Double>) -> UInt64 {
        UInt64(Double.random(in: range, using: &self) * 1_000_000)
    }
}
