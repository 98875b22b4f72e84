import Glibc

/// A system call that failed.
struct SystemError: Error, Equatable {
    let code: Int32

    /// What the last call of this thread left behind.
    static var last: SystemError { SystemError(code: errno) }

    /// The broker's own trouble, which says nothing of the peer and will pass. An identity is taken once and
    /// never improves, so such a reading must be refused rather than kept with a hole in it.
    var isPassing: Bool {
        switch code {
        case EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN: true
        default: false
        }
    }
}

/// Nil for what is absent, hidden or forbidden; throws what `SystemError.isPassing` names.
func whereReadable<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value? {
    do {
        return try body()
    } catch {
        if error.isPassing { throw error }
        return nil
    }
}
