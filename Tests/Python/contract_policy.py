"""The policy's reload, on a broker that runs: whole or not at all, and in force from the next call on."""

import contextlib
import os
import signal

from expect import Table, equal, generic, holds, refused, same_secret, secret
from policy import ONE, write_policy

TABLE = Table()
row = TABLE.row


@row("C09", "a policy with mistakes", "ReloadPolicy", "PolicyInvalid with file:line; the old one stays whole")
def c09(w):
    w.mail.add(generic(), secret())
    path = os.path.join(w.folder, "policy", "70-mistakes.conf")
    good = f"[Application org.test.New]\nExecutable={w.executable('nobody')}\nAccessGroups={ONE}\n"
    mistakes = {
        "Nonsense": ("[Nonsense]\n", 1),
        "unknown key": (good + "Colour=red\n", 4),
        "unknown operation": (good + "Operations=read guess\n", 4),
        "reserved prefix": (good.replace(ONE, "exe./usr/bin/x"), 3),
        "no section": ("AccessGroups=x\n", 1),
        "a section twice": (good + good, 4),
        "a section of another file": ("\n\n[Application org.test.Mail]\nExecutable=/bin/x\n", 3),
        "not text": (good + "\0\0\n", 4),
    }
    try:
        for name, (text, line) in mistakes.items():
            with open(path, "w") as file:
                file.write(text)
            error = refused("PolicyInvalid", w.admin.reload_policy)
            holds(
                f"70-mistakes.conf:{line}:" in error.text,
                f"{name}: the text names line {line} ({error.text})",
            )
            equal("policy-refused" in w.user.property("Conditions"), True, "that Conditions says so")
            refused("MissingEntitlement", w.nobody.read, generic())
            same_secret(w.mail.read(generic()).secret, secret(), name)
            same_secret(w.calendar.read(generic()).secret, secret(), name)
        os.unlink(path)
        os.mkfifo(path)
        refused("PolicyInvalid", w.admin.reload_policy)
    finally:
        os.unlink(path)
        equal(w.admin.reload_policy(), [])
    equal("policy-refused" in w.user.property("Conditions"), False, "that Conditions still says so")


@contextlib.contextmanager
def policy_without(w, *identities):
    """The policy from which the programs of these names are gone."""
    folder = os.path.join(w.folder, "policy")
    path = os.path.join(folder, "50-test.conf")
    with open(path) as file:
        sections = file.read().split("\n\n")
    gone = tuple(f"/bin/{identity}" for identity in identities)
    with open(path, "w") as file:
        file.write("\n\n".join(section for section in sections if not any(mark in section for mark in gone)))
    w.admin.reload_policy()
    try:
        yield
    finally:
        write_policy(folder, os.path.join(w.folder, "bin"))
        w.admin.reload_policy()


@row(
    "C10",
    "a program that is connected",
    "take its section out, put it back",
    "nothing from the next call on; again",
)
def c10(w):
    w.mail.add(generic(), secret())
    same_secret(w.calendar.read(generic()).secret, secret())
    with policy_without(w, "calendar"):
        for call in (w.calendar.read, w.calendar.search, w.calendar.delete):
            refused("MissingEntitlement", call, generic())
        refused("MissingEntitlement", w.calendar.subscribe)
        same_secret(w.mail.read(generic()).secret, secret())
        refused("MissingEntitlement", w.nobody.read, generic())
    same_secret(w.calendar.read(generic()).secret, secret(), "to the old connection, when the grant is back")


@row(
    "C11",
    "a subscriber",
    "take its grant away, give it back",
    "its subscription has ended; the others' go on",
)
def c11(w):
    w.calendar.subscribe()
    w.mail.subscribe()
    with policy_without(w, "calendar"):
        w.mail.add(generic(), secret())
        equal(w.mail.next_signal().name, "ItemChanged")
        equal(w.calendar.pending_signals(), [], "what it hears without the grant")
        w.lock()
        equal(w.calendar.pending_signals(), [], "what it hears of the lock state")
        w.unlock()
    w.mail.add(generic(Account="b"), secret())
    equal(w.calendar.pending_signals(), [], "what it hears with the grant back, not having subscribed again")
    w.calendar.subscribe()
    w.mail.add(generic(Account="c"), secret())
    equal(w.calendar.next_signal().name, "ItemChanged")


@row("C12", "SIGHUP", "with a good policy and with a bad one", "taken; refused, and the log says where")
def c12(w):
    path = os.path.join(w.folder, "policy", "70-more.conf")
    good = f"[Application org.test.New]\nExecutable={w.executable('nobody')}\nAccessGroups={ONE}\n"
    w.mail.add(generic(), secret())
    try:
        for text, is_good in ((good, True), ("[Nonsense]\n", False)):
            with open(path, "w") as file:
                file.write(text)
            line = "the policy was read anew" if is_good else "70-more.conf:1:"
            count = w.log().count(line)
            w.process.send_signal(signal.SIGHUP)
            w.await_log(line, count + 1)
            same_secret(w.nobody.read(generic()).secret, secret(), "to the program that the policy brought")
    finally:
        os.unlink(path)
        w.admin.reload_policy()
