import Foundation
import Glibc

/// A folder of its own, gone with the value.
final class Scratch: Sendable {
    let path: String

    /// In `/tmp`, where everybody may write; or, for root only, where nobody else may.
    init(trusted: Bool = false) throws {
        path = (trusted ? "/root" : "/tmp") + "/chatelaine-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    }

    /// A copy of `cat` under another name.
    func copyOfCat(_ name: String = "program", permissions: Int = 0o755) throws -> String {
        let copy = "\(path)/\(name)"
        // By a process of its own: a file that is open for writing here would be so in every child that is
        // started meanwhile, and could not be run.
        guard try Child.run(["/bin/cp", theCat, copy]) else { throw Child.Failure(step: "cp", code: 0) }
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: copy)
        return copy
    }

    func link(_ name: String, to target: String) throws -> String {
        try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
        return "\(path)/\(name)"
    }

    /// Puts a new file in the place of a program that may be running, as a package's upgrade does.
    func replace(_ program: String) throws {
        let new = try copyOfCat("new")
        guard unsafe rename(new, program) == 0 else { throw Child.Failure(step: "rename", code: errno) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// The system's `cat` by the name that the kernel gives it.
let theCat = URL(fileURLWithPath: "/usr/bin/cat").resolvingSymlinksInPath().path

let isRoot = geteuid() == 0
let nobody: UInt32 = 65_534

/// Starts what follows as `nobody`, without groups.
let asNobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

/// What `chmod` does, all twelve bits.
func setPermissions(_ permissions: UInt32, of path: String) throws {
    guard unsafe chmod(path, permissions) == 0 else { throw Child.Failure(step: "chmod", code: errno) }
}

/// What `chown` does; it takes set-id bits away.
func setOwner(_ owner: UInt32, group: UInt32, of path: String) throws {
    guard unsafe chown(path, owner, group) == 0 else { throw Child.Failure(step: "chown", code: errno) }
}

/// Gives one more user the right to write by an access list, as `setfacl -m u:USER:rwx` does.
func letWrite(_ user: UInt32, _ path: String) throws {
    // Version 2; then tag, permissions and id of owner, user, group, mask and others.
    let entries: [(tag: UInt32, permissions: UInt32, id: UInt32)] = [
        (1, 7, .max), (2, 7, user), (4, 5, .max), (16, 7, .max), (32, 5, .max),
    ]
    let words = entries.reduce(into: [UInt32(2)]) { $0 += [$1.tag | $1.permissions << 16, $1.id] }
    let size = words.count * 4
    guard unsafe setExtendedAttribute(path, "system.posix_acl_access", words, size, 0) == 0 else {
        throw Child.Failure(step: "setxattr", code: errno)
    }
}

@_silgen_name("setxattr")
private func setExtendedAttribute(
    _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer, _ size: Int,
    _ flags: Int32
) -> Int32
