import Glibc

/// The system calls of this room that take a pointer. Nothing here decides anything.
enum Kernel {
    /// Opens `name` under `folder`, or an absolute path where `folder` is nil. Always close-on-exec.
    static func open(
        _ name: String, in folder: Descriptor?, _ flags: Int32
    ) throws(SystemError) -> Descriptor {
        // A C string would end at the NUL and name another file than the one that was asked for.
        guard !name.utf8.contains(0) else { throw SystemError(code: EINVAL) }
        let raw = unsafe openat(folder?.raw ?? AT_FDCWD, name, flags | O_CLOEXEC)
        guard raw >= 0 else { throw .last }
        return Descriptor(owning: raw)
    }

    /// A new file, open for writing; a file of that name, or a link, is an error.
    static func create(
        _ name: String, in folder: Descriptor, _ permissions: UInt32
    ) throws(SystemError) -> Descriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let raw = unsafe openat(folder.raw, name, flags, permissions)
        guard raw >= 0 else { throw .last }
        return Descriptor(owning: raw)
    }

    /// The text of a link. An empty name means the link that `folder` itself was opened on.
    static func linkText(_ name: String, in folder: Descriptor) throws(SystemError) -> String {
        var length = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            length = unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return -1 }
                return unsafe readlinkat(folder.raw, name, start, text.count)
            }
            count = max(length, 0)
        }
        guard length >= 0 else { throw .last }
        // A name that is not text cannot stand in a policy; one that was cut names another file.
        guard length < PATH_MAX, let text = String(validating: bytes, as: UTF8.self) else {
            throw SystemError(code: EILSEQ)
        }
        return text
    }

    /// The beginning of a file of `/proc`, at most a page. What this room looks for is there.
    static func firstPage(_ name: String, in folder: Descriptor?) throws(SystemError) -> [UInt8] {
        let file = try open(name, in: folder, O_RDONLY)
        var length = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            length = unsafe read(file.raw, buffer.baseAddress, buffer.count)
            count = max(length, 0)
        }
        guard length >= 0 else { throw .last }
        return bytes
    }

    /// A small file's bytes to the end. `EFBIG` past `limit`: one that was cut could be taken for another.
    static func contents(
        _ name: String, in folder: Descriptor?, _ flags: Int32 = 0, limit: Int
    ) throws(SystemError) -> [UInt8] {
        let file = try open(name, in: folder, O_RDONLY | flags)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(file.raw, &chunk, chunk.count)
            guard count >= 0 else { throw .last }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw SystemError(code: EFBIG) }
        }
    }

    /// A regular file of that very name, over no link. It is known before it is opened to be read, so that no
    /// device or pipe acts on that.
    static func regularFile(
        _ name: String, in folder: Descriptor, limit: Int
    ) throws(SystemError) -> (bytes: [UInt8], status: FileStatus) {
        let file = try open(name, in: folder, O_NOFOLLOW | pathOnly)
        let status = try file.status()
        guard status.kind == .regular else { throw SystemError(code: EINVAL) }
        return (try contents("/proc/self/fd/\(file.raw)", in: nil, limit: limit), status)
    }

    /// A pidfd, close-on-exec by itself.
    static func openProcess(_ processID: UInt32) throws(SystemError) -> Descriptor {
        guard let number = Int32(exactly: processID) else { throw SystemError(code: ESRCH) }
        let raw = pidfdOpen(number, 0)
        guard raw >= 0 else { throw .last }
        return Descriptor(owning: raw)
    }

    /// Whether the pinned process has ended: its pidfd is readable from then on, reaped or not.
    static func hasEnded(_ pin: Descriptor) throws(SystemError) -> Bool {
        var request = pollfd(fd: pin.raw, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&request, 1, 0)
        guard ready >= 0 else { throw .last }
        return ready > 0
    }
}

// The Glibc module is built without `_GNU_SOURCE`, so these are declared here. Their arguments are plain
// integers and one pointer, which Swift passes as C does on every 64-bit Linux.

/// `O_PATH`: to know a file without reading it, so that no driver or pipe acts on being opened.
let pathOnly: Int32 = 0o10000000

@_silgen_name("pidfd_open")
private func pidfdOpen(_ processID: Int32, _ flags: UInt32) -> Int32
