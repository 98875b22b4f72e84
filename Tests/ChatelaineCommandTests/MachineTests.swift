import Foundation
import TestKit
import Testing

@testable import ChatelaineCommand

/// What depends on where it runs.
@Suite struct MachineTests {
    init() { TestLoop.start() }

    @Test func theDoctorLooksAtEverything() async throws {
        let stage = try await Stage()
        let outcome = try await stage.run(["--json", "doctor"])
        let subjects = outcome.text.matches(of: /"Subject":"([^"]*)","Result":"(\w+)"/)
        #expect(
            subjects.map { String($0.1) } == [
                "bus", "process descriptors", "broker", "passcode", "memory locking", "device key", "policy",
                "old connections", "direct endpoint", "secret service", "activation", "other keyrings",
                "secret portal", "policy files", "journal", "TPM", "logind", "fprintd", "polkit",
                "socket descriptors", "security labels", "tracing", "/proc", "first process",
                "user namespaces",
            ])
        let isAllWell = !subjects.contains { $0.2 == "wrong" }
        #expect(outcome.status == .exited(isAllWell ? 0 : 5))
    }

    @Test func theDoctorFindsThatThereIsNoBroker() async throws {
        let stage = try await Stage()
        await stage.endBroker()
        let outcome = try await stage.run(["doctor"])
        #expect(outcome.text.contains("wrong   broker"))
        #expect(outcome.text.contains("→ systemctl --user start chatelained"))
        #expect(outcome.status == .exited(5) && outcome.errors == "chatelaine: one thing is wrong\n")
    }

    @Test func withoutABrokerAVerbSaysHowToStartOne() async throws {
        let stage = try await Stage()
        await stage.endBroker()
        let outcome = try await stage.run(["status"])
        #expect(outcome.status == .exited(5))
        #expect(outcome.errors.contains("org.freedesktop.DBus.Error.ServiceUnknown: "))
        #expect(outcome.errors.hasSuffix("systemctl --user start chatelained\n"))
    }

    @Test func aFullDiskBehindStandardOutputIsAnError() async throws {
        let stage = try await Stage()
        let full = try await ChildProcess.start(
            ["sh", "-c", "exec \"$0\" status >/dev/full", stage.command], environment: stage.environment)
        #expect(try await ended(full) == .exited(5))
    }

    @Test func aSecretOfTheLargestSizeGoesThroughAndALargerOneDoesNot() async throws {
        let stage = try await Stage()
        let largest = String(repeating: "x", count: 1 << 20)
        let stored = try await stage.run(["set", "--service", "large"], input: largest)
        #expect(stored.status == .exited(0), "\(stored.errors)")
        #expect(try await stage.run(["get", "--service", "large"]).text == largest)
        let refused = try await stage.run(["set", "--service", "larger"], input: largest + "x")
        #expect(refused.status == .exited(5) && refused.errors.contains("1 MiB"))
    }

    @Test func everyByteComesBack() async throws {
        let stage = try await Stage()
        let bytes = Data(0...255)
        try bytes.write(to: URL(filePath: stage.folder.entry("bytes")))
        let set = try await ChildProcess.start(
            ["sh", "-c", "exec \"$0\" set --service bytes <\(stage.folder.entry("bytes"))", stage.command],
            environment: stage.environment)
        #expect(try await ended(set) == .exited(0))
        #expect(try await stage.run(["get", "--service", "bytes"]).output == Array(bytes))
    }

    @Test func aPolicyWithMistakesIsShownWithItsLines() async throws {
        let stage = try await Stage()
        try stage.folder.write("[AccessGroup a]\nRequireTrust=much\nOdd=1\n", to: "policy/60-odd.conf")
        let file = stage.folder.entry("policy/60-odd.conf")
        let check = try await stage.run(["policy", "check", stage.folder.entry("policy")])
        #expect(check.status == .exited(5) && check.output.isEmpty)
        #expect(check.errors.contains("error: \(file):2: ") && check.errors.contains("error: \(file):3: "))
        #expect(check.errors.hasSuffix("the policy has 2 errors, and a broker would refuse it whole\n"))
        let reload = try await stage.run(["policy", "reload"])
        #expect(reload.status == .exited(5))
        #expect(reload.errors.hasPrefix("chatelaine: org.chatelaine.Error.PolicyInvalid: "))
        #expect(try await stage.run(["status"]).text.contains("policy-refused"))
        let doctor = try await stage.run(["doctor"])
        #expect(doctor.status == .exited(5) && doctor.text.contains("wrong   policy"))
    }
}
