internal import Glibc

/// The folders of all users' stores, each named by its user's id, below one that a broker has locked.
public struct StateFolders: Sendable {
    private let path: String

    /// Below that folder, which is there.
    public init(below path: String) { self.path = path }

    /// The user's folder.
    public func path(of userID: UInt32) -> String { "\(path)/\(userID)" }

    /// Whether the user has a folder.
    public func exists(_ userID: UInt32) -> Bool { HostFile.exists(path(of: userID)) }

    /// Makes the user's folder where it is missing, and takes its lock.
    public func open(_ userID: UInt32) throws(HostError) -> StateFolder {
        try StateFolder(path(of: userID))
    }

    /// Whether any user has a store. A folder that cannot be listed may hold one.
    public var holdStores: Bool {
        guard let folder = unsafe opendir(path) else { return true }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if UInt32(name) != nil, HostFile.exists("\(path)/\(name)/keychain.db") { return true }
        }
        return false
    }
}
