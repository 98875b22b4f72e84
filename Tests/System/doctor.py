"""`chatelaine doctor` on whole machines: it tells their differences, and exits by what is wrong."""

import json

from expect import Table, equal, holds
from machine import in_session

TABLE = Table()
row = TABLE.row
POLICY = "/etc/chatelaine/policy.d/60-doctor.conf"


def examined(box, check=0):
    """The findings by subject, in the session of a user whose broker has just been started."""
    script = "chatelaine status >/dev/null\nchatelaine --json doctor 2>/dev/null || echo $?"
    lines = in_session(box, script).splitlines()
    equal([int(line) for line in lines[1:]], [check] if check else [], "the exit status")
    return {finding["Subject"]: finding for finding in json.loads(lines[0])}


@row("E01", "a machine where all is well", "doctor", "exit 0; it knows the bus, and finds what is there")
def e01(box, kind):
    found = examined(box)
    results = {subject: finding["Result"] for subject, finding in found.items()}
    wanted = "weak" if kind == "own" else "ok"
    equal(results["process descriptors"], wanted, "what it says of the bus's pidfds")
    for subject in ("bus", "broker", "policy", "policy files", "journal", "logind", "/proc", "old connections"):
        equal(results[subject], "ok", f"what it says of {subject} ({found[subject]['Detail']})")
    holds("wrong" not in results.values(), f"nothing is wrong: {results}")
    for finding in found.values():
        holds(finding["Result"] != "weak" or finding["Advice"], f"advice for what is weak: {finding}")


@row("E02", "a policy with an observed group and one that nobody reaches", "doctor", "exit 5, loud, with the line")
def e02(box, _):
    box.write(POLICY, "[AccessGroup org.test.watched]\nMode=observe\n\n[AccessGroup org.test.lonely]\n")
    try:
        script = "chatelaine status >/dev/null\nchatelaine doctor 2>&1 || echo $?"
        text = in_session(box, script)
        holds(f"{POLICY}:2: org.test.watched is in observe mode: nothing guards it" in text, f"loud: {text}")
        holds("Mode=enforce" in text, f"what to do: {text}")
        holds(f"{POLICY}:4: Nobody can reach org.test.lonely" in text, f"who is not reached: {text}")
        equal(text.splitlines()[-2:], ["chatelaine: one thing is wrong", "5"])
    finally:
        box.remove(POLICY)


@row("E03", "/proc mounted with hidepid", "doctor", "weak, and what to do about it")
def e03(box, _):
    box.run("mount", "-o", "remount,hidepid=2", "/proc")
    try:
        finding = examined(box)["/proc"]
        equal(finding["Result"], "weak")
        holds("hidepid" in finding["Detail"] and finding["Advice"], f"it says so: {finding}")
    finally:
        box.run("mount", "-o", "remount,hidepid=0", "/proc")


@row("E04", "a file in the place of the direct endpoint's socket", "doctor", "wrong: it is not the broker's")
def e04(box, _):
    script = """chatelaine status >/dev/null
rm -f "$XDG_RUNTIME_DIR/chatelaine/bus"
touch "$XDG_RUNTIME_DIR/chatelaine/bus"
chatelaine --json doctor 2>/dev/null || true
rm "$XDG_RUNTIME_DIR/chatelaine/bus"
"""
    found = in_session(box, script)
    (finding,) = [one for one in json.loads(found) if one["Subject"] == "direct endpoint"]
    equal(finding["Result"], "wrong", f"what it says ({finding})")


def run(report, box, kind, programs):
    box.install(programs)
    box.boot()
    box.add_user("alice", 1000)
    for one in TABLE.rows:
        report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one: one.play(box, kind))
