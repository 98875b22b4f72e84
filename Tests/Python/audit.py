"""The audit: no caller fills the journal, none drowns another's lines, and every event is counted."""

import contextlib
import os
import re
import socket
import subprocess
import sys

from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from harness import World
from policy import FOREIGN, ONE
from puppets import HERE
from stage import Stage

TABLE = Table()
row = TABLE.row
LINE = re.compile(
    r"^chatelained: (allow|deny|observe) (\S+) on (\d+ groups|the manager|its groups|\S+) to (.*?)"
    r" \(((?:direct)?:\S+|process \d+|user \d+)\)(?:, (once|\d+ times) more)?(?:: (.*))?$",
    re.MULTILINE,
)
PROCESS_LINES, PROGRAM_LINES = 32, 128
BACKGROUND = "Role=background of its application keeps it from foreground items"
OBSERVED = "org.test.observed"


class Entry:
    def __init__(self, match):
        self.decision, self.operation, self.what, self.who, self.whence, more, self.why = match.groups()
        self.is_folded = more is not None
        self.count = {None: 1, "once": 1}.get(more) or int(more.split()[0])


def entries(log):
    return [Entry(match) for match in LINE.finditer(log)]


def total(found):
    return sum(entry.count for entry in found)


@contextlib.contextmanager
def written(w):
    """The lines of what happens inside, all of them: the broker ends for that, and starts again."""
    found, start = [], len(w.log())
    yield found
    w.stop()
    found.extend(entries(w.log()[start:]))
    w.start()
    w.unlock()


@row(
    "U01",
    "a program that names another group with each of 5,000 calls",
    "another reads 20 secrets meanwhile",
    "few lines, which add up to 5,000; each read has its own",
)
def a01(w):
    w.stranger.add(generic(), secret())
    hostile = w.puppet("nobody")
    try:
        with written(w) as found:
            hostile.start("name_groups", "org.flood.", 5000)
            for _ in range(20):
                same_secret(w.stranger.read(generic()).secret, secret())
            equal(hostile.finish(), 5000, "the number of refusals")
    finally:
        hostile.close()
    theirs = [entry for entry in found if entry.decision == "deny"]
    equal(total(theirs), 5000, "the sum of the counts")
    holds(len(theirs) <= 2 * (PROCESS_LINES + 1) + 8, f"{len(theirs)} lines are few")
    folded = [entry for entry in theirs if entry.is_folded]
    holds(folded and all(entry.what.endswith(" groups") for entry in folded), "the groups are counted")
    reads = [entry for entry in found if entry.who == "org.test.Stranger"]
    equal([(entry.decision, entry.what, entry.is_folded) for entry in reads], [("allow", FOREIGN, False)] * 20)


@row("U02", "a program that reads a secret 3,000 times", "look at the audit", "few lines that add up to 3,000")
def a02(w):
    w.mail.add(generic(), secret())
    with written(w) as found:
        w.mail.watch_values(generic(), 3000)
    reads = [entry for entry in found if (entry.decision, entry.operation) == ("allow", "read")]
    equal(total(reads), 3000)
    equal({entry.what for entry in reads}, {ONE}, "the group, which is one and so is named")
    equal({entry.who for entry in reads}, {"org.test.Mail"})
    holds(len(reads) < 1000, f"{len(reads)} lines are few")


@row(
    "U03",
    "a process with 24 connections, and 24 processes of one program",
    "each is denied 60 times",
    "they are one caller each; the counts add up",
)
def a03(w):
    puppets = []
    try:
        with written(w) as found:
            first = w.puppet("nobody")
            puppets.append(first)
            denied = first.name_groups_over(w.client_address, "org.flood.", 24, 60)
        by_one = [entry for entry in found if entry.decision == "deny"]
        equal(total(by_one), denied)
        holds(denied > 20 * PROCESS_LINES, f"{denied} were denied")
        holds(len(by_one) <= 2 * (PROCESS_LINES + 1), f"{len(by_one)} lines are few")
        with written(w) as found:
            puppets += [w.puppet("nobody") for _ in range(24)]
            for puppet in puppets[1:]:
                puppet.start("name_groups", "org.flood.", 60)
            denied = sum(puppet.finish() for puppet in puppets[1:])
        by_many = [entry for entry in found if entry.decision == "deny"]
        equal(total(by_many), denied)
        holds(denied > 5 * PROGRAM_LINES, f"{denied} were denied")
        holds(len(by_many) <= 2 * (PROGRAM_LINES + 1), f"{len(by_many)} lines are few")
    finally:
        for puppet in puppets:
            puppet.close()


@row("U04", "group names that no group can have", "name them", "refused, and in no line of the log")
def a04(w):
    names = ("org.test\nchatelained: allow read on x to y (:1.1)", "a\x1b[2J", "x" * 256, "\u202e", "a b")
    with written(w) as found:
        for name in names:
            refused("MissingEntitlement", w.mail.read, generic(AccessGroup=name))
        refused("MissingEntitlement", w.mail.read, generic(AccessGroup="x" * 255))
    equal([(entry.decision, entry.what) for entry in found], [("deny", "x" * 255)])
    holds("\x1b" not in w.log() and "\u202e" not in w.log(), "nothing in the log steers a terminal")


