import BrokerModel
import Foundation
import Glibc

@testable import BrokerPeers

/// All that Flatpak leaves of one instance of `org.example.App`, and the two processes of it that matter.
final class Sandbox: Sendable {
    static let application = "/var/lib/flatpak/app/org.example.App/x86_64/stable/0/files"
    static let runtime = "/var/lib/flatpak/runtime/org.example.Platform/x86_64/1/0/files"
    static let outer = "run/user/\(geteuid())/.flatpak/4711"

    private let scratch: Scratch
    var path: String { scratch.path }

    static func info(
        application: String = "org.example.App", instance: String = "4711",
        folder: String = Sandbox.application
    ) -> String {
        """
        [Application]
        name=\(application)
        runtime=runtime/org.example.Platform/x86_64/1

        # A comment.
        [Instance]
        instance-id=\(instance)
        app-path=\(folder)
        runtime-path=\(runtime)
        session-bus-proxy=true

        [Context]
        sockets=session-bus;

        """
    }

    /// Another test run has another.
    static let unit = "app-flatpak-org.example.App-\(getpid()).scope"

    static func scope(userID: UInt32 = geteuid()) -> String {
        "/user.slice/user-\(userID).slice/user@\(userID).service/app.slice/\(unit)"
    }

    init() throws {
        scratch = try Scratch(trusted: isRoot)
        for folder in [
            "proc/1", "proc/2", "app", Self.outer, Self.application, Self.runtime, "home/alice/app",
        ] {
            try FileManager.default.createDirectory(
                atPath: "\(scratch.path)/\(folder)", withIntermediateDirectories: true)
        }
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/tmp", withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o1777])
        if isRoot { try setOwner(nobody, group: nobody, of: "\(scratch.path)/home/alice") }
        try link("proc/1/root", to: "../../app")
        let userID = geteuid()
        for process in ["proc/1", "proc/2"] {
            try write("0::\(Self.scope())\n", to: "\(process)/cgroup")
            try write("Name:\tx\nUid:\t\(userID)\t\(userID)\t\(userID)\t\(userID)\n", to: "\(process)/status")
        }
        try writeBoth(Self.info())
        try write("2", to: "\(Self.outer)/pid")
    }

    /// Root's folders are root's only where root made them.
    var trust: Trust { isRoot ? .file : .user }

    func found() throws -> PeerFacts.Flatpak? {
        let root = try Kernel.open(path, in: nil, O_DIRECTORY | pathOnly)
        let process = try ProcessFolder(path: "\(path)/proc/1")
        return try FlatpakProof(
            process: process, userID: geteuid(), group: process.controlGroup(), root: root,
            processes: "\(path)/proc"
        ).find()
    }

    func writeBoth(_ info: String) throws {
        try write(info, to: "app/.flatpak-info")
        try write(info, to: "\(Self.outer)/info")
    }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
    }

    func link(_ name: String, to target: String) throws { _ = try scratch.link(name, to: target) }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

    func rename(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: "\(path)/\(other)")
    }
}
