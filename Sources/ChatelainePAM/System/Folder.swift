internal import Glibc

/// A folder that is open, so that what is looked for in it is looked for in that very folder.
final class Folder {
    let number: Int32
    private let status: stat

    /// Nil where it is not there, or is a link.
    convenience init?(_ path: String) {
        self.init(opened: unsafe open(path, Self.flags))
    }

    private init?(opened number: Int32) {
        guard number >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else {
            close(number)
            return nil
        }
        self.number = number
        self.status = status
    }

    deinit { close(number) }

    private static let flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY

    /// A folder in it; nil where there is none of the name, or it is a link.
    func folder(_ name: String) -> Folder? { Folder(opened: unsafe openat(number, name, Self.flags)) }

    var ownerID: UInt32 { status.st_uid }

    /// Whether it is the user's, and nobody else can put anything there.
    func isOwn(of userID: UInt32) -> Bool { status.st_uid == userID && status.st_mode & 0o022 == 0 }

    /// Whoever listens at a socket in it; nil where nobody does.
    func peer(_ name: String, ownedBy userID: UInt32) throws(Trouble) -> Peer? {
        // No name of another folder, and no link, comes between: the folder is this one.
        guard isOwn(of: userID), fchdir(number) == 0 else { return nil }
        var entry = stat()
        guard unsafe fstatat(number, name, &entry, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        guard entry.st_mode & S_IFMT == S_IFSOCK, entry.st_uid == userID else {
            throw .impostor("in the place of the broker's socket is something else")
        }
        return try Peer(connectedTo: name, of: userID)
    }
}

/// Waits for something to change where a broker comes to be.
final class FolderWatch {
    private let changes = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    // Of what is mounted inotify says nothing.
    private let mounts = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)

    deinit {
        for number in [changes, mounts] where number >= 0 { close(number) }
    }

    /// From here on what is made in the folder counts.
    func add(_ folder: Folder) {
        let events = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)
        unsafe inotify_add_watch(changes, "/proc/self/fd/\(folder.number)", events)
    }

    /// False at the deadline.
    func wait(until deadline: Deadline) -> Bool {
        var watched = [
            pollfd(fd: changes, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mounts, events: Int16(POLLPRI), revents: 0),
        ]
        while let milliseconds = deadline.millisecondsLeft {
            let count = unsafe poll(&watched, nfds_t(watched.count), milliseconds)
            if count > 0 { return true }
            if count < 0 && errno != EINTR { return false }
        }
        return false
    }
}

/// A moment that neither a clock that is set nor a machine that sleeps puts off.
struct Deadline {
    private let end: UInt64

    init(seconds: UInt32) { end = Self.now + UInt64(seconds) * 1000 }

    /// Nil when it has come.
    var millisecondsLeft: Int32? {
        let now = Self.now
        return now < end ? Int32(clamping: end - now) : nil
    }

    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