@row("U05", "a program that is refused", "each way to be", "the line says who, what and why")
def a05(w):
    with written(w) as found:
        refused("MissingEntitlement", w.mail.read, generic(AccessGroup=FOREIGN))
        refused("MissingEntitlement", w.weak.read, generic(AccessGroup="org.test.strict"))
        refused("MissingEntitlement", w.helper.add, generic(), secret())
        w.helper.add(generic(Accessible="after-first-unlock"), secret())
        change = {"Accessible": "when-unlocked"}
        refused("MissingEntitlement", w.helper.update, generic(), change)
        refused("AccessDenied", w.mail.list_clients)
    lines = [(entry.operation, entry.what, entry.who, entry.why) for entry in found if entry.decision == "deny"]
    equal(
        lines,
        [
            ("read", FOREIGN, "org.test.Mail", "the policy does not give it the group"),
            (
                "read",
                "org.test.strict",
                "org.test.Weak",
                "the group requires more trust than its evidence is worth",
            ),
            ("add", ONE, "org.test.Helper", BACKGROUND),
            ("update", ONE, "org.test.Helper", BACKGROUND),
            (
                "list-clients",
                "the manager",
                "org.test.Mail",
                "the call is for the user's own programs, or an administrator's",
            ),
        ],
    )


@row("U08", "a connection whose process has ended", "a call on it", "refused, and a line about it")
def u08(w):
    with written(w) as found:
        keeper = subprocess.Popen(
            [w.executable("mail"), os.path.join(HERE, "keep_connection.py")],
            env=w.environment | {"PYTHONHOME": sys.base_prefix, "PYTHONPATH": HERE},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        keeper.wait(60)
        answer, _ = keeper.communicate("call\n", timeout=60)
        equal(answer.strip(), "IdentityUnavailable")
    lines = [entry for entry in found if entry.operation == "identify"]
    equal([(entry.decision, entry.what, entry.who) for entry in lines], [("deny", "everything", "unnamed program")])
    equal(lines[0].why, "it could not be identified, and so is nobody")


@row("U07", "a program that is denied 100 times, and then silent", "wait", "its number is written in the end")
def u07(w):
    hostile = w.puppet("nobody")
    try:
        hostile.disconnect()
        name = hostile.connect(w.client_address).replace(":direct.", "direct:")
        hostile.name_groups("org.flood.", 100)
        # Nobody ends the broker here: its own clock does it.
        w.await_log(f"({name}), {100 - PROCESS_LINES} times more", 1)
    finally:
        hostile.close()


class JournalWorld(World):
    """A broker that finds a journal, which is the test's, and one more group, which is observed."""

    def _prepare(self):
        super()._prepare()
        folder = self._inside("journal")
        os.mkdir(folder)
        self.journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.journal.bind(os.path.join(folder, "socket"))
        self.journal.settimeout(30)
        with open(os.path.join(self._inside("policy"), "60-observed.conf"), "w") as file:
            file.write(f"[AccessGroup {OBSERVED}]\nMode=observe\n")
        self.wrap = [sys.executable, os.path.join(HERE, "in_journal.py"), folder]

    def entry(self, **fields):
        """The next entry with these fields."""
        while True:
            datagram = self.journal.recv(1 << 18).decode()
            found = dict(line.split("=", 1) for line in datagram.splitlines())
            if all(found.get(key) == value for key, value in fields.items()):
                return found


@row("U06", "a journal", "read, be denied, be observed", "entries with the documented fields, and no value")
def a06(_):
    if os.geteuid() != 0:
        raise NotHere("a journal of one's own needs root")
    with JournalWorld(passcode=False) as world:
        # Whoever is in another mount namespace than the broker has no evidence.
        beside = ["nsenter", f"--mount=/proc/{world.process.pid}/ns/mnt"]
        mail = world.program(world.executable("mail"), beside)
        try:
            mail.add(generic(Account="alice"), secret())
            same_secret(mail.read(generic(Account="alice")).secret, secret())
            refused("MissingEntitlement", mail.read, generic(AccessGroup=FOREIGN))
            mail.search(generic(AccessGroup=OBSERVED))
            common = {
                "SYSLOG_IDENTIFIER": "chatelained",
                "CHATELAINE_APPLICATION": "org.test.Mail",
                "CHATELAINE_PROGRAM": world.executable("mail"),
                "CHATELAINE_TRUST": "user",
                "CHATELAINE_UID": "0",
                "CHATELAINE_PID": str(mail.process.pid),
                "CHATELAINE_COUNT": "1",
                "CHATELAINE_GROUPS": "1",
            }
            for decision, operation, group, reason, priority in (
                ("allow", "read", ONE, "", "6"),
                ("deny", "read", FOREIGN, "group", "5"),
                ("observe", "search", OBSERVED, "group", "4"),
            ):
                entry = world.entry(CHATELAINE_DECISION=decision)
                wanted = common | {
                    "CHATELAINE_OPERATION": operation,
                    "CHATELAINE_GROUP": group,
                    "CHATELAINE_REASON": reason,
                    "PRIORITY": priority,
                }
                equal({key: entry.get(key) for key in wanted}, wanted, f"the entry that says {decision}")
                holds(":" in entry["CHATELAINE_CONNECTION"], "the connection is named")
                holds("alice" not in str(entry), "the account is not in it")
        finally:
            mail.close()


def run(report):
    with contextlib.closing(Stage()) as stage:
        for row in TABLE.rows:
            report.play(row, lambda row=row: row.play(stage.emptied()))
