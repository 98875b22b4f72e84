"""polkit, the real one, before the broker of the system: who may administer, and who sets a passcode."""

import os

from callers import AGENT, Agent, Caller, monitoring
from expect import Table, equal, holds
from served import MANAGER, NAME, chatelaine, restart, serve

TABLE = Table()
row = TABLE.row
RULE = "/etc/polkit-1/rules.d/50-test.rules"
ACTIVATION = "/usr/share/dbus-1/system-services/org.freedesktop.PolicyKit1.service"
PASSWORD = "wonder land 1"
OBJECT_OF_ALICE = (NAME, "/org/chatelaine/Broker1/user/1000", NAME + ".Manager")
SHIPPED = {
    "org.chatelaine.manage": ("auth_admin", "auth_admin", "auth_admin_keep"),
    "org.chatelaine.set-passcode": ("yes", "yes", "yes"),
    "org.chatelaine.remove-passcode": ("yes", "yes", "yes"),
    "org.chatelaine.present": ("auth_self", "auth_self", "auth_self"),
    "org.chatelaine.recovery-key": ("yes", "yes", "yes"),
    "org.chatelaine.recover": ("yes", "yes", "yes"),
}
POLICY = """[Application org.test.Command]
Executable=/usr/bin/chatelaine
AccessGroups=org.test.command
"""


@row("P00", "the actions as they are shipped", "pkaction", "polkit has read them, with their answers and owner")
def p00(box):
    for action, answers in SHIPPED.items():
        text = box.output("pkaction", "--verbose", "--action-id", action)
        said = dict(line.split(":", 1) for line in text.splitlines()[1:] if line.strip())
        said = {key.strip(): value.strip() for key, value in said.items()}
        equal(tuple(said[f"implicit {where}"] for where in ("any", "inactive", "active")), answers, action)
        equal(said["annotation"], "org.freedesktop.policykit.owner -> unix-user:chatelaine", action)


@row("P01", "root", "administers", "allowed, and polkit is not asked")
def p01(box):
    box.run("systemctl", "stop", "polkit")
    done = box.run("busctl", "call", *MANAGER, "ListClients")
    holds(done.stdout.startswith("aa{sv} "), done.stdout)
    equal(box.output("systemctl", "show", "--property=ActiveState", "--value", "polkit"), "inactive", "polkit")


@row("P02", "a user without an agent", "administers", "denied")
def p02(box):
    denied(call(box, "alice", *MANAGER, "ListClients"))
    denied(call(box, "alice", *MANAGER, "Explain", "ss", "pid:1", "org.test.command"))
    denied(call(box, "alice", *OBJECT_OF_ALICE, "ListGroups"))


@row("P03", "a user with an agent", "the administrator's password is typed", "allowed")
def p03(box):
    with calling(box) as caller, Agent(box, "alice", caller.process, PASSWORD) as agent:
        caller.go()
        agent.wait_for("asked")
        allowed(caller.finish())


@row("P04", "the same over the direct endpoint", "the administrator's password is typed", "allowed")
def p04(box):
    direct = ("--address=unix:path=/run/chatelaine/bus", "call", *MANAGER, "ListClients")
    with Caller(box, "alice", *direct) as caller, Agent(box, "alice", caller.process, PASSWORD) as agent:
        caller.go()
        agent.wait_for("asked")
        allowed(caller.finish())


@row("P05", "a user with an agent", "another password is typed", "denied")
def p05(box):
    with calling(box) as caller, Agent(box, "alice", caller.process, "wrong") as agent:
        caller.go()
        agent.wait_for("asked")
        denied(caller.finish())


@row("P06", "a user with an agent", "the call does not allow interaction", "denied, and nobody is asked")
def p06(box):
    quiet = ("--allow-interactive-authorization=no", "call", *MANAGER, "ListClients")
    with Caller(box, "alice", *quiet) as caller, Agent(box, "alice", caller.process, PASSWORD) as agent:
        caller.go()
        denied(caller.finish())
        equal(agent.end(), [], "what the agent was asked")


@row("P07", "a question that is open", "others call", "answered meanwhile; and it, when its agent goes")
def p07(box):
    with calling(box) as caller, Agent(box, "alice", caller.process, "") as agent:
        caller.go()
        agent.wait_for("asked")
        allowed(call(box, None, *MANAGER, "ListClients"))
        equal(chatelaine(box, "bob", "--json", "status")["State"], "unlocked")
        holds(caller.is_waiting(), "the first call still waits")
        agent.end()
        denied(caller.finish())


@row("P08", "a question that is open", "its caller goes", "the question is taken back")
def p08(box):
    with calling(box) as caller, Agent(box, "alice", caller.process, "") as agent:
        caller.go()
        agent.wait_for("asked")
        # The text agent waits for its terminal alone, so it is the bus that shows what it is told.
        with monitoring(box, "CancelAuthentication") as monitor:
            box.run("kill", "-KILL", caller.process)
            monitor.until("Member=CancelAuthentication")


