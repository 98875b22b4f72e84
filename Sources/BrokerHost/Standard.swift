internal import Glibc

/// One line to standard error, whole.
public enum StandardError {
    /// Writes the line and its end in one call, so that lines of several threads do not mix.
    public static func write(line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// sysexits' codes.
public enum ExitStatus {
    /// The command line was wrong.
    public static let usage: Int32 = 64
    /// No bus, or another broker.
    public static let unavailable: Int32 = 69
    /// The system refused what the process needs.
    public static let systemError: Int32 = 71
    /// The state cannot be had now; trying again may help.
    public static let temporary: Int32 = 75
    /// A policy or a configuration that cannot be taken.
    public static let configuration: Int32 = 78

    /// Ends the process.
    public static func exit(_ code: Int32) -> Never { Glibc.exit(code) }
}
