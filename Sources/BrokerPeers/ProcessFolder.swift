import Glibc

/// `/proc/PID`, opened once and read through that one handle, so that all of it is of one process: the
/// handle of a process that has ended never leads to another one of the same number.
struct ProcessFolder {
    private let folder: Descriptor

    init(path: String) throws(SystemError) {
        folder = try Kernel.open(path, in: nil, O_DIRECTORY | pathOnly)
    }

    init(processID: UInt32) throws(SystemError) {
        try self.init(path: "/proc/\(processID)")
    }

    /// The file behind one of the folder's magic links, itself opened.
    func open(_ link: String) throws(SystemError) -> Descriptor {
        try Kernel.open(link, in: folder, pathOnly)
    }

    /// Device and inode behind one of the folder's magic links.
    func file(_ link: String) throws(SystemError) -> FileID {
        try open(link).status().id
    }

    /// What the kernel writes as the path of the running program. It proves nothing: it is where to look.
    func executableText() throws(SystemError) -> String {
        try Kernel.linkText("exe", in: folder)
    }

    /// The real and the effective user id.
    func userIDs() throws(SystemError) -> [UInt32] {
        let numbers = try ProcText.numbers(of: "Uid:", in: Kernel.firstPage("status", in: folder)) ?? []
        return numbers.prefix(2).compactMap { UInt32(exactly: $0) }
    }

    /// Rounded down to the kernel's clock tick, on the clock that also counts suspended time.
    func startMicroseconds() throws(SystemError) -> UInt64 {
        let ticksPerSecond = sysconf(Int32(_SC_CLK_TCK))
        guard ticksPerSecond > 0 else { throw SystemError(code: ENODATA) }
        return try startTicks() * (1_000_000 / UInt64(ticksPerSecond))
    }

    /// The same in clock ticks.
    func startTicks() throws(SystemError) -> UInt64 {
        guard let ticks = try ProcText.startTicks(in: Kernel.firstPage("stat", in: folder)) else {
            throw SystemError(code: ENODATA)
        }
        return ticks
    }

    /// Nil where the text cannot be read or shows no unit.
    func controlGroup() throws(SystemError) -> ControlGroup? {
        // Below its unit a user may nest groups as deep as names go.
        let text = try whereReadable { () throws(SystemError) in
            try Kernel.contents("cgroup", in: folder, limit: 64 << 10)
        }
        return text.flatMap(ControlGroup.init(processText:))
    }

    /// What AppArmor says of the process.
    func appArmorText() throws(SystemError) -> [UInt8] {
        try Kernel.firstPage("attr/apparmor/current", in: folder)
    }

    /// The folder that is `/` to the process.
    func root() throws(SystemError) -> Descriptor {
        try Kernel.open("root", in: folder, O_DIRECTORY | pathOnly)
    }

    /// The number on a line of `status`, such as the parent's.
    func number(of key: String) throws(SystemError) -> Int64? {
        try ProcText.numbers(of: key, in: Kernel.firstPage("status", in: folder))?.first
    }
}
