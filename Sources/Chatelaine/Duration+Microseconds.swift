extension Duration {
    /// Whole microseconds, 0 for a negative one; what is too long for the clocks is the longest.
    package var microseconds: UInt64 {
        let (whole, overflow) = UInt64(clamping: components.seconds).multipliedReportingOverflow(
            by: 1_000_000)
        if overflow { return .max }
        return whole.adding(UInt64(clamping: components.attoseconds / 1_000_000_000_000))
    }
}

extension UInt64 {
    /// The sum, or the largest number where it is larger.
    package func adding(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
