/// A moment in microseconds since the Unix epoch, as a person writes and reads it (RFC 3339, in UTC).
enum Moment {
    /// Reads `8h`, a duration from `now`, or `2030-01-31T12:00:00Z`. Nil for anything else, and for what is
    /// before the epoch or beyond the year 9999.
    static func parse(_ text: String, now: UInt64) -> UInt64? {
        duration(text).map { now + $0 } ?? timestamp(text)
    }

    private static let units: [(name: String, seconds: UInt64)] = [
        ("s", 1), ("min", 60), ("h", 3600), ("d", 86_400), ("w", 604_800),
    ]

    private static func duration(_ text: String) -> UInt64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = UInt64(digits),
            let unit = units.first(where: { $0.name == text.dropFirst(digits.count) }),
            count <= 253_402_300_799 / unit.seconds
        else { return nil }
        return count * unit.seconds * 1_000_000
    }

    private static func timestamp(_ text: String) -> UInt64? {
        let pattern =
            /(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?(?:[Zz]|([+\-])(\d\d):(\d\d))/
        guard let found = text.asciiOnly?.wholeMatch(of: pattern)?.output else { return nil }
        func number(_ digits: Substring?) -> Int { digits.flatMap { Int($0) } ?? 0 }
        let date = (number(found.1), number(found.2), number(found.3))
        let time = (number(found.4), number(found.5), number(found.6))
        let offset = (number(found.9), number(found.10))
        guard Civil.exists(date), time.0 < 24, time.1 < 60, time.2 < 60, offset.0 < 24, offset.1 < 60 else {
            return nil
        }
        let east = (offset.0 * 60 + offset.1) * 60 * (found.8 == "-" ? -1 : 1)
        let seconds = Civil.days(date) * 86_400 + time.0 * 3600 + time.1 * 60 + time.2 - east
        let fraction = found.7.map { $0 + String(repeating: "0", count: 6 - $0.count) }
        return seconds < 0 ? nil : UInt64(seconds) * 1_000_000 + UInt64(number(fraction.map { $0[...] }))
    }

    /// The moment to the second, such as `2026-11-30T03:12:25Z`.
    static func text(_ microseconds: UInt64) -> String {
        let seconds = Int(microseconds / 1_000_000)
        let date = Civil.date(seconds / 86_400)
        let time = seconds % 86_400
        let parts = [time / 3600, time / 60 % 60, time % 60].map(twoDigits).joined(separator: ":")
        return "\(date.year)-\(twoDigits(date.month))-\(twoDigits(date.day))T\(parts)Z"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension String {
    // `\d` means any script's digits.
    fileprivate var asciiOnly: String? { utf8.allSatisfy { $0 < 0x80 } ? self : nil }
}

/// The proleptic Gregorian calendar. Years are counted from March, so that the leap day is their last.
private enum Civil {
    private static let daysOf400Years = 146_097

    static func exists(_ date: (year: Int, month: Int, day: Int)) -> Bool {
        guard (1...12).contains(date.month) else { return false }
        let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...lengths[date.month - 1]).contains(date.day)
    }

    /// Days since the Unix epoch.
    static func days(_ date: (year: Int, month: Int, day: Int)) -> Int {
        let year = date.month > 2 ? date.year : date.year - 1
        let month = (date.month + 9) % 12
        let before = year * 365 + year / 4 - year / 100 + year / 400
        // 719,468 days lie between March 1st of year 0 and the epoch.
        return before + (153 * month + 2) / 5 + date.day - 1 - 719_468
    }

    static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / daysOf400Years
        let day = shifted % daysOf400Years
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (
            year: era * 400 + year + (month >= 10 ? 1 : 0), month: month < 10 ? month + 3 : month - 9,
            day: dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}
