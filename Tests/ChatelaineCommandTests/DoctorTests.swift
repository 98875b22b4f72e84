import BrokerModel
import BrokerPolicy
import Foundation
import TestKit
import Testing

@testable import ChatelaineCommand

/// What the doctor says of machines that are unlike this one, and of policies.
@Suite struct DoctorTests {
    init() { TestLoop.start() }

    private func kernel(
        _ files: [String: String], pins: Bool = true, labels: Bool? = false, follows: Bool = true
    ) -> [String: Finding] {
        let examination = KernelExamination(
            text: { files[$0] }, canFollow: { _ in follows }, pinsSocketPeers: pins, busGivesLabels: labels)
        return Dictionary(uniqueKeysWithValues: examination.findings.map { ($0.subject, $0) })
    }

    @Test func aKernelThatGivesNoDescriptorsIsWeak() {
        #expect(kernel([:], pins: true)["socket descriptors"]?.result == .good)
        let old = kernel([:], pins: false)["socket descriptors"]
        #expect(old?.result == .weak && old?.advice == "Linux 6.5 gives them.")
    }

    @Test(arguments: [("0", "weak"), ("1", "ok"), ("2", "ok"), ("3", "ok"), (nil, "weak")])
    func tracingIsYamasToForbid(_ scope: String?, _ result: String) {
        let files = scope.map { ["/proc/sys/kernel/yama/ptrace_scope": $0] } ?? [:]
        let finding = kernel(files)["tracing"]
        #expect(finding?.result.rawValue == result && (finding?.advice == nil) == (result == "ok"))
    }

    @Test(arguments: [
        ("", "lock on session-lock, sleep, session-end, seat-switch, screen-saver"),
        ("LockOn=sleep session-lock", "lock on session-lock, sleep"), ("LockOn=none", "LockOn=none"),
        ("LockOn=suspend", "cannot be read"), ("nonsense", "cannot be read"),
    ])
    func whatLocksIsTold(_ line: String, _ words: String) {
        let file = PolicyFile(
            path: "chatelained.conf", contents: Array("[Broker]\n\(line)\n".utf8), origin: .system)
        let causes = LockExamination.causes(in: file)
        let finding = LockExamination.finding(hasLogind: true, causes)
        #expect(finding.result == .good && finding.detail.contains(words))
        #expect(LockExamination.finding(hasLogind: false, causes).result == .absent)
    }

    @Test func theConfigurationIsTheRunningBrokers() throws {
        let folder = try TemporaryFolder()
        let path = folder.entry("other.conf")
        try Data("[Broker]\nLockOn=sleep\n".utf8).write(to: URL(fileURLWithPath: path))
        for arguments in [["chatelained", "--config", path], ["chatelained", "--config=\(path)"]] {
            #expect(LockExamination.causes(arguments) == [.sleep])
        }
        #expect(LockExamination.causes(["chatelained", "--config", folder.entry("absent")]) == nil)
    }

    @Test(arguments: [
        ("rw", "ok"), ("rw,hidepid=0", "ok"), ("rw,hidepid=off", "ok"), ("rw,hidepid=2", "weak"),
        ("rw,hidepid=invisible,gid=4", "weak"), ("rw,hidepid=ptraceable", "weak"),
    ])
    func processesThatAreHiddenAreSeen(_ options: String, _ result: String) {
        let mounts = """
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw
            23 22 0:21 / /proc rw,nosuid shared:2 master:1 - proc proc \(options)
            24 23 0:30 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw,hidepid=2
            """
        #expect(kernel(["/proc/self/mountinfo": mounts])["/proc"]?.result.rawValue == result)
        #expect(kernel([:])["/proc"]?.result == .wrong)
    }

    @Test func labelsNeedAModuleAndForSELinuxABusThatTellsThem() {
        let lsm = "/sys/kernel/security/lsm"
        func finding(_ modules: String, _ labels: Bool?) -> Finding? {
            kernel([lsm: modules], labels: labels)["security labels"]
        }
        #expect(finding("capability,yama", false)?.result == .absent)
        #expect(finding("capability,selinux", true)?.result == .good)
        #expect(finding("capability,selinux", false)?.result == .weak)
        #expect(finding("capability,apparmor", false)?.result == .good)
        #expect(finding("capability,apparmor", nil)?.result == .absent)
        // Where securityfs is not mounted.
        let enabled = ["/sys/module/apparmor/parameters/enabled": "Y"]
        #expect(kernel(enabled)["security labels"]?.detail.hasPrefix("AppArmor is on") == true)
    }

    @Test func namespacesAreToldOf() {
        #expect(kernel([:], follows: false)["first process"]?.result == .absent)
        #expect(kernel([:])["first process"]?.result == .good)
        func detail(_ file: String, _ value: String) -> String {
            kernel([file: value])["user namespaces"]?.detail ?? ""
        }
        #expect(detail("/proc/sys/user/max_user_namespaces", "0") == "closed to ordinary users")
        #expect(detail("/proc/sys/kernel/unprivileged_userns_clone", "0") == "closed to ordinary users")
        #expect(detail("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1").contains("AppArmor"))
        #expect(detail("/nothing", "0").hasPrefix("open to ordinary users"))
    }

