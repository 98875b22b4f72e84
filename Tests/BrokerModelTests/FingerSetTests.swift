import Testing

@testable import BrokerModel

/// Which fingers an item is bound to, and who can still open it.
@Suite struct FingerSetTests {
    private static func hash(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
    private static let set = FingerSet(reader: hash(1), fingers: hash(2))!

    @Test(arguments: [0, 31, 33]) func aHashOfAnotherLengthMakesNoSet(count: Int) {
        let short = [UInt8](repeating: 1, count: count)
        #expect(FingerSet(reader: short, fingers: Self.hash(2)) == nil)
        #expect(FingerSet(reader: Self.hash(1), fingers: short) == nil)
    }

    @Test func anotherReaderTellsNothingOfTheSet() {
        let cases: [(Enrolment, Bool?)] = [
            (.fingers(Self.set), true),
            (.fingers(FingerSet(reader: Self.hash(1), fingers: Self.hash(3))!), false),
            (.nobody(reader: Self.hash(1)), false),
            (.fingers(FingerSet(reader: Self.hash(3), fingers: Self.hash(2))!), nil),
            (.nobody(reader: Self.hash(3)), nil),
            (.unreachable, nil),
        ]
        for (enrolment, expected) in cases {
            #expect(enrolment.holds(Self.set) == expected, "\(enrolment)")
        }
    }

    @Test func anItemWithoutItsSetIsClosedUnlessSomethingElseOpensIt() throws {
        let cases: [(Set<AccessControl.Flag>, isClosed: Bool)] = [
            ([.biometryCurrentSet], true),
            ([.biometryCurrentSet, .applicationPassword], true),
            ([.biometryCurrentSet, .devicePasscode, .and], true),
            ([.biometryCurrentSet, .devicePasscode, .or], false),
            ([.biometryAny], false),
            ([.userPresence], false),
            ([.devicePasscode], false),
        ]
        for (flags, isClosed) in cases {
            let control = try AccessControl(protection: .whenUnlocked, flags: flags)
            let isBound = flags.contains(.biometryCurrentSet)
            #expect(Protection.accessControl(control).bindsFingers == isBound)
            #expect(control.constraint(fingers: nil)?.isClosed == isClosed, "\(flags)")
            let bound = control.constraint(fingers: Self.set)
            #expect(bound?.isClosed == false && bound?.fingers == (isBound ? Self.set : nil), "\(flags)")
            #expect(bound?.isForEnrolledFinger == isBound)
        }
        #expect(!Protection.accessible(.whenUnlocked).bindsFingers)
    }
}
