import Glibc

/// What tells two files apart for as long as both exist.
struct FileID: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
}

/// What `fstat` says of an opened file.
struct FileStatus: Sendable, Equatable {
    enum Kind: Sendable {
        case folder, link, regular, other
    }

    let id: FileID
    let kind: Kind
    let owner: UInt32
    let permissions: UInt32

    /// Owned by root and writable by nobody else. A sticky folder is writable all the same: others can put
    /// files there. An access list needs no look of its own: its mask is what the group bits show, and no
    /// entry of it but the owner's grants more than the mask.
    var isGuarded: Bool {
        owner == 0 && permissions & (S_IWGRP | S_IWOTH) == 0
    }
}

extension Descriptor {
    /// Works on descriptors opened with `O_PATH`, as all in this room are.
    func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw .last }
        let kind: FileStatus.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFREG: .regular
            default: .other
            }
        return FileStatus(
            id: FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)),
            kind: kind, owner: status.st_uid, permissions: status.st_mode & ~S_IFMT)
    }

    /// Whether the file was reached over a mount without `nosuid`: one that root's files may be taken for
    /// root's, where a disk that somebody plugged in may not.
    func isOnTrustedMount() throws(SystemError) -> Bool {
        var mount = statvfs()
        guard unsafe fstatvfs(raw, &mount) == 0 else { throw .last }
        return mount.f_flag & UInt(ST_NOSUID) == 0
    }
}
