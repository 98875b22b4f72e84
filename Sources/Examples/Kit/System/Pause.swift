internal import Glibc

/// A thread that waits.
public enum Pause {
    /// Blocks the calling thread for so long, or until a signal comes.
    public static func sleep(microseconds: UInt64) {
        var time = timespec()
        time.tv_sec = Int(microseconds / 1_000_000)
        time.tv_nsec = Int(microseconds % 1_000_000) * 1000
        unsafe nanosleep(&time, nil)
    }
}
