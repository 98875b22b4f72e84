import BrokerModel
import Foundation
import Glibc
import Testing

@testable import BrokerPeers

@Suite struct FlatpakRecordTests {
    private func record(_ text: String) -> FlatpakRecord? { FlatpakRecord(text: Array(text.utf8)) }

    @Test func aRecordTellsApplicationInstanceAndWhereTheyCameFrom() throws {
        let record = try #require(self.record(Sandbox.info()))
        #expect(record.application == "org.example.App")
        #expect(record.instance == "4711")
        #expect(record.folders == [Sandbox.application, Sandbox.runtime])
    }

    private static let broken: [String] = [
        "",
        "[Application]\nname=org.example.App\n",
        "[Instance]\ninstance-id=1\n",
        // A runtime that is run by itself.
        "[Runtime]\nruntime=org.example.Platform\n[Instance]\ninstance-id=1\n",
        "[Application]\nname=org.example.App\nname=org.example.Bank\n[Instance]\ninstance-id=1\n",
        "[Application]\nname=org.example.App\n[Instance]\ninstance-id=1\n[Application]\nname=x.y\n",
        "[Application]\nname=org.example.App\n[Instance]\ninstance-id=../1\n",
        "[Application]\nname=org.example.App\n[Instance]\ninstance-id=\n",
        "[Application]\nname=App\n[Instance]\ninstance-id=1\n",
        "[Application]\nname=org..App\n[Instance]\ninstance-id=1\n",
        "[Application]\nname=org.example/App\n[Instance]\ninstance-id=1\n",
        "[Application]\nname=org.example.App\u{0}\n[Instance]\ninstance-id=1\n",
        "[Application]\nname=org.example.App \n[Instance]\ninstance-id=1\n",
        "[Application]\nno key\nname=org.example.App\n[Instance]\ninstance-id=1\n",
        "name=org.example.App\ninstance-id=1\n",
    ]

    @Test(arguments: broken.indices) func whatIsNoRecordOfAnApplicationIsNone(_ index: Int) {
        #expect(record(Self.broken[index]) == nil)
    }

    @Test func aRecordPastTheBoundIsNone() {
        let padding = String(repeating: "#", count: FlatpakRecord.bytesMax)
        #expect(record(Sandbox.info() + padding) == nil)
    }

    @Test(arguments: ["", "app-path=/x\\sy\n", "app-path=/x\n"])
    func foldersThatAreNotToldInPlainAreNotTaken(_ lines: String) throws {
        let text = "[Application]\nname=org.example.App\n[Instance]\ninstance-id=1\n" + lines
        let runtime = lines.contains("\\") ? "runtime-path=/y\n" : ""
        #expect(try #require(self.record(text + runtime)).folders == nil)
    }

    @Test(arguments: [
        ("app-flatpak-org.example.App-17.scope", true), ("app-flatpak-org.example.App-.scope", false),
        ("app-flatpak-org.example.App-1a.scope", false), ("app-flatpak-org.example.App-17.service", false),
        ("app-flatpak-org.example.App2-17.scope", false), ("app-gnome-org.example.App-17.scope", false),
        ("app-flatpak-org.example.App-17-18.scope", false), ("session-1.scope", false),
    ])
    func theScopeNamesTheApplication(_ unit: String, _ fits: Bool) {
        #expect(FlatpakProof.isScope(unit, of: "org.example.App") == fits)
    }

    @Test func theScopeOfAnIDWithAHyphenIsEscaped() {
        #expect(FlatpakProof.isScope("app-flatpak-org.example.My\\x2dApp-1.scope", of: "org.example.My-App"))
        #expect(!FlatpakProof.isScope("app-flatpak-org.example.My-App-1.scope", of: "org.example.My-App"))
    }
}

