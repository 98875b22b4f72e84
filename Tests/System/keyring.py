"""`org.freedesktop.secrets` on whole machines: started by the user's service manager, and beside gnome-keyring's units."""

import json

from expect import NotHere, Table, equal, holds
from machine import UNIT, in_session

TABLE = Table()
row = TABLE.row
NAME, KEYRING = "org.freedesktop.secrets", "gnome-keyring-daemon.service"
CALL = f"busctl --user call {NAME} /org/freedesktop/secrets org.freedesktop.Secret.Service ReadAlias s default"
LOGIN = 'o "/org/freedesktop/secrets/collection/login"'
OWNED = f"gdbus wait --session --timeout 60 {NAME}"
STATUS = "chatelaine --json secret-service status"
ON, OFF = ("chatelaine --json secret-service " + way for way in ("on", "off"))


def session(box, *commands):
    """What each prints, as one line, in a session of its own."""
    return in_session(box, "\n".join(commands)).splitlines()


def findings(line):
    return {one["Subject"]: (one["Result"], one["Detail"], one["Advice"]) for one in json.loads(line)["Findings"]}


def needs_keyring(box):
    if box.run("test", "-e", "/usr/lib/systemd/user/" + KEYRING, check=False).returncode:
        raise NotHere("gnome-keyring is not on this machine")


@row("G01", "the name taken over, no broker", "a program calls", "the bus has the broker's unit started")
def g01(box):
    taken, answer, state, status = session(
        box, ON, f"systemctl --user stop {UNIT}", CALL, f"systemctl --user is-active {UNIT}", STATUS
    )
    holds(any("dbus-1/services" in change for change in json.loads(taken)["Changes"]), f"the link: {taken}")
    equal((answer, state), (LOGIN, "active"))
    found = findings(status)
    equal((found["secret service"][0], found["activation"][0]), ("ok", "ok"), f"what it says of it ({found})")
    holds(found["activation"][1].split(" starts ")[1].startswith(UNIT), f"whom it starts ({found})")


@row("G02", "the next session", "a program calls before any other", "the broker answers, and lets nobody take the name")
def g02(box):
    bus = "org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus"
    answer, stolen = session(box, CALL, f"busctl --user call {bus} RequestName su {NAME} 7")
    equal((answer, stolen), (LOGIN, "u 3"))


@row("G03", "gnome-keyring's units, the name taken over", "start them; give it back, start them", "not started; started")
def g03(box):
    needs_keyring(box)
    condition = f"systemctl --user show --property=ConditionResult --value {KEYRING}"
    start = f"systemctl --user start {KEYRING}"
    session(box, ON)
    equal(session(box, start, condition), ["no"], "with the name taken over")
    _, met, status = session(box, OFF, start, OWNED, condition, STATUS)
    equal(met, "yes", "when it was given back")
    result, detail, advice = findings(status)["secret service"]
    equal(result, "absent", f"whose it is then ({detail})")
    holds(f", of {KEYRING} has {NAME}" in detail, f"it says of which unit ({detail})")


@row("G04", "gnome-keyring first, the name wanted", "status; what it advises", "the broker has it in the same session")
def g04(box):
    needs_keyring(box)
    begin = f"systemctl --user start {KEYRING}"
    _, before, after = session(box, begin, OWNED, ON, STATUS, f"systemctl --user stop {KEYRING}", STATUS)
    result, _, advice = findings(before)["secret service"]
    equal((result, advice.endswith(f"systemctl --user stop {KEYRING}")), ("weak", True), f"the advice ({advice})")
    equal(findings(after)["secret service"][0], "ok")
    session(box, OFF)


def run(report, box, kind, programs):
    box.install(programs)
    box.boot()
    box.add_user("alice", 1000)
    for one in TABLE.rows:
        report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one: one.play(box))