    @Test func aBusCountsItsConnectionsUp() throws {
        let own = try #require(ConnectionAge(":1.10"))
        let names = [":1.9", ":0.11", ":1.10", ":1.11", ":2.1"]
        let older = names.compactMap(ConnectionAge.init).map { $0 < own }
        #expect(older == [true, true, false, false, false])
        for name in ["direct:1", "org.example", ":1", ":1.x", ":1.2.3", "", ":1."] {
            #expect(ConnectionAge(name) == nil, "\(name)")
        }
    }

    @Test func anObservedGroupIsWrongAndOtherWarningsAreWeak() async throws {
        let stage = try await Stage()
        try stage.folder.write("[AccessGroup org.example.mail2]\nMode=observe\n", to: "policy/60-watch.conf")
        try stage.folder.write(
            "[Application a]\nExecutable=/a\nAccessGroups=org.example.mail2\n", to: "policy/61.conf")
        try stage.folder.write("[AccessGroup lonely]\n", to: "policy/70-lonely.conf")
        let place = stage.folder.entry("policy/60-watch.conf") + ":2"
        let outcome = try await stage.run(["doctor"])
        #expect(outcome.status == .exited(5) && outcome.errors == "chatelaine: one thing is wrong\n")
        #expect(
            outcome.text.contains(
                "policy files         \(place): org.example.mail2 is in observe mode: nothing guards it\n"))
        #expect(outcome.text.contains("CHATELAINE_DECISION=observe, grant what is missing"))
        let lonely = /weak +policy files +\S+70-lonely.conf:1: Nobody can reach lonely/
        #expect(outcome.text.matches(of: lonely).count == 1)
        #expect(!outcome.text.contains(": Mode=observe:"))
        let reload = try await stage.run(["policy", "reload"])
        #expect(reload.status == .exited(0) && reload.text.contains("warning: \(place): Mode=observe: "))
        // Whom the mode lets in is told so, and why it would be denied.
        let process = String(ProcessInfo.processInfo.processIdentifier)
        let told = try await stage.run(["policy", "explain", process, "org.example.mail2"])
        #expect(told.text.hasPrefix("Decision     allow\n"))
        #expect(told.text.contains("observe: would be denied because [Application org.chatelaine.Tests]"))
        let check = try await stage.run(["--json", "policy", "check", stage.folder.entry("policy")])
        #expect(check.status == .exited(0))
        #expect(check.text.contains(#""Warnings":["\#(place): Mode=observe: org.example.mail2 is not"#))
        #expect(check.text.contains(#""Mode":"observe""#))
    }

    @Test func filesThatCannotBeTakenAreShown() async throws {
        let stage = try await Stage()
        try stage.folder.write("[Odd]\n[Odder]\n", to: "policy/60-odd.conf")
        let outcome = try await stage.run(["doctor"])
        #expect(outcome.status == .exited(5))
        #expect(outcome.text.matches(of: /wrong +policy files .*60-odd.conf:1: .* \(and 1 more\)/).count == 1)
    }

    @Test func aSocketThatIsNotTheBrokersIsWrong() async throws {
        let stage = try await Stage()
        let folder = stage.folder.entry("runtime")
        try FileManager.default.createDirectory(
            atPath: folder + "/chatelaine", withIntermediateDirectories: true)
        let runtime = ["XDG_RUNTIME_DIR": folder]
        func line() async throws -> String {
            let doctor = try await ChildProcess.start(
                [stage.command, "doctor"], environment: stage.environment.merging(runtime) { $1 })
            let text = try await within("the doctor") { await doctor.output.rest() }
            let lines = text.split(separator: "\n")
            return lines.first { $0.contains("direct endpoint") }.map { String($0) } ?? ""
        }
        #expect(try await line().hasPrefix("absent"))
        try "".write(toFile: folder + "/chatelaine/bus", atomically: true, encoding: .utf8)
        #expect(try await line().hasPrefix("wrong   direct endpoint"))
    }

    @Test func aConnectionThatIsOlderThanTheBrokerIsNamed() async throws {
        let stage = try await Stage()
        let watch = try await stage.start(["watch"])
        _ = try await within("the first line") { await watch.output.next() }
        let before = try await stage.run(["doctor"]).text
        // Where the bus pins processes their age does not matter.
        if before.contains("the bus pins each caller's process") { return }
        #expect(before.contains("no client was connected before the broker"))
        // The stage's own connection watched the broker come.
        let name = try #require(try await stage.callFromOlderConnection())
        let line = "weak    old connections      \(name) came before the broker: worth user trust at most\n"
        #expect(try await stage.run(["doctor"]).text.contains(line))
    }
}
