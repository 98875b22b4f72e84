internal import BrokerHost
internal import Console
internal import Glibc
internal import SDBus

/// The step between this program and a command that it runs: this program again, which asks the kernel to let it end
/// with its parent and then becomes the command. Only a process itself can ask for that.
struct CommandStart {
    private static let mark = "chatelaine: start of a command"

    private let parent: Int32
    private let command: [String]

    /// Nil where the arguments are not of such a step.
    init?(_ arguments: [String]) {
        guard arguments.count > 2, arguments[0] == Self.mark, let parent = Int32(arguments[1]) else {
            return nil
        }
        self.parent = parent
        command = Array(arguments[2...])
    }

    /// The arguments that a parent starts this program with.
    static func arguments(for command: [String]) -> [String] { [mark, String(getpid())] + command }

    /// Becomes the command. What cannot be run is told on standard error, and ends as a shell has it.
    func run() -> Never {
        guard ClientProcess.endWithParent(parent) else { ExitStatus.exit(126) }
        unsafe Self.withPointers(command) { arguments in _ = unsafe execvp(arguments[0]!, arguments) }
        let error = errno
        let reason = unsafe String(cString: strerror(error))
        StandardError.write(line: "chatelaine: \(command[0].printable) cannot be run: \(reason)")
        ExitStatus.exit(error == ENOENT ? 127 : 126)
    }

    /// The words as the C library takes them, for the length of the body.
    static func withPointers<Result>(
        _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe body(&pointers)
    }
}
