/// Stretches of time, in microseconds of the monotonic clock.
struct Spans {
    private(set) var ranges: [Range<UInt64>] = []

    init(_ ranges: [Range<UInt64>]) { self.ranges = ranges }

    /// What is left when that time is taken out.
    func without(_ other: Range<UInt64>) -> Spans {
        Spans(
            ranges.flatMap { range -> [Range<UInt64>] in
                guard range.overlaps(other) else { return [range] }
                let before = range.lowerBound..<max(range.lowerBound, other.lowerBound)
                let after = min(range.upperBound, other.upperBound)..<range.upperBound
                return [before, after].filter { !$0.isEmpty }
            })
    }

    /// The longest stretch of it that lies in that time.
    func longest(in other: Range<UInt64>) -> UInt64 {
        ranges.map { range in
            let part = range.clamped(to: other)
            return part.upperBound - part.lowerBound
        }.max() ?? 0
    }
}
