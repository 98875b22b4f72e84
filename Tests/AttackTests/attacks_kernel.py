"""What the kernel fixes when a connection is made: the group of a set-group-id program, with no members."""

import contextlib
import subprocess

from attacks_connection import preloaded, reused
from expect import Table, equal, holds, refused, same_secret, secret
from scene import FOLDER, item, ran

TABLE = Table()
row = TABLE.row
HELPER, MEMBERS, GROUP = FOLDER + "/bin/helper", "attack-helper", "org.test.kernel"
POLICY = f"""[Application org.test.KernelHelper]
Group={MEMBERS}
AccessGroups={GROUP}

[AccessGroup {GROUP}]
RequireTrust=kernel
"""


@contextlib.contextmanager
def helper(w):
    """The helper gets in before and after, and nobody else does."""
    subprocess.run(["groupadd", "--force", "--system", MEMBERS], check=True)
    with open("/etc/group") as file:
        (number,) = [int(line.split(":")[2]) for line in file if line.startswith(MEMBERS + ":")]
    w.install(HELPER, group=number, mode=0o2755)
    with w.honest(), w.policy(POLICY):
        if w.mode == "user":
            # Nothing is a wall where the same user owns the broker.
            yield
            return
        with w.running(HELPER) as honest:
            honest.store(item(AccessGroup=GROUP), secret("kernel"))
        yield
        with w.running(HELPER) as honest:
            same_secret(honest.read(item(AccessGroup=GROUP)).secret, secret("kernel"))
            honest.delete(item(AccessGroup=GROUP))


@row(
    "A70",
    "a group that asks for the trust `kernel`",
    "its set-group-id helper calls; a copy of it, another program, a program of that user id call",
    "system: the helper gets in, nobody else. user: nobody, and a warning says so",
)
def a50(w):
    with helper(w):
        programs = [
            w.own("helper"),
            w.install(FOLDER + "/bin/another"),
            *([HELPER] if w.mode == "user" else []),
        ]
        for program in programs:
            with w.running(program) as impostor:
                refused("MissingEntitlement", impostor.search, item(AccessGroup=GROUP))
        if w.mode == "user":
            holds(GROUP in w.reload()[1], "a reload warns of the group that nobody can reach")


@row(
    "A71",
    "a group at the trust `kernel`",
    "a stranger connects, execs the helper, and a child of it calls over the socket (as A10)",
    "denied: the groups are those that it connected with",
)
def a51(w):
    with helper(w):
        words = w.outcome(w.own("evil"), "borrow_program.py", "after", HELPER, GROUP)
        equal(words, ["MissingEntitlement"], "what the child is answered")


@row(
    "A72",
    "a group at the trust `kernel`",
    "the user starts the helper with a library of the user's own (as A11), traces it, reads its memory",
    "the library is not loaded; the kernel refuses the rest",
)
def a52(w):
    with helper(w):
        equal(preloaded(w, HELPER, GROUP), "whole", "what is printed by the helper, and by no library")
        with w.running(HELPER) as honest, w.running(w.own("evil")) as evil:
            holds(not evil.can_trace(honest.process.pid), "the helper cannot be traced")
            holds(not evil.can_read(f"/proc/{honest.process.pid}/mem"), "its memory cannot be read")


@row(
    "A73",
    "a group at the trust `kernel`",
    "a number of a process is used again, by the helper (as A12 and A13)",
    "denied, with a pidfd from the bus and without",
)
def a53(w):
    with helper(w):
        for connection in ("named", "nameless"):
            answer = reused(w, connection, HELPER, GROUP)
            equal(answer, "IdentityUnavailable" if w.pins else "MissingEntitlement", connection)


@row(
    "A74",
    "a group at the trust `kernel`",
    "the user is a member of the helper's group, and any program may take it on (sg)",
    "denied, to the helper too: it proves nothing any more",
)
def a54(w):
    with helper(w):
        evil = w.own("evil")
        name = w.user.entry.pw_name
        ran("gpasswd", "--add", name, MEMBERS)
        try:
            w.reload()
            for program, wrap in (
                (HELPER, ()),
                (evil, ()),
                (evil, ["setpriv", f"--regid={MEMBERS}", "--keep-groups"]),
            ):
                with w.running(program, before=wrap) as suspect:
                    refused("MissingEntitlement", suspect.search, item(AccessGroup=GROUP))
        finally:
            ran("gpasswd", "--delete", name, MEMBERS)
            w.reload()
