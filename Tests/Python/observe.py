"""`Mode=observe`, by real processes: what the policy denies is logged and let through, and nothing else is."""

import contextlib
import os
import re
import subprocess
import sys
import time

from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from harness import START_SECONDS
from policy import FOREIGN, ONE, STRICT
from puppets import HERE, NOBODY
from stage import Stage

TABLE = Table()
row = TABLE.row
WATCHED = "org.test.watched"
PROXY = "/usr/bin/xdg-dbus-proxy"
GROUP = """[AccessGroup {group}]
RequireTrust={trust}
Mode={mode}
"""
READER = """[Application org.test.Nobody]
Executable={path}
AccessGroups={watched} org.test.own
Operations=read search

[AccessGroup org.test.own]
RequireTrust=user

"""


@contextlib.contextmanager
def observing(w, mode="observe", group=WATCHED, trust="user", more=""):
    """One more group, in that mode; what it held is gone before and after."""
    with w.policy_file(more + GROUP.format(group=group, trust=trust, mode=mode)):
        w.admin.force_logout(group)
        try:
            yield
        finally:
            w.admin.force_logout(group)


@contextlib.contextmanager
def someone(w, executable=None, wrap=None):
    """A process that no section names, or one of that program, with what the audit says of its connection."""
    puppet = w.program(executable or w.executable("nobody"), wrap)
    try:
        puppet.disconnect()
        yield puppet, Lines(w, puppet.connect(w.client_address))
    finally:
        puppet.close()


class Lines:
    """What the audit says of a connection."""

    def __init__(self, w, connection):
        # What the direct endpoint calls its connections, and what it answers to Hello.
        self.w, self.connection = w, connection.replace(":direct.", "direct:")

    def all(self):
        pattern = rf"^chatelained: (allow|deny|observe) (\S+) on (\S+) to .* \({self.connection}\)(.*)$"
        return re.findall(pattern, self.w.log(), re.MULTILINE)

    def await_line(self, decision, operation, group, text=""):
        """Until there is such a line, which a thread of the log's own writes."""
        deadline = time.monotonic() + START_SECONDS
        wanted = (decision, operation, group)
        while not any(line[:3] == wanted and text in line[3] for line in self.all()):
            holds(time.monotonic() < deadline, f"the log says {wanted} with '{text}' ({self.all()})")
            time.sleep(0.02)

    def none(self, decision):
        holds(not any(line[0] == decision for line in self.all()), f"no line says {decision} ({self.all()})")


def watched(**attributes):
    return generic(AccessGroup=WATCHED, **attributes)


@row("O01", "a program without the group", "each operation, naming it", "done, and logged as it would be denied")
def o01(w):
    with observing(w), someone(w) as (nobody, lines):
        equal(list(nobody.subscribe(WATCHED)[1]), [WATCHED], "the groups")
        reference, _ = nobody.add(watched(), secret())
        signal = nobody.next_signal()
        equal((signal.name, signal.arguments[1:4]), ("ItemChanged", (WATCHED, reference, "added")))
        same_secret(nobody.read(watched()).secret, secret())
        equal(len(nobody.read_all(watched())), 1)
        equal(len(nobody.search(watched())), 1)
        equal(nobody.update(watched(), {"Comment": "c"}), 1)
        equal(nobody.store(watched(), secret("new"))[2], False, "whether the item is new")
        equal(nobody.delete(watched()), 1)
        nobody.add(watched(), secret())
        deleted, epoch = nobody.logout(WATCHED, "s", "over")
        equal(deleted, 1)
        nobody.acknowledge(WATCHED, epoch)
        for operation in ("subscribe", "add", "read", "search", "update", "add+update", "delete", "logout"):
            lines.await_line("observe", operation, WATCHED, "would be denied: it has no access group at all")
        per_call = [line[:2] for line in lines.all() if line[0] == "observe"]
        equal(len(per_call), 11, f"the number of lines, one for each call ({per_call})")
        lines.none("deny")


@row("O02", "a program whose trust is too low", "name the group; name none", "let in and logged; as ever")
def o02(w):
    with observing(w, group=STRICT, trust="file"), someone(w, w.executable("weak")) as (weak, lines):
        weak.add(generic(AccessGroup=STRICT), secret())
        same_secret(weak.read(generic(AccessGroup=STRICT)).secret, secret())
        lines.await_line("observe", "add", STRICT, "requires more trust than its evidence is worth")
        refused("MissingEntitlement", weak.read, generic())
        refused("MissingEntitlement", weak.add, generic(Account="b"), secret())