/// What Flatpak leaves of an instance, in a folder that stands in for `/`, with processes in one that stands
/// in for `/proc`. Each test takes one thing away.
@Suite struct FlatpakProofTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func recordsThatAgreeVouchForTheApplication() throws {
        #expect(try sandbox.found() == .init(id: "org.example.App", trust: sandbox.trust))
    }

    @Test func aProcessOutsideOfItsScopeIsNotVouchedFor() throws {
        for path in ["/user.slice/user-\(geteuid()).slice/session-1.scope", "/", Sandbox.scope(userID: 4242)]
        {
            try sandbox.write("0::\(path)\n", to: "proc/1/cgroup")
            #expect(try sandbox.found() == nil)
        }
    }

    @Test func aScopeOfAnotherApplicationIsNot() throws {
        try sandbox.write(Sandbox.info(application: "org.example.Bank"), to: "app/.flatpak-info")
        try sandbox.write(Sandbox.info(application: "org.example.Bank"), to: Sandbox.outer + "/info")
        #expect(try sandbox.found() == nil)
    }

    @Test func aRecordThatFlatpakDoesNotKeepOutsideIsNot() throws {
        try sandbox.remove(Sandbox.outer + "/info")
        #expect(try sandbox.found() == nil)
    }

    @Test(arguments: [
        Sandbox.info(application: "org.example.Bank"), Sandbox.info(instance: "4712"),
        Sandbox.info(folder: "/home/alice/app"), "",
    ])
    func anOuterRecordThatSaysOtherwiseIsNot(_ info: String) throws {
        try sandbox.write(info, to: Sandbox.outer + "/info")
        #expect(try sandbox.found() == nil)
    }

    @Test func anInnerRecordThatIsALinkIsNotFollowed() throws {
        try sandbox.write(Sandbox.info(), to: "elsewhere")
        try sandbox.remove("app/.flatpak-info")
        try sandbox.link("app/.flatpak-info", to: "../elsewhere")
        #expect(try sandbox.found() == nil)
    }

    /// Opened for reading, it would hold the look-up up until somebody writes.
    @Test func anInnerRecordThatIsAPipeIsNotOpened() throws {
        try sandbox.remove("app/.flatpak-info")
        #expect(unsafe mkfifo("\(sandbox.path)/app/.flatpak-info", 0o600) == 0)
        #expect(try sandbox.found() == nil)
    }

    @Test func anInstanceFolderThatIsALinkIsNotFollowed() throws {
        try sandbox.rename(Sandbox.outer, to: Sandbox.outer + "-real")
        try sandbox.link(Sandbox.outer, to: "4711-real")
        #expect(try sandbox.found() == nil)
    }

    @Test(arguments: ["", "0", "-1", "x", "99999999999"])
    func aRecordWithoutAProcessIsNot(_ number: String) throws {
        try sandbox.write(number, to: Sandbox.outer + "/pid")
        #expect(try sandbox.found() == nil)
    }

    @Test func aFirstProcessInAnotherScopeIsNotOfTheSandbox() throws {
        let other = Sandbox.scope().replacing(".scope", with: "0.scope")
        try sandbox.write("0::\(other)\n", to: "proc/2/cgroup")
        #expect(try sandbox.found() == nil)
    }

    @Test func aFirstProcessOfAnotherUserIsNotOfTheSandbox() throws {
        try sandbox.write("Name:\tx\nUid:\t4242\t4242\t4242\t4242\n", to: "proc/2/status")
        #expect(try sandbox.found() == nil)
    }

    @Test func aFirstProcessThatHasEndedSaysNothing() throws {
        try sandbox.remove("proc/2")
        #expect(try sandbox.found() != nil)
    }

    @Test(arguments: ["/home/alice/app", "/tmp", "/no/such/folder", "relative", ""])
    func anApplicationThatItsUserCouldHaveBuiltIsUserTrust(_ folder: String) throws {
        try sandbox.writeBoth(Sandbox.info(folder: folder))
        #expect(try sandbox.found() == .init(id: "org.example.App", trust: .user))
    }

    @Test(.enabled(if: isRoot, "needs root: owns folders"))
    func aRuntimeThatItsUserCouldHaveBuiltIsUserTrust() throws {
        #expect(try sandbox.found()?.trust == .file)
        try setOwner(nobody, group: 0, of: "\(sandbox.path)\(Sandbox.runtime)")
        #expect(try sandbox.found()?.trust == .user)
    }

    @Test(.enabled(if: isRoot, "needs root: owns folders"))
    func anInstanceFolderOfAnotherUserIsNot() throws {
        try setOwner(nobody, group: 0, of: "\(sandbox.path)/\(Sandbox.outer)")
        #expect(try sandbox.found() == nil)
    }
}
