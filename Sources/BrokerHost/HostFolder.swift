internal import Glibc

/// What lies in a folder.
public enum HostFolder {
    /// The names in it, in no order, the two of dots among them.
    public static func names(in path: String) throws(HostError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw HostError("cannot be opened", path: path) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }

    /// Makes the folder and those above it that are missing, for this user alone.
    public static func make(_ path: String) throws(HostError) {
        if HostFile.exists(path) { return }
        if let end = path.lastIndex(of: "/"), end != path.startIndex {
            try make(String(path[..<end]))
        }
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw HostError("cannot be made", path: path)
        }
    }
}
