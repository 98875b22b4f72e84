import Foundation
import Glibc
import Testing

@testable import BrokerPeers

extension PathWalk {
    /// From this machine's root.
    fileprivate static func follow(_ path: String) throws -> End? {
        try follow(path, from: Kernel.open("/", in: nil, O_DIRECTORY | pathOnly))
    }
}

@Suite struct PathWalkTests {
    @Test func aPathOfRootsIsTrusted() throws {
        let end = try #require(try PathWalk.follow(theCat))
        #expect(end.isTrusted)
        #expect(try PathWalk.follow("//usr/./bin/../bin//cat")?.status.id == end.status.id)
    }

    @Test(arguments: [
        "", "usr/bin/cat", "/", "/usr/bin", "/usr/bin/cat\u{0}x", "/usr/bin/cat/x", "/no/such/file",
        "/proc/self/exe/", String(repeating: "/usr/..", count: 1000),
    ])
    func whatIsNoAbsolutePathToAFileLeadsNowhere(_ path: String) throws {
        // A link of `/proc` is followed by its text, never by the kernel's magic: here, to this program.
        #expect(
            try PathWalk.follow(path).map { $0.status.kind } == (path.hasPrefix("/proc") ? .regular : nil))
    }

    @Test func aLoopOfLinksLeadsNowhere() throws {
        let scratch = try Scratch()
        let path = try scratch.link("a", to: "b")
        _ = try scratch.link("b", to: "a")
        #expect(try PathWalk.follow(path) == nil)
    }

    @Test func aLinkInAFolderThatOthersMayWriteIsNotTrustedWhereverItLeads() throws {
        let scratch = try Scratch()
        let end = try PathWalk.follow(scratch.link("relative", to: "../../usr/bin/cat"))
        #expect(end?.isTrusted == false)
        #expect(try end?.status.id == PathWalk.follow(theCat)?.status.id)
        #expect(try PathWalk.follow(scratch.link("absolute", to: theCat))?.isTrusted == false)
    }

    @Test func aPathBeginsAtItsRootAndNeverLeavesIt() throws {
        let scratch = try Scratch()
        _ = try scratch.copyOfCat()
        _ = try scratch.link("up", to: "../../../../../program")
        _ = try scratch.link("absolute", to: "/program")
        let root = try Kernel.open(scratch.path, in: nil, O_DIRECTORY | pathOnly)
        let end = try #require(try PathWalk.follow("/program", from: root))
        for path in ["/../program", "/up", "/absolute"] {
            #expect(try PathWalk.follow(path, from: root)?.status.id == end.status.id)
        }
        #expect(try PathWalk.follow(theCat, from: root) == nil)
    }

    @Test func aGuardedFolderIsOneThatLiesBelowRootsFoldersAlone() throws {
        let root = try Kernel.open("/", in: nil, O_DIRECTORY | pathOnly)
        #expect(try PathWalk.isGuardedFolder("/usr/bin", from: root))
        #expect(try PathWalk.isGuardedFolder("/", from: root))
        let scratch = try Scratch()
        for path in [
            "", "usr/bin", theCat, "/no/such/folder", scratch.path, try scratch.link("bin", to: "/usr/bin"),
        ] {
            #expect(try !PathWalk.isGuardedFolder(path, from: root), "\(path)")
        }
    }

    @Test func aSlashBeforeACombiningMarkIsASlash() throws {
        let scratch = try Scratch()
        let name = "\u{301}program"
        _ = try scratch.copyOfCat(name)
        #expect(try PathWalk.follow("\(scratch.path)/" + name) != nil)
    }
}

@Suite(.enabled(if: isRoot, "needs root: makes folders of root's and mounts"))
struct PrivilegedPathWalkTests {
    private let scratch: Scratch
    private let program: String

    init() throws {
        scratch = try Scratch(trusted: true)
        program = try scratch.copyOfCat()
    }

    @Test func aFolderOfRootsOutsideTheSystemsIsAsGood() throws {
        #expect(try PathWalk.follow(program)?.isTrusted == true)
    }

    @Test(arguments: [0o775, 0o757, 0o1777]) func aFolderThatOthersMayWriteIsNotTrusted(_ mode: UInt32) throws
    {
        try setPermissions(mode, of: scratch.path)
        #expect(try PathWalk.follow(program)?.isTrusted == false)
    }

    @Test(arguments: [0o775, 0o757]) func aFileThatOthersMayWriteIsNotTrusted(_ mode: UInt32) throws {
        try setPermissions(mode, of: program)
        #expect(try PathWalk.follow(program)?.isTrusted == false)
    }

    @Test func aFileOfTheUsersIsNotTrusted() throws {
        try setOwner(nobody, group: 0, of: program)
        #expect(try PathWalk.follow(program)?.isTrusted == false)
    }

    @Test func aFolderOfTheUsersIsNotTrusted() throws {
        try setOwner(nobody, group: 0, of: scratch.path)
        #expect(try PathWalk.follow(program)?.isTrusted == false)
    }

    @Test func aTrustedLinkOverAFolderOfEverybodysIsNotTrusted() throws {
        let open = try Scratch()
        let detour = try open.link("detour", to: program)
        #expect(try PathWalk.follow(scratch.link("alias", to: program))?.isTrusted == true)
        #expect(try PathWalk.follow(scratch.link("around", to: detour))?.isTrusted == false)
    }

    @Test func anAccessListThatLetsAnotherWriteShowsInTheGroupBits() throws {
        try #require(try PathWalk.follow(program)?.isTrusted == true)
        try letWrite(nobody, program)
        #expect(try PathWalk.follow(program)?.isTrusted == false)
    }

    @Test(arguments: [(flags: UInt(0), isTrusted: true), (flags: UInt(2), isTrusted: false)])
    func onlyAMountWithoutNosuidIsTrusted(_ mount: (flags: UInt, isTrusted: Bool)) async throws {
        let folder = scratch.path
        let reader = ThreadReader {
            OwnThread.leaveMounts()
            OwnThread.mountEmpty(at: folder, flags: mount.flags)
        }
        let isTrusted = await reader.run(key: 0, deadlineMicroseconds: 0) {
            _ = FileManager.default.createFile(
                atPath: "\(folder)/file", contents: nil, attributes: [.posixPermissions: 0o755])
            return try? PathWalk.follow("\(folder)/file")?.isTrusted
        }
        #expect(isTrusted == .some(mount.isTrusted))
    }
}
