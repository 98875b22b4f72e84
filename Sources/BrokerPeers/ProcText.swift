/// The few things this room reads out of the texts of `/proc`.
enum ProcText {
    /// The numbers of the line that begins with `key`; nil when there is no such line. Newlines in a
    /// program's name are escaped by the kernel, so a name cannot pass for a line.
    static func numbers(of key: String, in text: [UInt8]) -> [Int64]? {
        let line = text.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: key.utf8) }
        return line?.dropFirst(key.utf8.count)
            .split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
            .compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
    }

    /// Field 22 of `/proc/PID/stat`: when the process started, in clock ticks since boot. The program's
    /// name, field 2, may hold blanks and parentheses of its own, so fields are counted after the last one.
    static func startTicks(in text: [UInt8]) -> UInt64? {
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19 else { return nil }
        return UInt64(String(decoding: fields[19], as: UTF8.self))
    }
}
