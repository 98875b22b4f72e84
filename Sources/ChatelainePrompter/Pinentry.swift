internal import Console
internal import SDBus
internal import Sodium

/// One dialog of the desktop's pinentry. A task that is cancelled closes it.
@BrokerActor final class Pinentry {
    enum Failure: Error {
        /// The person does not want to.
        case declined
        /// The question was taken back.
        case withdrawn
        /// It cannot ask here: it did not start, has no display, or does not speak the protocol.
        case unable
    }

    private let program: SpokenProgram
    private var said = SharedSecret(Secret(copying: [UInt8]().span))
    private var waiter: CheckedContinuation<Void, Never>?
    private var watch: IOSource?
    private var isWithdrawn = false

    /// Where a desktop has it.
    static let paths = ["/usr/bin/pinentry", "/usr/local/bin/pinentry"]
    private static let lineBytesMax = 4096
    private static let endMicroseconds: UInt64 = 1_000_000
    // The numbers of libgpg-error, whose upper half says who speaks.
    private static let (timedOut, cancelled, fullyCancelled): (UInt32, UInt32, UInt32) = (62, 99, 198)

    init(_ path: String) throws(Failure) {
        guard let program = SpokenProgram([path]) else { throw .unable }
        self.program = program
    }

    /// Waits for its greeting.
    func greet() async throws(Failure) { _ = try await answer() }

    /// Gives a command with a text; what it does not know of options is its own affair.
    func tell(_ command: String, _ text: String) async throws(Failure) {
        do throws(Failure) {
            try say(command + " " + AssuanLine.encoded(text))
            _ = try await answer()
        } catch {
            if command != "OPTION" || error == .withdrawn { throw error }
        }
    }

    /// Asks, and gives what the person has typed.
    func passcode() async throws(Failure) -> SharedSecret {
        try say("GETPIN")
        return try await answer()
    }

    /// Shows it with one button, by which the person cancels, until that is pressed. Whoever else asks the person gets the
    /// keys.
    func wait() async throws(Failure) {
        try await tell("OPTION", "no-grab")
        try await tell("SETOK", "Cancel")
        try say("CONFIRM --one-button")
        _ = try await answer()
    }

    /// Ends it, and comes back when it is gone: the next dialog must not stand beside it.
    func close() async {
        _ = program.write("BYE\n")
        if isWithdrawn { program.askToEnd() }
        var isLate = false
        let timer = BrokerActor.shared.loop.timer(at: BrokerActor.shared.loop.now() + Self.endMicroseconds) {
            isLate = true
            self.wake()
        }
        while !isLate {
            if case .end = program.read() { break }
            await pause()
        }
        timer.cancel()
    }

    private func say(_ line: String) throws(Failure) {
        guard program.write(line + "\n") else { throw .unable }
    }

    // What a command is answered with, empty for most.
    private func answer() async throws(Failure) -> SharedSecret {
        var data = SharedSecret(Secret(copying: [UInt8]().span))
        while true {
            switch try await line() {
            case .done: return data
            case .data(let part): data = Self.joined(data.secret, part.secret)
            case .refused(let reason):
                switch reason & 0xFFFF {
                case Self.cancelled, Self.fullyCancelled, Self.timedOut: throw .declined
                default: throw .unable
                }
            case .inquiry: try say("CAN")
            case .remark: continue
            }
        }
    }

    private func line() async throws(Failure) -> AssuanLine {
        while true {
            if let (line, rest) = Self.firstLine(said.secret) {
                said = rest
                return line
            }
            guard said.secret.count <= Self.lineBytesMax else { throw .unable }
            try await waitForMore()
            switch program.read() {
            case .nothing: continue
            case .bytes(let more): said = Self.joined(said.secret, more)
            case .end: throw .unable
            }
        }
    }

    private static func firstLine(_ said: borrowing Secret) -> (AssuanLine, SharedSecret)? {
        let bytes = said.span
        for end in bytes.indices where bytes[end] == UInt8(ascii: "\n") {
            let rest = Secret(copying: bytes.extracting(end + 1..<bytes.count))
            return (AssuanLine(bytes.extracting(0..<end)), SharedSecret(rest))
        }
        return nil
    }

    private static func joined(_ first: borrowing Secret, _ second: borrowing Secret) -> SharedSecret {
        let count = first.count
        return SharedSecret(
            Secret(count: count + second.count) { target in
                target.copy(first)
                target.copy(second, at: count)
            })
    }

    private func waitForMore() async throws(Failure) {
        if !isWithdrawn {
            await withTaskCancellationHandler {
                await pause()
            } onCancel: {
                BrokerActor.start { self.withdraw() }
            }
        }
        if isWithdrawn { throw .withdrawn }
    }

    // Until it says something, ends, or is withdrawn.
    private func pause() async {
        watch = try? BrokerActor.shared.loop.watch(program.output, .readable) { [weak self] _ in self?.wake()
        }
        guard watch != nil else { return }
        await withCheckedContinuation { waiter = $0 }
        watch = nil
    }

    private func withdraw() {
        isWithdrawn = true
        wake()
    }

    private func wake() {
        watch?.cancel()
        waiter?.resume()
        waiter = nil
    }
}
