import BrokerModel
import BrokerPolicy
import Testing

/// What a person is told. The whole text is compared, so that a change of it is seen.
struct ExplanationTests {
    private let text = """
        [Application org.example.Mail]
        Executable=/usr/bin/example-mail
        AccessGroups=mail suite
        Role=background
        Operations=read refresh
        [Application helper]
        Unit=helper.service
        Group=example-mail
        AccessGroups=mail
        [AccessGroup mail]
        RequireTrust=file
        [AccessGroup vault]
        RequireTrust=kernel
        [Application vault]
        Group=developers
        AccessGroups=vault
        [Carriers]
        Executable=/usr/bin/python3*
        """

    private func explain(_ facts: String, _ group: String, isSystem: Bool = true) throws -> Explanation {
        let (policy, _) = try Policy.load([PolicyFile(text)], environment: .fixture(isSystem: isSystem))
        return policy.explain(try PeerFacts(vector: facts), group: try #require(AccessGroup(group)))
    }

    /// Spares the compiler from guessing the type of long literals.
    private func lines(_ lines: [String]) -> [String] { lines }

    @Test func anAllowedGroupIsToldWithTheLineThatGrantsIt() throws {
        let told = try explain("exe=/usr/bin/example-mail@file", "mail")
        #expect(told.decision == .allow)
        #expect(told.policy == "policy.conf:3")
        #expect(
            told.reasons
                == lines([
                    """
                    The caller is [Application org.example.Mail] (policy.conf:1) at file trust: \
                    Executable=/usr/bin/example-mail (line 2) matched.
                    """,
                    "policy.conf:3 grants mail, which requires file trust (policy.conf:11).",
                    "Role=background: foreground items are absent to it, whatever the lock state.",
                    "Operations= limits it to read, refresh.",
                ]))
    }

