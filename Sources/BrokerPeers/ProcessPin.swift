import Glibc

/// Holds on to one process, so that its number cannot come to mean another one unnoticed.
struct ProcessPin {
    /// The number as this `/proc` counts it, taken from the pin itself; nil when the process lives in a
    /// process namespace that is out of sight here, or no longer lives.
    let processID: UInt32?
    /// Taken by number at the first call rather than by the bus at connect: the process may be a later one.
    let isLate: Bool

    private let descriptor: Descriptor

    /// Nil when the bus names no process at all. Throws `ended` for a number that is nobody's by now.
    static func take(descriptor: Descriptor?, processID: UInt32?) throws(Doubt) -> ProcessPin? {
        do {
            if let descriptor { return try ProcessPin(descriptor, isLate: false) }
            guard let processID, processID > 0 else { return nil }
            return try ProcessPin(Kernel.openProcess(processID), isLate: true)
        } catch {
            throw error.code == ESRCH ? .ended : .unreadable
        }
    }

    private init(_ descriptor: Descriptor, isLate: Bool) throws(SystemError) {
        self.descriptor = descriptor
        self.isLate = isLate
        let text = try Kernel.firstPage("/proc/self/fdinfo/\(descriptor.raw)", in: nil)
        // What is no pidfd has no such line, and whoever handed it in has named no process with it.
        guard let number = ProcText.numbers(of: "Pid:", in: text)?.first else {
            throw SystemError(code: EBADF)
        }
        // 0 is a process out of sight; -1 one that has been reaped, which `check` is there to say.
        processID = number > 0 ? UInt32(exactly: number) : nil
    }

    /// The last look of every reading: had the process ended in between, its number might have been
    /// another's while it was read about.
    func check() throws(Doubt) {
        guard let hasEnded = try? Kernel.hasEnded(descriptor) else { throw .unreadable }
        if hasEnded { throw .ended }
    }
}
