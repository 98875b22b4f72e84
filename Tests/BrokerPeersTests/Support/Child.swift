import Foundation
import Glibc

/// A program that runs until it is let go. The last program of its command line must copy its input to its
/// output, as `cat` does: what comes back proves that this very program runs by now, however many others
/// were gone through. It ends by itself when the test does, for its input ends then.
final class Child: Sendable {
    let processID: UInt32
    private let socket: Int32

    struct Failure: Error {
        let step: String
        let code: Int32
    }

    /// Returns once the program answers.
    init(_ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw Failure(step: "socketpair", code: errno)
        }
        socket = ends[0]
        do {
            // Closed before the first read, which would else never learn that the program has ended.
            defer { close(ends[1]) }
            processID = try Self.spawn(arguments, standard: ends[1])
        }
        try echo()
    }

    /// Writes a line and waits for it to come back.
    func echo() throws {
        try say("?\n")
        var answer: [UInt8] = [0, 0]
        var count = 0
        while count < 2 {
            let more = unsafe read(socket, &answer, 2 - count)
            guard more > 0 else { throw Failure(step: "the child gave no answer", code: errno) }
            count += more
        }
    }

    /// Writes a line that is not answered.
    func say(_ line: String) throws {
        let bytes = Array(line.utf8)
        guard unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(step: "send", code: errno)
        }
    }

    /// Ends the program and takes its status, so that its number is free again.
    func end() {
        shutdown(socket, Int32(SHUT_RDWR))
        var status: Int32 = 0
        _ = unsafe waitpid(Int32(bitPattern: processID), &status, 0)
    }

    deinit {
        end()
        close(socket)
    }

    /// A process that has come and gone and been reaped.
    static func ended() throws -> UInt32 {
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let processID = try spawn(["/bin/true"], standard: null)
        var status: Int32 = 0
        _ = unsafe waitpid(Int32(bitPattern: processID), &status, 0)
        return processID
    }

    /// Runs a program to its end. False when it failed.
    static func run(_ arguments: [String]) throws -> Bool {
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let processID = try spawn(arguments, standard: null)
        var status: Int32 = 0
        return unsafe waitpid(Int32(bitPattern: processID), &status, 0) > 0 && status == 0
    }

    /// Threads of a pool block every signal, and a child would inherit that.
    private static func spawn(_ arguments: [String], standard: Int32) throws -> UInt32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, standard, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, standard, 1)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var processID: pid_t = 0
        let code = unsafe posix_spawn(&processID, arguments[0], &actions, &attributes, &words, environ)
        guard code == 0 else { throw Failure(step: "posix_spawn", code: code) }
        return UInt32(bitPattern: processID)
    }
}
