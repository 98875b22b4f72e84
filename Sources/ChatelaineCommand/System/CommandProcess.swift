internal import Console
internal import Glibc
internal import Sodium

/// A command that is given a secret on its standard input, and whose standard output is one.
struct CommandProcess: ~Copyable {
    /// How a command ended.
    enum End: Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// What there is when it has ended.
    struct Outcome: ~Copyable {
        let end: End
        /// What it printed; nil where that is more than a secret may be.
        let output: Secret?

        /// How many bytes it printed; nil where that is more than a secret may be.
        var outputCount: Int? {
            switch output {
            case .some(let output): output.count
            case .none: nil
            }
        }

        /// What it printed.
        consuming func take() -> Secret? { output }
    }

    private let process: Int32
    private var input: Int32
    private var output: Int32
    private let signals: CommandSignals
    private var written = 0
    private var count = 0
    private var end: End?

    /// Runs it to its end, blocking. Signals are passed on to it; it is killed when this process dies.
    static func run(
        _ command: [String], input secret: borrowing Secret, outputBytesMax limit: Int
    ) throws(Failure) -> Outcome {
        signal(SIGPIPE, SIG_IGN)
        var running = try started(command)
        let buffer = try Secret(count: limit + 1) { (target) throws(Failure) in
            while running.end == nil {
                running.wait()
                running.signals.passOn(to: running.process)
                running.reap()
                running.write(secret)
                running.read(into: &target)
            }
        }
        return running.outcome(of: buffer, limit: limit)
    }

    private static func started(_ command: [String]) throws(Failure) -> CommandProcess {
        guard let input = Pipe(), let output = Pipe(), let forSignals = Pipe() else {
            throw Failure(.failed, "no pipe can be made")
        }
        let signals = CommandSignals(forSignals)
        let started = CommandStart.spawn(command, input: input.reader, output: output.writer)
        guard let process = started else { throw Failure(.failed, "no process can be started") }
        close(input.reader)
        close(output.writer)
        Pipe.makeNonBlocking(input.writer)
        Pipe.makeNonBlocking(output.reader)
        return CommandProcess(process, input: input.writer, output: output.reader, signals)
    }

    private init(_ process: Int32, input: Int32, output: Int32, _ signals: consuming CommandSignals) {
        self.process = process
        self.input = input
        self.output = output
        self.signals = signals
    }

    private func wait() {
        var descriptors = [
            pollfd(fd: signals.reader, events: Int16(POLLIN), revents: 0),
            // Those that are closed are negative, which poll passes over.
            pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&descriptors, nfds_t(descriptors.count), -1)
    }

    private mutating func reap() {
        var status: Int32 = 0
        guard unsafe waitpid(process, &status, WNOHANG) == process else { return }
        let number = status & 0x7F
        end = number == 0 ? .exited(status >> 8 & 0xFF) : .signalled(number)
    }

    private mutating func write(_ secret: borrowing Secret) {
        guard input >= 0 else { return }
        while written < secret.count {
            let bytes = secret.span.extracting(written..<secret.count)
            let count = unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe Glibc.write(input, buffer.baseAddress, buffer.count)
            }
            if count < 0 && errno == EAGAIN { return }
            // A command need not read it.
            guard count > 0 else { break }
            written += count
        }
        close(input)
        input = -1
    }

    private mutating func read(into target: inout MutableSpan<UInt8>) {
        while output >= 0 {
            let (descriptor, offset) = (output, count)
            let count = unsafe target.withUnsafeMutableBufferPointer { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress! + offset, buffer.count - offset)
            }
            if count < 0 && errno == EAGAIN { return }
            self.count += max(count, 0)
            // Full: the buffer has room for one byte more than may be.
            guard count > 0, self.count < target.count else {
                close(output)
                output = -1
                return
            }
        }
    }

    private consuming func outcome(of buffer: borrowing Secret, limit: Int) -> Outcome {
        if input >= 0 { close(input) }
        if output >= 0 { close(output) }
        let isWhole = count <= limit
        return Outcome(
            end: end ?? .exited(0),
            output: isWhole ? Secret(copying: buffer.span.extracting(0..<count)) : nil)
    }
}
