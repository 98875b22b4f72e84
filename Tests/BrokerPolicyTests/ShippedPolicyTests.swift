import BrokerModel
import BrokerPolicy
import Foundation
import Testing

/// The files of `policy/`, as they are installed.
struct ShippedPolicyTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../policy").standardizedFileURL

    private static func files(in name: String) throws -> [PolicyFile] {
        let folder = folder.appending(path: name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
        return try names.filter { $0.hasSuffix(".conf") }.map {
            let contents = try Data(contentsOf: folder.appending(path: $0))
            return PolicyFile(path: $0, contents: Array(contents), origin: .system)
        }
    }

    private static let examples = (try? files(in: "examples")) ?? []

    @Test(arguments: [true, false]) func theShippedPolicyLoadsWithoutAWarning(_ isSystem: Bool) throws {
        let files = try Self.files(in: "")
        #expect(files.map(\.path) == ["50-chatelaine-helpers.conf", "50-chatelaine.conf"])
        let (policy, warnings) = try Policy.load(files, environment: .fixture(isSystem: isSystem))
        #expect(warnings == [])
        let groups = ["org.chatelaine.docker", "org.chatelaine.git", "org.chatelaine.portal"]
        #expect(policy.summary.groups.map(\.group.name) == groups)
        #expect(policy.summary.applications.count == 3)
        #expect(policy.secretService.isolation == .application)
        #expect(policy.secretService.portals == ["org.freedesktop.portal.Desktop"])
    }

    @Test(arguments: [
        "/usr/bin/python3.11", "/usr/bin/perl", "/usr/bin/bash", "/usr/bin/dash", "/usr/bin/secret-tool",
        "/usr/bin/busctl", "/usr/bin/ssh", "/usr/bin/xdg-dbus-proxy", "/usr/bin/sudo", "/usr/bin/env",
        "/usr/bin/nodejs", "/usr/bin/gdbus", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
        "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "/usr/bin/gjs-console", "/usr/bin/zsh5",
        "/usr/bin/git-credential-libsecret", "/usr/bin/git-credential-cache",
        "/usr/bin/git-credential-manager",
        "/usr/bin/docker-credential-secretservice", "/usr/bin/docker-credential-cli",
    ])
    func aCarrierHasNoPrivateGroup(_ path: String) throws {
        let (policy, _) = try Policy.load(Self.files(in: ""), environment: .fixture(isSystem: false))
        let entitlements = policy.entitlements(of: try PeerFacts(vector: "exe=\(path)@file"))
        #expect(entitlements.groups == [])
    }

    @Test func theCommandIsAManagerAndHasItsPrivateGroup() throws {
        let (policy, _) = try Policy.load(Self.files(in: ""), environment: .fixture(isSystem: false))
        let command = policy.entitlements(of: try PeerFacts(vector: "exe=/usr/bin/chatelaine@file"))
        #expect(command.isManager && command.groups.map(\.name) == ["exe./usr/bin/chatelaine"])
        let mail = policy.entitlements(of: try PeerFacts(vector: "exe=/usr/bin/example-mail@file"))
        #expect(!mail.isManager && mail.groups.map(\.name) == ["exe./usr/bin/example-mail"])
    }

    @Test(arguments: ["git", "docker"]) func eachHelperHasItsOwnGroup(_ name: String) throws {
        let (policy, _) = try Policy.load(Self.files(in: ""), environment: .fixture(isSystem: false))
        let path = "/usr/bin/\(name)-credential-chatelaine"
        let helper = policy.entitlements(of: try PeerFacts(vector: "exe=\(path)@file"))
        #expect(
            helper.groups.first?.name == "org.chatelaine.\(name)" && helper.groups.last?.name == "exe.\(path)"
        )
        #expect(!helper.isManager)
        let copy = policy.entitlements(of: try PeerFacts(vector: "exe=\(path)@user"))
        #expect(copy.groups == [])
    }

    @Test func thereAreExamples() { #expect(Self.examples.count >= 3) }

    @Test(arguments: examples.indices) func eachExampleLoadsWithoutAWarning(_ index: Int) throws {
        let (policy, warnings) = try Policy.load(
            [Self.examples[index]], environment: .fixture(isSystem: true))
        #expect(warnings == [])
        #expect(!policy.summary.applications.isEmpty)
    }

    @Test func theExamplesLoadBesideTheShippedPolicy() throws {
        let files = try Self.files(in: "") + Self.examples
        let (policy, _) = try Policy.load(files, environment: .fixture(isSystem: false))
        let development = try PeerFacts(vector: "exe=/home/alice/src/example-mail/build/example-mail@user")
        #expect(
            policy.entitlements(of: development).groups.map(\.name) == ["org.example.mail.development"])
    }

    @Test func theExamplesOfTheManualLoadWithoutAWarning() throws {
        let manual = Self.folder.appending(path: "../docs/man/chatelaine-policy.5").standardizedFileURL
        let text = try String(contentsOf: manual, encoding: .utf8)
        let blocks = text.split(separator: ".Bd -literal -offset indent\n").dropFirst()
        #expect(blocks.count == 3)
        for block in blocks {
            let end = try #require(block.range(of: "\n.Ed"))
            let file = PolicyFile(String(block[..<end.lowerBound]))
            let (policy, warnings) = try Policy.load([file], environment: .fixture(isSystem: false))
            // The one that shows observe mode is warned of.
            let observed = policy.summary.groups.compactMap(\.observedAt)
            #expect(warnings.count == observed.count && !policy.summary.applications.isEmpty)
        }
    }
}
