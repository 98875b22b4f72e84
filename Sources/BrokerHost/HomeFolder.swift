internal import Glibc

/// The user's home folder, which may be there later than the user's programs: who lingers has a user manager from the
/// machine's start on, and a home that is encrypted is mounted when the person comes.
public struct HomeFolder: Sendable {
    private let path: String

    /// The folder at that path.
    public init(_ path: String) { self.path = path }

    /// Whether the path is the folder's or below it.
    public func holds(_ path: String) -> Bool { path == self.path || path.hasPrefix(self.path + "/") }

    /// Why nothing of the user's may be made in it yet; nil where it is there. A folder that has nothing in it, and is no
    /// mount point that something is mounted on, is taken for one that waits for its mount: what was made in it would be
    /// hidden by the real home, and gone.
    public var absence: HostError? {
        var (own, parent) = (stat(), stat())
        guard unsafe stat(path, &own) == 0, unsafe stat(path + "/..", &parent) == 0,
            unsafe access(path, W_OK | X_OK) == 0
        else { return HostError("cannot be written", path: path) }
        if own.st_dev != parent.st_dev { return nil }
        do throws(HostError) {
            let isEmpty = try HostFolder.names(in: path).allSatisfy { $0 == "." || $0 == ".." }
            return isEmpty ? HostError("has nothing in it", path: path, code: 0) : nil
        } catch {
            return error
        }
    }
}
