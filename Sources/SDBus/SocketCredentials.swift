internal import CSystemd
internal import Glibc

/// What the kernel says of the other end of a Unix socket: who it was when the connection was made. On the side that
/// connected it is who had begun to listen.
public struct SocketCredentials: Sendable, Equatable {
    /// The effective user id.
    public var userID: UInt32
    /// The effective group id and the supplementary ones; the effective one alone where the kernel does not tell.
    public var groupIDs: [UInt32]
    /// The process id; nil for a process that is out of sight here.
    public var processID: UInt32?
    /// The label of the Linux security module without its trailing NUL; nil where there is none.
    public var securityLabel: [UInt8]?

    /// Nil when the socket is none of a connection.
    public init?(of socket: borrowing UnixFD) {
        // `struct ucred`: process, user, group.
        guard let words: [UInt32] = option(SO_PEERCRED, of: socket.number, countMax: 3), words.count == 3
        else { return nil }
        processID = words[0] == 0 ? nil : words[0]
        userID = words[1]
        let supplementary: [UInt32] = option(peerGroups, of: socket.number, countMax: 65_536) ?? []
        groupIDs = [words[2]] + supplementary.filter { $0 != words[2] }
        guard let label: [UInt8] = option(SO_PEERSEC, of: socket.number, countMax: 4096) else { return }
        securityLabel = label.last == 0 ? label.dropLast() : label
    }
}

extension UnixFD {
    /// A pidfd of the process that connected, taken by the kernel in that moment; nil before Linux 6.5.
    public borrowing func peerProcess() -> UnixFD? {
        guard let found: [Int32] = option(SHIM_SO_PEERPIDFD, of: number, countMax: 1), found.count == 1
        else { return nil }
        return UnixFD(owning: found[0])
    }
}

// `SO_PEERGROUPS`, which the Glibc module leaves out.
private let peerGroups: Int32 = 59

/// An option of the socket as an array; nil when the kernel has no such thing to tell, or more than that.
private func option<Element: FixedWidthInteger>(
    _ name: Int32, of socket: Int32, countMax: Int
) -> [Element]? {
    let size = MemoryLayout<Element>.size
    // Most answers are small, and what does not fit is asked for once more with room for all.
    for count in [min(countMax, 64), countMax] {
        var elements = [Element](repeating: 0, count: count)
        var length = socklen_t(count * size)
        let result = unsafe getsockopt(socket, SOL_SOCKET, name, &elements, &length)
        if result == 0 { return Array(elements.prefix(Int(length) / size)) }
        guard errno == ERANGE else { return nil }
    }
    return nil
}
