import Testing

@testable import BrokerPeers

@Suite struct ControlGroupTests {
    private static let manager = "/user.slice/user-1000.slice/user@1000.service"

    private static let paths: [(path: String, group: ControlGroup?)] = [
        ("/system.slice/a.service", .systemUnit("a.service")),
        ("/init.scope", .systemUnit("init.scope")),
        ("/system.slice/system-getty.slice/getty@tty1.service", .systemUnit("getty@tty1.service")),
        ("/a.service", .systemUnit("a.service")),
        ("/system.slice/a.socket", .systemUnit("a.socket")),
        ("/system.slice/home-alice.mount", .systemUnit("home-alice.mount")),
        // Whatever a unit has below itself is the unit's.
        ("/system.slice/a.service/payload/b.service", .systemUnit("a.service")),
        ("/machine.slice/machine-x.scope/init.scope", .systemUnit("machine-x.scope")),
        // A name that the kernel could take for a file of its own.
        ("/system.slice/_cpu.service", .systemUnit("cpu.service")),
        ("/system.slice/__a.service", .systemUnit("_a.service")),
        ("/system.slice/a\\x2db.service", .systemUnit("a\\x2db.service")),

        (manager + "/app.slice/a.service", .userUnit("a.service", userID: 1000)),
        (manager + "/app.slice/app-x.slice/a.scope/b", .userUnit("a.scope", userID: 1000)),
        (manager + "/init.scope", .userUnit("init.scope", userID: 1000)),
        (manager + "/user@0.service", .userUnit("user@0.service", userID: 1000)),
        (manager + "/system.slice/a.service", .userUnit("a.service", userID: 1000)),
        (manager + "/app.slice", nil),
        (manager + "/app.slice/plain/a.service", nil),
        (manager, nil),

        // All of a login session is its user's, and so is what else lies in the users' slice.
        ("/user.slice/user-1000.slice/session-3.scope", nil),
        ("/user.slice/user-1000.slice/session-3.scope/a.service", nil),
        ("/user.slice/user-1000.slice/a.service", nil),
        ("/session-3.scope", nil),
        // Names that only look like a manager's.
        ("/system.slice/user@alice.service/a.service", .systemUnit("user@alice.service")),
        ("/system.slice/user@01000.service/a.service", .systemUnit("user@01000.service")),
        ("/user.slice/user-1000.slice/user@.service/a.service", nil),

        // Outside of the broker's view, and what is no unit.
        ("/../system.slice/a.service", nil),
        ("/..", nil),
        ("/", nil),
        ("", nil),
        ("system.slice/a.service", nil),
        ("/system.slice", nil),
        ("//system.slice/a.service", nil),
        ("/system.slice//a.service", nil),
        ("/payload/system.slice/a.service", nil),
        ("/docker/0123456789/a.service", nil),
        ("/system.slice/a.service (deleted)", nil),
        ("/system.slice/.service", nil),
        ("/system.slice/@x.service", nil),
        ("/system.slice/a b.service", nil),
        ("/system.slice/a.timer", nil),
        ("/system.slice/a.Service", nil),
        ("/system.slice/\u{e9}.service", nil),
        ("/system.slice/" + String(repeating: "a", count: 248) + ".service", nil),
    ]

    @Test(arguments: paths) func aPathNamesAUnitAsItDoesToSystemd(_ row: (path: String, group: ControlGroup?))
    {
        #expect(ControlGroup(path: Array(row.path.utf8)) == row.group)
    }

    @Test func theLongestNameThatSystemdAllowsIsOne() {
        let name = String(repeating: "a", count: 247) + ".service"
        #expect(ControlGroup(path: Array("/system.slice/\(name)".utf8)) == .systemUnit(name))
    }

    private static let texts: [(text: String, group: ControlGroup?)] = [
        ("0::/system.slice/a.service\n", .systemUnit("a.service")),
        // Hybrid: systemd counts in one hierarchy or in both.
        (
            "3:cpu,cpuacct:/x\n1:name=systemd:/system.slice/a.service\n0::/system.slice/a.service\n",
            .systemUnit("a.service")
        ),
        ("9:name=systemd:/\n8:pids:/other.service\n0::/system.slice/a.service\n", .systemUnit("a.service")),
        ("1:name=systemd:/system.slice/a.service\n0::/\n", .systemUnit("a.service")),
        ("1:name=systemd:/system.slice/a.service\n", .systemUnit("a.service")),
        ("1:name=systemd:/system.slice/a.service\n0::/system.slice/b.service\n", nil),
        ("1:name=systemd:/..\n0::/system.slice/b.service\n", nil),
        ("4:pids:/system.slice/a.service\n", nil),
        ("1:name=other:/system.slice/a.service\n", nil),
        // A name may hold colons.
        ("0::/system.slice/a:b.service\n", .systemUnit("a:b.service")),
        ("0::/\n", nil),
        ("", nil),
        ("garbage\n0::/system.slice/a.service\n", nil),
    ]

    @Test(arguments: texts) func theHierarchiesThatAreUsedMustAgree(
        _ row: (text: String, group: ControlGroup?)
    ) {
        #expect(ControlGroup(processText: Array(row.text.utf8)) == row.group)
    }

    @Test func anotherUsersUnitIsNone() {
        let group = ControlGroup.userUnit("a.service", userID: 1000)
        #expect(group.unit(ofUser: 1000) == "a.service")
        #expect(group.unit(ofUser: 0) == nil)
        #expect(ControlGroup.systemUnit("a.service").unit(ofUser: 1000) == nil)
    }

    @Test(arguments: [
        ("org.example.App", "org.example.App"), ("org.example.My-App_2", "org.example.My\\x2dApp_2"),
        (".hidden", "\\x2ehidden"), ("a b\u{1}", "a\\x20b\\x01"), ("a/b:c", "a-b:c"),
    ])
    func aTextIsEscapedAsInAUnitsName(_ text: String, _ escaped: String) {
        #expect(UnitName.escaped(text) == escaped)
    }
}