    @Test func aProgramThatItsUserCouldHaveWrittenIsToldSo() throws {
        let told = try explain("exe=/usr/bin/example-mail@user", "mail")
        #expect(told.decision == .deny)
        #expect(told.trust == .user)
        #expect(told.policy == "policy.conf:11")
        #expect(
            Array(told.reasons.dropFirst())
                == lines([
                    """
                    policy.conf:3 grants mail, but it requires file trust (policy.conf:11), and the \
                    caller's evidence is worth user.
                    """,
                    """
                    /usr/bin/example-mail or a folder above it is not root's alone to write, or \
                    lies on a nosuid file system: a program of the user could stand in its place.
                    """,
                    """
                    Match the application by evidence that is worth file trust, such as a program \
                    installed by root; or say RequireTrust=user in [AccessGroup mail], which every \
                    process of the user can reach. Then reload the policy ('chatelaine policy \
                    reload').
                    """,
                ]))
    }

    @Test func anUnknownCallerIsToldHowToGetTheGroup() throws {
        let told = try explain("exe=/usr/bin/other@file unit=user:other.scope", "mail")
        #expect(told.application == nil)
        #expect(told.policy == nil)
        #expect(
            told.reasons
                == lines([
                    """
                    No [Application] section matches the caller. Known of it: its program \
                    /usr/bin/other, at file trust; user unit other.scope; user id 1000.
                    """,
                    """
                    [Application org.example.Mail] (policy.conf:1) is granted it; the caller does \
                    not match Executable=/usr/bin/example-mail.
                    """,
                    """
                    [Application helper] (policy.conf:6) is granted it; the caller does not match \
                    Unit=helper.service, Group=example-mail.
                    """,
                    """
                    To give it the group, add a file such as /etc/chatelaine/policy.d/60-local.conf \
                    with the lines [Application NAME], Executable=/usr/bin/other, \
                    AccessGroups=mail; then reload the policy ('chatelaine policy reload').
                    """,
                ]))
    }

    private static let advice: [(facts: String, lines: String)] = [
        (
            "exe=/home/alice/build/x@user",
            "Executable=/home/alice/build/x, AccessGroups=g, and [AccessGroup g],"
        ),
        ("flatpak=org.example.X ns=own", "Flatpak=org.example.X, AccessGroups=g;"),
        ("snap=hello ns=own", "Snap=hello, AccessGroups=g;"),
        ("unit=system:a.service exe=/usr/bin/a@file", "Unit=a.service, AccessGroups=g;"),
        ("exe=/usr/bin/python3.11@file", "Executable=PATH of a program of its own, AccessGroups=g;"),
        ("uid=1000", "Executable=PATH of a program of its own, AccessGroups=g;"),
    ]

    @Test(arguments: advice)
    func theAdviceFitsWhatIsKnown(_ facts: String, _ advice: String) throws {
        let last = try #require(try explain(facts, "g").reasons.last)
        #expect(last.contains("[Application NAME], \(advice)"), "\(last)")
    }

    private static let denials: [(facts: String, group: String, reason: String)] = [
        ("uid=1000", "g", "A caller of whom nothing but the user id counts has no group at all."),
        (
            "exe=/usr/bin/python3.11@file", "g",
            "Its program is listed in [Carriers], so it has no private group of its own."
        ),
        (
            "exe=/usr/bin/b@file", "exe./usr/bin/a",
            "exe./usr/bin/a is a private group: it follows from evidence, and this caller has none."
        ),
        (
            "flatpak=org.example.X ns=own", "mail",
            """
            [Application org.example.Mail] (policy.conf:1) is granted it; it does not name the \
            sandbox that the caller is in.
            """
        ),
        (
            "exe=/usr/bin/example-mail@file", "vault",
            "[Application org.example.Mail] (policy.conf:1) is not granted vault."
        ),
        (
            "exe=/usr/bin/example-mail@file", "vault",
            """
            To grant it, add 'vault' to AccessGroups= at policy.conf:3, then reload the policy \
            ('chatelaine policy reload').
            """
        ),
        (
            "exe=/usr/bin/example-mail@file ns=own", "suite",
            "The caller has namespaces of its own, so what was seen of /usr/bin/example-mail proves little."
        ),
        (
            "exe=/usr/bin/example-mail@file ns=unread", "suite",
            """
            The caller's namespaces could not be read, so what was seen of /usr/bin/example-mail \
            proves little.
            """
        ),
        (
            "unit=user:helper.service group=990:fixed", "mail",
            "Unit=helper.service: anybody can start a user unit of that name; it needs Executable= beside it."
        ),
        (
            "group=1100:member", "vault",
            "Group=developers: the user is a member of the group and could have taken it on."
        ),
    ]

    @Test(arguments: denials)
    func theReasonIsAmongTheSentences(_ facts: String, _ group: String, _ reason: String) throws {
        let told = try explain(facts, group)
        #expect(told.decision == .deny)
        #expect(told.reasons.contains(reason), "\(told.reasons)")
    }

    private static let weaknesses: [(facts: String, reason: String)] = [
        (
            "flatpak=org.example.App@user ns=own",
            """
            Flatpak=org.example.App: The application or its runtime is not root's alone to write: its user \
            could have built it.
            """
        ),
        (
            "flatpak=org.example.App@user ns=own pin=unproven",
            """
            Flatpak=org.example.App: The connection is older than the broker, so nothing shows that the \
            process was there first and what was read of it proves little; it counts when the program \
            connects again.
            """
        ),
        (
            "exe=/usr/bin/app@user pin=unproven",
            """
            The connection is older than the broker, so nothing shows that the process was there first and \
            what was read of it proves little; it counts when the program connects again.
            """
        ),
        (
            "label=permissive:app_t",
            """
            SecurityLabel=app_t: SELinux only logs (setenforce 0), so any process may give itself that label.
            """
        ),
        (
            "unit=system:app.service uid=999 pin=connect",
            "Without --system nothing is worth kernel trust."
        ),
    ]

    @Test(arguments: weaknesses)
    func evidenceThatIsWorthLittleIsToldWhy(_ facts: String, _ reason: String) throws {
        let text = """
            [Application a]
            Flatpak=org.example.App
            AccessGroups=g
            [Application b]
            Executable=/usr/bin/app
            AccessGroups=g
            [Application c]
            SecurityLabel=app_t
            AccessGroups=g
            [Application d]
            Unit=app.service
            AccessGroups=k
            [AccessGroup k]
            RequireTrust=kernel
            """
        let (policy, _) = try Policy.load([PolicyFile(text)], environment: .fixture(isSystem: false))
        let group = try #require(AccessGroup(facts.hasPrefix("unit") ? "k" : "g"))
        let told = policy.explain(try PeerFacts(vector: facts), group: group)
        #expect(told.decision == .deny)
        #expect(told.reasons.contains(reason), "\(told.reasons)")
    }

    private static let shortfalls: [(facts: String, reason: String)] = [
        ("uid=999 pin=late", "the bus named its process by number alone."),
        (
            "uid=1000 pin=connect",
            "its user id 1000 is not one of the system's, so other processes have it too."
        ),
    ]

    @Test(arguments: shortfalls)
    func aSystemUnitIsToldWhatKeepsItFromKernelTrust(_ facts: String, _ reason: String) throws {
        let text = """
            [Application a]
            Unit=app.service
            AccessGroups=g
            [AccessGroup g]
            RequireTrust=kernel
            """
        let (policy, _) = try Policy.load([PolicyFile(text)], environment: .fixture(isSystem: true))
        let told = policy.explain(
            try PeerFacts(vector: "unit=system:app.service " + facts),
            group: try #require(AccessGroup("g")))
        #expect(told.decision == .deny)
        let wanted = "Unit=app.service is worth file trust: " + reason
        #expect(told.reasons.contains(wanted), "\(told.reasons)")
    }

    @Test func withoutSystemNothingIsWorthKernelTrust() throws {
        let told = try explain("group=1100:fixed", "vault", isSystem: false)
        #expect(told.decision == .deny)
        #expect(told.trust == .file)
        #expect(told.reasons.contains("Without --system nothing is worth kernel trust."))
        #expect(try explain("group=1100:fixed", "vault").decision == .allow)
    }

    private func observed(_ facts: String, _ group: String = "mail") throws -> Explanation {
        let text = text.replacing("[AccessGroup mail]", with: "[AccessGroup mail]\nMode=observe")
        let (policy, _) = try Policy.load([PolicyFile(text)], environment: .fixture(isSystem: true))
        return policy.explain(try PeerFacts(vector: facts), group: try #require(AccessGroup(group)))
    }

    @Test func whoIsLetInByObserveModeIsToldWhatWouldBe() throws {
        let mode = "Mode=observe (policy.conf:11) lets it in, and logs it."
        let told = try observed("exe=/usr/bin/other@file")
        #expect(told.decision == .allow && told.policy == "policy.conf:11")
        #expect(
            told.reasons.contains(
                "observe: would be denied because no section that matches the caller grants mail; \(mode)"))
        // What to do before it is enforced.
        #expect(told.reasons.last?.contains("Executable=/usr/bin/other, AccessGroups=mail") == true)
        let weak = try observed("exe=/usr/bin/example-mail@user")
        #expect(weak.decision == .allow && weak.trust == .user)
        #expect(
            weak.reasons.contains(
                """
                observe: would be denied because mail requires file trust and the evidence is worth user; \
                \(mode)
                """))
    }

    @Test func whoHasTheGroupIsToldWhatOperationsWouldTakeAway() throws {
        let told = try observed("exe=/usr/bin/example-mail@file")
        #expect(told.decision == .allow && told.policy == "policy.conf:3")
        #expect(
            told.reasons.last
                == """
                observe: what Operations= lacks would be denied; Mode=observe (policy.conf:11) lets it \
                through, and logs it.
                """)
    }

    @Test func aSandboxedCallerIsToldThatTheModeIsNotForIt() throws {
        let told = try observed("flatpak=org.example.X ns=own")
        #expect(told.decision == .deny)
        #expect(
            told.reasons.contains(
                """
                Mode=observe (policy.conf:11) does not count for it: it is in a sandbox, or was not shown \
                to be in none.
                """))
        #expect(try observed("exe=/usr/bin/other@file ns=unread").decision == .deny)
        let carrier = try observed("exe=/usr/bin/python3.11@file")
        #expect(carrier.decision == .deny)
        #expect(carrier.reasons.contains { $0.hasSuffix("what it carries may come out of a sandbox.") })
        let unknown = try observed("uid=1000")
        #expect(unknown.decision == .deny)
        #expect(unknown.reasons.contains { $0.hasSuffix("does not count for it: its program is not known.") })
    }

    @Test func aCallersOwnNamesCannotSteerATerminal() throws {
        let told = Policy.empty.explain(
            try PeerFacts(vector: "exe=/home/x/\u{1b}[2J\n@user"), group: try #require(AccessGroup("g")))
        #expect(told.reasons.allSatisfy { !$0.contains("\u{1b}") && !$0.contains("\n") })
        #expect(told.reasons[0].contains("/home/x/\\u{1b}[2J\\u{a}"))
    }
}
