internal import Glibc

/// The folder that the direct endpoint's socket is in.
public enum RuntimeFolder {
    /// Makes the folder where it is not there, readable by all and writable by its owner: who may connect is said by the
    /// socket's own mode. Its parent must be there.
    public static func prepare(for socket: String) throws(HostError) {
        guard let slash = socket.lastIndex(of: "/"), slash != socket.startIndex else { return }
        let folder = String(socket[..<slash])
        if unsafe mkdir(folder, 0o700) == 0 {
            guard unsafe chmod(folder, 0o755) == 0 else {
                throw HostError("cannot be opened to others", path: folder)
            }
        } else if errno != EEXIST {
            throw HostError("cannot be made", path: folder)
        }
    }
}
