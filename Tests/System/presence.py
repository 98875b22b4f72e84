"""Items that ask for their user's presence, before the broker of the system: polkit, the real one, with its agent."""

import os

from callers import AGENT, Agent, Caller, monitoring
from expect import Table, equal, holds
from served import NAME, SECRET, serve

TABLE = Table()
row = TABLE.row
PASSWORD = "white rabbit 2"
GROUP = "org.test.gated"
ITEMS = (NAME, "/org/chatelaine/Broker1", NAME + ".Items")
POLICY = f"""[Application org.test.Busctl]
Executable=/usr/bin/busctl
AccessGroups={GROUP}
"""
NAMES = ("Class", "s", "generic-password", "Service", "s", "gated", "Account", "s", "carol")
READ = (*ITEMS, "Read", "a{sv}o", "3", *NAMES, "/")
ANY = ("AccessControl", "(sas)", "when-unlocked-this-device-only", "1")


@row("PB01", "a presence item", "Read, the user's password is typed", "the secret")
def right(box):
    with reading(box) as caller, Agent(box, "carol", caller.process, PASSWORD) as agent:
        caller.go()
        agent.wait_for("asked")
        holds(is_secret(caller.finish()), "it is the secret")


@row("PB02", "a presence item", "Read, another password is typed", "-25293")
def wrong(box):
    with reading(box) as caller, Agent(box, "carol", caller.process, "wrong") as agent:
        caller.go()
        agent.wait_for("asked")
        refused(caller.finish(), -25293)


@row("PB03", "a presence item", "Read without an agent", "-25308")
def nobody(box):
    refused(box.login("carol", "busctl", "call", *READ, check=False), -25308)


@row("PB04", "a presence item", "Read that does not allow interaction", "-25308, and nobody is asked")
def quiet(box):
    call = ("--allow-interactive-authorization=no", "call", *READ)
    with Caller(box, "carol", *call) as caller, Agent(box, "carol", caller.process, PASSWORD) as agent:
        caller.go()
        refused(caller.finish(), -25308)
        equal(agent.end(), [], "what the agent was asked")


@row("PB05", "a presence item", "Read", "the person is told program, group, and what the name is worth")
def told(box):
    with reading(box) as caller, Agent(box, "carol", caller.process, PASSWORD) as agent:
        with monitoring(box, "BeginAuthentication") as monitor:
            caller.go()
            monitor.until(
                f"let org.test.Busctl read what you protect in {GROUP}. The program was recognized by its file."
            )
        agent.wait_for("asked")
        holds(is_secret(caller.finish()), "it is the secret")


@row("PB06", "a question that is open", "its program goes", "the question is taken back")
def gone(box):
    with reading(box) as caller, Agent(box, "carol", caller.process, "") as agent:
        caller.go()
        agent.wait_for("asked")
        with monitoring(box, "CancelAuthentication") as monitor:
            box.run("kill", "-KILL", caller.process)
            monitor.until("Member=CancelAuthentication")


@row("PB07", "a question that is open", "the user's other program reads a plain item", "answered meanwhile")
def meanwhile(box):
    with reading(box) as caller, Agent(box, "carol", caller.process, "") as agent:
        caller.go()
        agent.wait_for("asked")
        plain = [word.replace("gated", "plain") for word in READ[3:]]
        holds(is_secret(box.login("carol", "busctl", "call", *READ[:3], *plain)), "it is the secret")
        holds(caller.is_waiting(), "the first call still waits")


@row("PB08", "an item for the passcode, none set", "Read, Delete", "-25293; deleted, and nobody is asked")
def passcode(box):
    add(box, "gated-by-passcode", *ANY, "device-passcode")
    words = [word.replace("gated", "gated-by-passcode") for word in READ[3:]]
    refused(box.login("carol", "busctl", "call", *ITEMS, *words, check=False), -25293)
    box.login("carol", "busctl", "call", *ITEMS, "Delete", "a{sv}", *words[2:-1])


@row("PB09", "finger items", "Add, Read", "-25308, and nobody is asked: no reader is asked for another user's finger")
def finger(box):
    names = [word.replace("gated", "gated-by-finger") for word in NAMES]
    refused(add(box, "gated-by-finger", *ANY, "biometry-current-set", check=False), -25308)
    refused(box.login("carol", "busctl", "call", *ITEMS, "Read", "a{sv}o", "3", *names, "/", check=False), -25300)
    add(box, "gated-by-finger", *ANY, "biometry-any")
    refused(box.login("carol", "busctl", "call", *ITEMS, "Read", "a{sv}o", "3", *names, "/", check=False), -25308)


def reading(box):
    return Caller(box, "carol", *READ)


def add(box, service, *protection, check=True):
    names = [word.replace("gated", service) for word in NAMES]
    count = str(3 + bool(protection))
    secret = ("/", "0", str(len(SECRET)), *(str(byte) for byte in SECRET.encode()))
    call = (*ITEMS, "Add", "a{sv}(oayay)", count, *names, *protection, *secret)
    return box.login("carol", "busctl", "call", *call, check=check)


def is_secret(done):
    return done.returncode == 0 and " ".join(str(byte) for byte in SECRET.encode()) in done.stdout


def refused(done, code):
    holds(done.returncode != 0, "the call is refused")
    # busctl shows the text of an error alone.
    holds(f", {code})" in done.stderr, f"it is refused with {code}: {done.stderr}")


def run(report, box, kind, programs):
    serve(box, programs, POLICY)
    box.copy(os.path.join(os.path.dirname(__file__), "agent.py"), AGENT, 0o644)
    box.add_user("carol", 1001, PASSWORD)
    add(box, "gated", *ANY, "user-presence")
    add(box, "plain")
    for one in TABLE.rows:
        report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one: one.play(box))
