"""The audit in a real journal: the examples of chatelained(8) as they are written, and a flood."""

import json
import os
import re

from attacks import BINDS, TESTS
from box_folder import REPOSITORY
from expect import SECRET_MARK, Table, equal, holds

__all__ = ["BINDS", "run"]

TABLE = Table()
row = TABLE.row
MAIL, WATCHED = "org.example.Mail", "org.example.mail"
POLICY = f"""[Application {MAIL}]
Executable=/usr/bin/chatelaine
AccessGroups=org.example.own

[AccessGroup {WATCHED}]
Mode=observe
"""
# Of the connection that has the broker started it cannot be shown that its process is as old.
JOB = f"""chatelaine status >/dev/null
printf %s {SECRET_MARK} | chatelaine set --service web --account alice >/dev/null
chatelaine get --service web >/dev/null
chatelaine get --service web >/dev/null
chatelaine get --service web --group org.example.other 2>/dev/null || echo $?
chatelaine list --group {WATCHED}
"""
FLOOD = f"""import sys
sys.path[:0] = ["{TESTS}/Python"]
from puppet import Puppet, answers
puppet = Puppet()
puppet.connect()
print(puppet.name_groups("org.flood.", 3000), file=answers)
"""


def examples():
    """The commands of the manual's section, as a reader would type them."""
    with open(os.path.join(REPOSITORY, "docs/man/chatelained.8")) as file:
        section = re.search(r"\n\.Sh JOURNAL\n(.*?)\n\.Sh ", file.read(), re.DOTALL).group(1)
    blocks = re.findall(r"\n\.Bd [^\n]*\n(.*?)\n\.Ed", section, re.DOTALL)
    return [block.replace("\\e", "\\") for block in blocks]


def as_alice(box, script):
    return box.login("alice", "sh", "-ec", f"cd; {script}").stdout


@row("D01", "reads, a denial, a call that is observed", "the manual's examples", "each shows what it says")
def d01(box):
    equal(as_alice(box, JOB).split(), ["3"], "what the commands say")
    # What it gathers for a moment is written when it ends.
    box.login("alice", "systemctl", "--user", "stop", "chatelained.service")
    box.run("journalctl", "--sync")
    seen, observed, given = (as_alice(box, example) for example in examples())
    denied = [line for line in seen.splitlines() if "]: deny " in line]
    equal(len(denied), 1, f"the denials in {seen}")
    holds(f"deny read on org.example.other to {MAIL} (direct:" in denied[0], f"who, what: {denied[0]}")
    holds(denied[0].endswith(": the policy does not give it the group"), f"and why: {denied[0]}")
    reads = [line for line in seen.splitlines() if f"]: allow read on org.example.own to {MAIL}" in line]
    equal(len(reads), 2, f"the reads in {seen}")
    equal(observed.split(), ["1", "/usr/bin/chatelaine", "search", "group"])
    equal(given.split(), ["2", "/usr/bin/chatelaine"])


@row("D02", "a broker that starts with an observed group", "its journal", "a warning with file:line")
def d02(box):
    warnings = box.journal("--output=cat", "_SYSTEMD_USER_UNIT=chatelained.service", "PRIORITY=4")
    holds(f"/60-test.conf:6: Mode=observe: {WATCHED} is not guarded." in warnings, f"it is warned: {warnings}")


@row("D03", "a program that is denied 3,000 times at once", "the journal", "few entries that add up, none dropped")
def d03(box):
    equal(as_alice(box, f"/usr/bin/python3 -c '{FLOOD}'").strip(), "3000", "the number of refusals")
    # Whatever is still counted is written when the broker ends.
    box.login("alice", "systemctl", "--user", "stop", "chatelained.service")
    lines = box.journal("--output=json", "CHATELAINE_OPERATION=search", "CHATELAINE_DECISION=deny").splitlines()
    entries = [json.loads(line) for line in lines]
    equal(sum(int(entry["CHATELAINE_COUNT"]) for entry in entries), 3000, "the sum of the counts")
    holds(len(entries) <= 100, f"{len(entries)} entries are few")
    equal({entry["CHATELAINE_UID"] for entry in entries}, {"1000"})
    holds("Suppressed" not in box.journal("--identifier=systemd-journald"), "the journal dropped nothing")


def run(report, box, kind, programs):
    box.install(programs)
    box.write("/etc/chatelaine/policy.d/60-test.conf", POLICY)
    # A file for each user, as on a machine that keeps its journal.
    box.write("/etc/systemd/journald.conf.d/persistent.conf", "[Journal]\nStorage=persistent\n")
    box.boot()
    box.add_user("alice", 1000)
    for one in TABLE.rows:
        report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one: one.play(box))