@row("O03", "a program whose Operations= lacks it", "name the group, none, another", "through, through, refused")
def o03(w):
    more = READER.format(path=w.executable("nobody"), watched=WATCHED)
    with observing(w, more=more), someone(w) as (reader, lines):
        reader.add(watched(), secret())
        lines.await_line("observe", "add", WATCHED, "Operations= of its application lacks it")
        refused("MissingEntitlement", reader.add, generic(AccessGroup="org.test.own"), secret())
        # Without a name: those of its own groups that are observed.
        reader.add(generic(Account="b"), secret())
        equal(reader.delete({"Class": "generic-password", "Service": "s"}), 2)
        # What it may do is not logged.
        equal(reader.search(watched()), [])
        lines.await_line("deny", "add", "org.test.own", "Operations=")
        holds(not any(line[1] == "search" for line in lines.all()), "what the policy grants is not logged")


@row("O04", "an item of a program's own", "move it there, move it back", "moved, logged; both are heard of")
def o04(w):
    with observing(w), someone(w, w.executable("mail")) as (mail, lines):
        mail.add(generic(), secret())
        w.calendar.subscribe(ONE)
        equal(mail.update(generic(), {"AccessGroup": WATCHED}), 1)
        equal(w.calendar.next_signal().arguments[3], "removed")
        refused("ItemNotFound", mail.read, generic())
        same_secret(mail.read(watched()).secret, secret())
        lines.await_line("observe", "add", WATCHED, "the policy does not give it the group")
        equal(mail.update(watched(), {"AccessGroup": ONE}), 1)
        lines.await_line("observe", "update", WATCHED)
        equal(w.calendar.next_signal().arguments[3], "added")
        refused("MissingEntitlement", mail.update, generic(), {"AccessGroup": FOREIGN})


@row("O05", "an item there", "queries that name no group, its reference", "absent: only a name lets in")
def o05(w):
    with observing(w), someone(w) as (nobody, _):
        reference, _ = nobody.add(watched(), secret())
        equal(w.mail.search({"Class": "generic-password"}), [])
        refused("ItemNotFound", w.mail.read, generic())
        refused("ItemNotFound", w.mail.read, {"Reference": reference})
        refused("ItemNotFound", w.mail.delete, generic())
        holds(WATCHED not in w.mail.subscribe()[1], "a subscription without names has it not")
        for call in (nobody.read, nobody.search, nobody.delete):
            refused("MissingEntitlement", call, generic())
        refused("MissingEntitlement", nobody.add, generic(), secret())
        refused("MissingEntitlement", nobody.subscribe)


@row("O06", "a caller in a namespace of its own", "name the group", "denied: a sandbox does not gain by it")
def o06(w):
    if os.geteuid() != 0:
        raise NotHere("a mount namespace needs root")
    path = w.executable("nobody")
    apart = [sys.executable, os.path.join(HERE, "in_namespace.py"), "mount", path, path]
    with observing(w), someone(w, path, apart) as (sandboxed, lines):
        is_refused(sandboxed)
        lines.await_line("deny", "logout", WATCHED)
        lines.none("observe")


def is_refused(puppet):
    for call in (puppet.read, puppet.read_all, puppet.search, puppet.delete):
        refused("MissingEntitlement", call, watched())
    for call in (puppet.add, puppet.store):
        refused("MissingEntitlement", call, watched(), secret())
    refused("MissingEntitlement", puppet.subscribe, WATCHED)
    refused("MissingEntitlement", puppet.logout, WATCHED)


@row("O07", "another user's process", "name the group", "denied")
def o07(w):
    if os.geteuid() != 0 or w.direct:
        raise NotHere("another user's process needs root, and a bus: the socket's folder is closed to it")
    with observing(w), someone(w, wrap=w.become(NOBODY)) as (other, lines):
        is_refused(other)
        lines.await_line("deny", "logout", WATCHED)
        lines.none("observe")


@row("O08", "a program let in, and subscribed", "enforce, reload", "refused from the next call on, hears no more")
def o08(w):
    with someone(w) as (nobody, lines):
        with observing(w):
            nobody.subscribe(WATCHED)
            nobody.add(watched(), secret())
            equal(nobody.next_signal().name, "ItemChanged")
            clients = {one["Connection"]: one for one in w.admin.list_clients()}
            mine = [one for one in clients.values() if one["ProcessID"] == nobody.process.pid]
            equal([(one["Subscribed"], one["AccessGroups"]) for one in mine], [([WATCHED], [])])
        with observing(w, mode="enforce"):
            is_refused(nobody)
            nobody.pending_signals()
            w.admin.force_logout(WATCHED)
            equal(nobody.pending_signals(), [], "what it hears")
            lines.await_line("deny", "read", WATCHED, "it has no access group at all")
        with observing(w):
            w.admin.force_logout(WATCHED)
            equal(nobody.pending_signals(), [], "what it hears without subscribing again")