@row("P09", "a rule of the administrator's for a group", "a member and another user", "allowed; denied")
def p09(box):
    rule(box, 'action.id == "org.chatelaine.manage" && subject.isInGroup("operators")', "YES")
    allowed(call(box, "olga", *MANAGER, "ListClients"))
    allowed(call(box, "olga", *OBJECT_OF_ALICE, "ListGroups"))
    denied(call(box, "alice", *MANAGER, "ListClients"))


@row("P10", "nothing said about passcodes, and a rule that forbids them", "SetPasscode", "allowed; denied")
def p10(box):
    no_rule(box)
    allowed(set_passcode(box, "bob", "", "first one"))
    rule(box, 'action.id == "org.chatelaine.set-passcode"', "NO")
    denied(set_passcode(box, "bob", "first one", "second one"))
    no_rule(box)
    rule(box, 'action.id == "org.chatelaine.remove-passcode"', "NO")
    allowed(set_passcode(box, "bob", "first one", "second one"))
    denied(call(box, "bob", *MANAGER, "RemovePasscode", "(oayay)", *plain("second one")))
    no_rule(box)
    allowed(call(box, "bob", *MANAGER, "RemovePasscode", "(oayay)", *plain("second one")))


@row("P11", "polkit", "another user asks it in the broker's place", "it answers the broker's user alone")
def p11(box):
    question = (
        *("org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority"),
        *("org.freedesktop.PolicyKit1.Authority", "CheckAuthorization", "(sa{sv})sa{ss}us"),
        *("unix-process", "2", "pid", "u", "1", "start-time", "t", "0", "org.chatelaine.manage", "0", "0", ""),
    )
    done = call(box, "bob", *question)
    holds("Only trusted callers" in done.stderr, done.stderr)
    allowed(box.run("busctl", "call", *question, user="chatelaine", check=False))


@row("P12", "polkit that cannot be started", "a user sets a passcode; root administers", "denied; allowed")
def p12(box):
    box.run("systemctl", "mask", "--now", "polkit")
    denied(set_passcode(box, "bob", "", "third one"))
    denied(call(box, "alice", *MANAGER, "ListClients"))
    allowed(call(box, None, *MANAGER, "ListClients"))
    box.run("systemctl", "unmask", "polkit")


@row("P13", "no polkit on the machine", "a user sets a passcode, administers; root", "allowed, denied; allowed")
def p13(box):
    box.run("systemctl", "stop", "polkit")
    box.run("rm", ACTIVATION)
    box.run("systemctl", "reload", "dbus")
    allowed(set_passcode(box, "bob", "", "third one"))
    denied(call(box, "alice", *MANAGER, "ListClients"))
    allowed(call(box, None, *MANAGER, "ListClients"))


def calling(box):
    """alice, who is about to administer."""
    return Caller(box, "alice", *MANAGER, "ListClients")


def call(box, user, *arguments):
    """busctl as root, or in a session of the user's."""
    command = ("busctl", "call", *arguments)
    return box.run(*command, check=False) if user is None else box.login(user, *command, check=False)


def set_passcode(box, user, old, new):
    return call(box, user, *MANAGER, "SetPasscode", "(oayay)(oayay)", *plain(old), *plain(new))


def plain(text):
    """A secret without encryption, which a system bus may carry."""
    return ("/", "0", str(len(text)), *(str(byte) for byte in text.encode()))


def allowed(done):
    equal(done.returncode, 0, done.stderr)


def denied(done):
    holds(done.returncode != 0, "the call is refused")
    # busctl shows the text of an error alone.
    holds("administrator" in done.stderr or "polkit" in done.stderr, f"it is a denial: {done.stderr}")


def rule(box, condition, result):
    answer = f"if ({condition}) return polkit.Result.{result};"
    box.write(RULE, f"polkit.addRule(function(action, subject) {{ {answer} }});\n")
    restart(box, "polkit")


def no_rule(box):
    box.run("rm", "--force", RULE)
    restart(box, "polkit")


def run(report, box, kind, programs):
    serve(box, programs, POLICY)
    box.copy(os.path.join(os.path.dirname(__file__), "agent.py"), AGENT, 0o644)
    box.add_user("bob", 1001)
    box.add_user("olga", 1002)
    box.run("groupadd", "operators")
    box.run("usermod", "--append", "--groups", "operators", "olga")
    # Debian's polkit takes the members of this group for administrators.
    box.add_user("boss", 1003, PASSWORD)
    box.run("usermod", "--append", "--groups", "sudo", "boss")
    for one in TABLE.rows:
        report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one: one.play(box))
