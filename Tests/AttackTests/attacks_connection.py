"""Connections that are not the program's that they look like, and look-ups that cannot succeed."""

import subprocess

from expect import NotHere, Table, equal, holds, refused
from harness import START_SECONDS
from scene import GROUP, PROGRAM, item, ran, shut_out
from stalling_files import stalling_files

TABLE = Table()
row = TABLE.row
MANY = 1000
PRELOAD = "/opt/attack/preload.so"
PID_MAX, RESERVED_NUMBERS = 40_000, 300


@row(
    "A10",
    "a group at the trust `file`",
    "a stranger connects, execs the entitled program, and a child of it calls over the socket",
    "WINS, by design: what the connection's process runs when it is looked at is the entitled program",
)
def a10(w):
    with w.honest():
        words = w.outcome(w.own("evil"), "borrow_program.py", "after", PROGRAM, GROUP)
        equal(words, ["ok"], "what the child is answered")


@row(
    "A10-asked",
    "a stranger's connection that has called already",
    "it execs the entitled program, and a child of it calls over the socket",
    "denied as before: who it is was settled at the first call",
)
def a10_asked(w):
    with w.honest():
        words = w.outcome(w.own("evil"), "borrow_program.py", "before", PROGRAM, GROUP)
        equal(words, ["MissingEntitlement", "MissingEntitlement"], "the answers before and after")


@row(
    "A11",
    "a group at the trust `file`",
    "the user starts the entitled program with a library of the user's own in it",
    "WINS, by design: it is the entitled program that calls",
)
def a11(w):
    with w.honest():
        equal(preloaded(w, PROGRAM), "preloaded:ok")
        equal(preloaded(w, w.own("evil")), "org.chatelaine.Error.MissingEntitlement")


def preloaded(w, program, group=GROUP):
    """What is said when the program is started with the library: by the library, or by the program whole."""
    environment = w.environment | {"LD_PRELOAD": PRELOAD, "ATTACK_GROUP": group}
    done = subprocess.run(
        # Its own wrapper is not to be attacked.
        [
            *w.user.wrap,
            "env",
            *(f"{key}={value}" for key, value in environment.items()),
            program,
            "-c",
            "print('whole')",
        ],
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )
    return done.stdout.strip()


@row(
    "A12",
    "a connection whose process has ended",
    "its number is used again, by the entitled program, and a child calls over the socket",
    "denied: that program started after the connection came, and a pidfd is of the one that ended",
)
def a12(w):
    with w.honest():
        equal(reused(w, "named"), "IdentityUnavailable" if w.pins else "MissingEntitlement")


@row(
    "A13",
    "a connection without a name whose process has ended",
    "its number is used again, by the entitled program; then it says hello, and calls",
    "denied where the bus gives a pidfd. Where it gives none it WINS: nothing tells it from the program",
)
def a13(w):
    with w.honest():
        equal(reused(w, "nameless"), "IdentityUnavailable" if w.pins else "ok")


def number_of_next_process():
    with subprocess.Popen(["true"]) as process:
        return process.pid


def reused(w, connection, program=PROGRAM, group=GROUP):
    """How a call ends over a connection whose process's number is the program's by then."""
    with open("/proc/sys/kernel/pid_max") as file:
        if int(file.read()) > PID_MAX:
            raise NotHere("this kernel has no pid_max for each process namespace, and counts far")
    # The kernel gives the first numbers once.
    while number_of_next_process() <= RESERVED_NUMBERS:
        pass
    with w.script(w.own("evil"), "reuse_number.py", connection, program, group) as keeper:
        # A number is free when its process has been reaped.
        keeper.wait(START_SECONDS)
        answer, _ = keeper.communicate("go\n", timeout=START_SECONDS * 2)
    return answer.strip()


@row("A14", "an item and a logout's epoch", f"{MANY} processes ask for harm and are gone", "none is obeyed")
def a14(w):
    with w.honest() as mail:
        epoch = mail.subscribe(GROUP)[1][GROUP]
        before = len(w.decisions())
        equal(w.outcome(w.own("evil"), "vanish.py", str(MANY), GROUP), ["ok"])
        equal(mail.subscribe(GROUP)[1][GROUP], epoch, "the epoch of the group")
        mail.search(item())
        allowed = [entry for entry in w.decisions()[before:] if entry["CHATELAINE_DECISION"] == "allow"]
        others = [entry for entry in allowed if entry["CHATELAINE_APPLICATION"] != "org.test.Mail"]
        equal(others, [], "what was allowed to others")


@row(
    "A15",
    "/proc mounted so that users see no others' processes",
    "strangers call",
    "denied; the honest gets in",
)
def a15(w):
    ran("mount", "-o", "remount,hidepid=invisible", "/proc")
    try:
        with w.honest(), w.running(w.own("evil")) as evil:
            hidden = w.user.run("ls", "/proc/1")
            holds(hidden.returncode != 0, "the user does not see the first process")
            shut_out(evil)
    finally:
        ran("mount", "-o", "remount,hidepid=off", "/proc")


@row(
    "A16",
    "a program on a file system of the user's own",
    "that stalls every look at it",
    "nobody, in a second",
)
def a16(w):
    with w.honest() as mail, stalling_files(w) as (program, stall):
        with w.running(program) as slow, w.running(program) as later:
            stall(True)
            slow.start("search", item(AccessGroup=GROUP))
            # Meanwhile others are served.
            for _ in range(20):
                mail.read(item())
            refused("IdentityUnavailable", slow.finish)
            refused("IdentityUnavailable", later.read, item())
            stall(False)
            # It is looked at anew.
            shut_out(slow)
            shut_out(later)
