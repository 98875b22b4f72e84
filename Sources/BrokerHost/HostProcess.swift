/// What the kernel says of a process, for a person to read. Nobody is let in by it.
public struct HostProcess: Sendable, CustomStringConvertible {
    /// Its number.
    public let id: UInt32
    /// The file that it runs; where that may not be read, what it has called itself.
    public let program: String
    /// The unit of the user's service manager that it is of; nil where it is of none.
    public let unit: String?

    /// Looks now. Who has gone has no program.
    public init(_ id: UInt32) {
        let folder = "/proc/\(id)"
        self.id = id
        let called = HostKernel.text(folder + "/cmdline")?.split(separator: "\0").first.map(String.init)
        let found = HostName.target(of: folder + "/exe") ?? called ?? HostKernel.text(folder + "/comm")
        program = (found ?? "unknown program").plain
        unit = Self.unit(HostKernel.text(folder + "/cgroup") ?? "")
    }

    /// For a message: number, program, and unit where there is one.
    public var description: String {
        "process \(id), \(program)" + (unit.map { ", of \($0)" } ?? "")
    }

    static func unit(_ controlGroups: String) -> String? {
        let own = controlGroups.split(separator: "\n").last { $0.hasPrefix("0::") } ?? ""
        let parts = own.split(separator: "/")
        guard let last = parts.last, last.hasSuffix(".service"), parts.count > 1 else { return nil }
        return parts.dropLast().contains { $0.hasPrefix("user@") } ? String(last) : nil
    }
}
