internal import Console
internal import Glibc
internal import Synchronization

/// The signals that come while a command runs, as something that `poll` can wait for. They do nothing else from then on:
/// what comes after the command must not end this program before it has told the broker.
struct CommandSignals: ~Copyable {
    /// Where they are read.
    let reader: Int32
    private let writer: Int32

    /// What a person, a session or a service's manager ends programs with.
    private static let passedOn = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    init(_ pipe: Pipe) {
        (reader, writer) = (pipe.reader, pipe.writer)
        Pipe.makeNonBlocking(reader)
        Pipe.makeNonBlocking(writer)
        SignalTarget.descriptor.store(writer, ordering: .relaxed)
        let caught = Self.passedOn + [SIGCHLD]
        for number in caught { Self.catchSignal(number) }
        // Also for the command, which is to see what is passed on to it.
        SignalMask.unblock(caught)
    }

    // A signal that whoever started this program has had ignored stays so.
    private static func catchSignal(_ number: Int32) {
        var before = sigaction()
        unsafe sigaction(number, nil, &before)
        let isIgnored = unsafe unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == 1
        guard number == SIGCHLD || !isIgnored else { return }
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_sigaction = { number, info, _ in
            // A terminal sends its signals to the command too.
            let isOfTerminal = unsafe info?.pointee.si_code == sentByKernel
            var byte = UInt8(number) | (isOfTerminal ? 0x80 : 0)
            _ = unsafe write(SignalTarget.descriptor.load(ordering: .relaxed), &byte, 1)
        }
        action.sa_flags = SA_SIGINFO | SA_RESTART
        unsafe sigaction(number, &action, nil)
    }

    /// Passes what has come on to the process.
    func passOn(to process: Int32) {
        var byte: UInt8 = 0
        while unsafe read(reader, &byte, 1) == 1 {
            let number = Int32(byte & 0x7F)
            if byte & 0x80 == 0, Self.passedOn.contains(number) { kill(process, number) }
        }
    }
}

// SI_KERNEL.
private let sentByKernel: Int32 = 0x80

private enum SignalTarget {
    static let descriptor = Atomic<Int32>(-1)
}