@row("O09", "an observed group", "load, reload", "a warning with file:line, each time, to all who look")
def o09(w):
    text = "60-test.conf:3: Mode=observe: org.test.watched is not guarded."
    with observing(w):
        equal(len([line for line in w.warnings if text in line]), 1, f"that it is among {w.warnings}")
        w.await_log(text, 1)
        count = w.log().count(text)
        w.admin.reload_policy()
        w.await_log(text, count + 1)
        command = os.path.join(os.path.dirname(w.daemon), "chatelaine")
        check = subprocess.run(
            [command, "policy", "check", os.path.join(w.folder, "policy")], capture_output=True, text=True
        )
        equal(check.returncode, 0)
        holds(text in check.stderr, "policy check warns")
        holds(re.search(r"Mode\s+observe", check.stdout), "policy check shows the mode")
        w.restart()
        w.await_log(text, count + 2)
        w.unlock()


@row("O10", "a program that is let in", "Explain", "allow, and in words why it would be denied")
def o10(w):
    with observing(w), someone(w) as (nobody, _):
        nobody.subscribe(WATCHED)
        told = w.admin.explain(f"pid:{nobody.process.pid}", WATCHED)
        equal((told["Decision"], told["Trust"]), ("allow", "user"))
        holds(told["Policy"].endswith("60-test.conf:3"), "the line of the mode is named")
        reason = [line for line in told["Reasons"] if line.startswith("observe: would be denied because ")]
        holds(len(reason) == 1 and "60-test.conf:3" in reason[0], f"it is told: {told['Reasons']}")
        equal(w.admin.explain(f"pid:{nobody.process.pid}", FOREIGN)["Decision"], "deny")


@row("O11", "a group with a section and no Mode=", "a program without it names it", "denied: never the default")
def o11(w):
    with w.policy_file(f"[AccessGroup {WATCHED}]\nRequireTrust=user\n"), someone(w) as (nobody, _):
        is_refused(nobody)


@row("O12", "an observed group", "manager's calls by an ordinary program", "AccessDenied as ever")
def o12(w):
    with observing(w), someone(w) as (nobody, _):
        refused("AccessDenied", nobody.force_logout, WATCHED)
        refused("AccessDenied", nobody.move_items, WATCHED, ONE)
        refused("AccessDenied", nobody.list_groups)
        refused("AccessDenied", nobody.explain, "pid:1", WATCHED)


@row("O13", "a private group", "a section with Mode=observe", "PolicyInvalid with file:line")
def o13(w):
    path = os.path.join(w.folder, "policy", "70-private.conf")
    try:
        with open(path, "w") as file:
            file.write("[AccessGroup app.org.test.Mail]\nMode=observe\n")
        error = refused("PolicyInvalid", w.admin.reload_policy)
        holds("70-private.conf:2: Mode=: " in error.text, f"the line is named ({error.text})")
    finally:
        os.unlink(path)
        w.admin.reload_policy()


@row("O14", "an interpreter of [Carriers]", "name the group", "denied: it carries others' wishes")
def o14(w):
    real = os.path.realpath(sys.executable)
    carriers = f"[Carriers]\nExecutable={real}\n\n"
    with observing(w, more=carriers), someone(w, real) as (script, lines):
        is_refused(script)
        lines.await_line("deny", "logout", WATCHED)
        told = w.admin.explain(lines.connection, WATCHED)
        equal(told["Decision"], "deny")
        holds(any("may come out of a sandbox" in line for line in told["Reasons"]), f"why: {told['Reasons']}")


@row("O15", "a program in a sandbox, behind a proxy outside", "name the group", "denied: the proxy is a carrier")
def o15(w):
    if os.geteuid() != 0 or not os.path.exists(PROXY):
        raise NotHere("a mount namespace and a proxy need root and xdg-dbus-proxy")
    path, socket = w.executable("nobody"), os.path.join(w.folder, "proxy")
    proxy = subprocess.Popen(
        [PROXY, w.address, socket, "--fd=1"], stdout=subprocess.PIPE, env=w.environment, cwd=w.folder
    )
    try:
        # It says so with a byte when its socket is there.
        equal(proxy.stdout.read(1), b"x")
        apart = [sys.executable, os.path.join(HERE, "in_namespace.py"), "mount", path, path]
        with observing(w, more=f"[Carriers]\nExecutable={PROXY}\n\n"), someone(w, path, apart) as (sandboxed, _):
            sandboxed.disconnect()
            lines = Lines(w, sandboxed.connect(f"unix:path={socket}"))
            is_refused(sandboxed)
            lines.await_line("deny", "logout", WATCHED)
            lines.none("observe")
    finally:
        proxy.terminate()
        proxy.wait()
        proxy.stdout.close()


def run(report):
    with contextlib.closing(Stage()) as stage:
        for row in TABLE.rows:
            report.play(row, lambda row=row: row.play(stage.emptied()))
