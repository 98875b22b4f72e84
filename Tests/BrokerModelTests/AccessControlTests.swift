import BrokerModel
import Testing

/// The grammar of SEMANTICS 6.2 with ruling K1; S116 to S118.
@Suite struct AccessControlTests {
    private typealias Flag = AccessControl.Flag

    @Test(
        arguments: [
            [], [.userPresence], [.biometryAny], [.biometryCurrentSet], [.devicePasscode], [.privateKeyUsage],
            [.applicationPassword], [.userPresence, .applicationPassword], [.userPresence, .privateKeyUsage],
            [.userPresence, .applicationPassword, .privateKeyUsage], [.biometryAny, .devicePasscode, .or],
            [.biometryAny, .devicePasscode, .and], [.biometryCurrentSet, .devicePasscode, .or],
            [.biometryAny, .devicePasscode, .and, .applicationPassword], [.biometryAny, .or], [.or], [.and],
            [.biometryAny, .privateKeyUsage],
        ] as [Set<AccessControl.Flag>])
    func isTaken(flags: Set<AccessControl.Flag>) throws {
        for protection in Accessibility.allCases {
            let control = try AccessControl(protection: protection, flags: flags)
            #expect(control.protection == protection && control.flags == flags)
            #expect(try AccessControl(protection: control.protection, flags: control.flags) == control)
        }
    }

    @Test(
        arguments: [
            [.or, .and], [.biometryAny, .devicePasscode, .or, .and], [.biometryAny, .biometryCurrentSet],
            [.biometryAny, .biometryCurrentSet, .or], [.userPresence, .devicePasscode],
            [.userPresence, .biometryAny],
            [.userPresence, .or], [.userPresence, .and], [.userPresence, .devicePasscode, .or],
            [.biometryAny, .devicePasscode], [.biometryCurrentSet, .devicePasscode, .applicationPassword],
            Set(AccessControl.Flag.allCases),
        ] as [Set<AccessControl.Flag>])
    func isRefused(flags: Set<AccessControl.Flag>) {
        #expect(
            refusal { () throws(Refusal) in _ = try AccessControl(protection: .whenUnlocked, flags: flags) }
                == .param)
    }

    /// Of all 256 sets of flags: what is taken joins its constraints and nothing else.
    @Test func everySetOfFlagsIsJudgedByTheSameRules() {
        for bits in 0..<256 {
            let flags = Set(Flag.allCases.filter { bits & 1 << Int($0.rawValue) != 0 })
            let constraints = flags.intersection([
                .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode,
            ])
            let isJoined = flags.contains(.or) != flags.contains(.and)
            let isTaken =
                !(flags.contains(.or) && flags.contains(.and)) && (constraints.count < 2 || isJoined)
                && !(flags.contains(.biometryAny) && flags.contains(.biometryCurrentSet))
                && (!flags.contains(.userPresence) || constraints.count == 1 && !isJoined)
            let met = refusal { () throws(Refusal) in
                _ = try AccessControl(protection: .whenUnlocked, flags: flags)
            }
            #expect((met == nil) == isTaken, "\(flags)")
        }
    }

    @Test func whatAsksAPersonIsGated() throws {
        for flag in Flag.allCases {
            let control = try AccessControl(protection: .whenUnlocked, flags: [flag])
            let isConstraint = [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode].contains(
                flag)
            #expect(control.isGated == isConstraint, "\(flag)")
        }
    }

    @Test func wordsAndFlagsBelongTogether() {
        for flag in Flag.allCases { #expect(Flag(name: flag.name) == flag) }
        #expect(Flag(name: "User-Presence") == nil && Flag(name: "") == nil)
        #expect(Set(Flag.allCases.map(\.name)).count == Flag.allCases.count)
    }
}
