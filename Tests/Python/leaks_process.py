"""What the broker's process shows: arguments, environment, core files, and its memory as root reads it."""

import os
import re
import shutil
import signal
import subprocess

from expect import NotHere, Table, equal, generic, holds, same_secret
from harness import World
from leaks_job import Marks, job
from puppets import NOBODY
from traces import found_in

TABLE = Table()
row = TABLE.row
PLAIN_ALLOWED = "[Broker]\nAllowPlain=yes\n"


@row(
    "X09",
    "the broker's process",
    "look at its arguments and its environment",
    "no secret, no passcode, no device key",
)
def x09():
    marks = Marks()
    with World(passcode=False) as world:
        job(world, marks)
        with open(os.path.join(world.folder, "device.key"), "rb") as file:
            key = file.read()
        for name in ("cmdline", "environ"):
            try:
                with open(f"/proc/{world.process.pid}/{name}", "rb") as file:
                    data = file.read()
            except PermissionError:
                holds(name == "environ", "the arguments are readable")
                continue
            holds(data, f"{name} has something to look at")
            values = marks.secrets | marks.attributes | {"device key": key}
            equal(found_in(data, values), {}, f"what {name} has")


@row(
    "X10",
    "the broker as an ordinary user's",
    "look at its limits and its /proc",
    "no core file, not dumpable",
)
def x10():
    with World(passcode=False, user=NOBODY) as world:
        with open(f"/proc/{world.process.pid}/limits") as limits:
            (line,) = [line for line in limits if line.startswith("Max core file size")]
        equal(line.split()[4:6], ["0", "0"], "the limits of a core file")
        for name in ("mem", "environ", "fd"):
            status = os.stat(f"/proc/{world.process.pid}/{name}")
            equal(status.st_uid, 0, f"the owner of {name}: root's, since the process is not dumpable")
        puppet = world.mail
        equal(
            os.stat(f"/proc/{puppet.process.pid}/mem").st_uid, world.owner or os.geteuid(), "another's owner"
        )
        equal(puppet.can_read(f"/proc/{world.process.pid}/mem"), False, "that its user can read its memory")
        equal(puppet.can_trace(world.process.pid), False, "that its user can trace it")


@row("X11", "a broker that may leave core files", "crash it", "none, no report; another program leaves one")
def x11():
    with open("/proc/sys/kernel/core_pattern") as file:
        pattern = file.read().strip()
    if pattern.startswith("|") or "/" in pattern:
        raise NotHere(
            "this machine hands core files to a program or a folder of its own; X10 looks at the limits"
        )
    if shutil.which("prlimit") is None or os.geteuid() != 0:
        raise NotHere("raising the limit of core files needs root and prlimit")
    marks = Marks()
    with World(wrap=["prlimit", "--core=unlimited:unlimited"]) as world:
        victim = subprocess.Popen([*world.wrap, "sleep", "1000"], cwd=world.folder)
        while b"sleep" not in open(f"/proc/{victim.pid}/comm", "rb").read():
            pass
        victim.send_signal(signal.SIGSEGV)
        victim.wait()
        cores = [name for name in os.listdir(world.folder) if name.startswith("core")]
        if not cores:
            raise NotHere("no program leaves a core file here")
        for name in cores:
            os.unlink(os.path.join(world.folder, name))
        before = world.log()
        for number in (
            signal.SIGSEGV,
            signal.SIGABRT,
            signal.SIGQUIT,
            signal.SIGILL,
            signal.SIGBUS,
            signal.SIGTRAP,
        ):
            world.mail.store(generic(), marks.secret("secret"))
            world.process.send_signal(number)
            equal(world.process.wait(30), -number, "how the broker ended")
            world.revive()
            world.unlock()
        log = world.log().removeprefix(before)
        equal(
            re.findall(r"0x[0-9a-f]{8,}|[Rr]egisters|crashed", log), [], "what the log has of a crash report"
        )
        equal([name for name in os.listdir(world.folder) if name.startswith("core")], [], "the core files")


@row(
    "X12",
    "the work done, locked",
    "read the broker's whole memory as root",
    "no secret that it was given or gave",
)
def x12():
    look_at_memory("")


@row(
    "X13",
    "plain sessions, the work done, locked",
    "read the broker's whole memory as root",
    "no secret at all",
)
def x13():
    look_at_memory(PLAIN_ALLOWED)


def look_at_memory(configuration):
    if os.geteuid() != 0:
        raise NotHere("reading another process's memory needs root")
    marks = Marks()
    with World(passcode=False, configuration=configuration) as world:
        if configuration:
            for puppet in (world.mail, world.calendar, world.helper):
                puppet.use_plain_session()
        job(world, marks)
        for number in range(20):
            name = f"many{number}"
            world.mail.store(generic(Account=name), marks.secret(name) * 40)
            same_secret(world.calendar.read(generic(Account=name)).secret, marks.secret(name) * 40)
        world.lock()
        world.mail.search({"Class": "internet-password"})
        memory = regions(world.process.pid)
        marker = world.state.encode()
        holds(any(marker in data for data in memory.values()), "the state folder's path is found in memory")
        needles = Marks.inner(marks.secrets)
        left = {
            f"{name} in {region} at {data.find(needle)}"
            for region, data in memory.items()
            for name, needle in needles.items()
            if needle in data
        }
        equal(sorted(left), [], "the secrets that are left in memory")


def regions(pid):
    """`{mapping: its bytes}` of all that can be read."""
    found = {}
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            start, end, mode, name = re.match(r"(\w+)-(\w+) (\S+) \S+ \S+ \S+\s*(.*)", line).groups()
            if not mode.startswith("r") or name in ("[vvar]", "[vsyscall]"):
                continue
            start, end = int(start, 16), int(end, 16)
            try:
                memory.seek(start)
                found[f"{name or 'anonymous'} {start:x}"] = read_whole(memory, end - start)
            except OSError:
                continue
    return found


def read_whole(memory, count):
    pieces = []
    while count > 0 and (piece := memory.read(min(count, 1 << 24))):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


@row(
    "X14",
    "secret memory",
    "look at its mappings as root",
    "locked, left out of core files, guarded on both sides",
)
def x14():
    if os.geteuid() != 0:
        raise NotHere("looking at another process's mappings needs root")
    with World() as world:
        world.mail.add(generic(), b"a secret")
        with open(f"/proc/{world.process.pid}/smaps") as file:
            flags = [line.split()[1:] for line in file if line.startswith("VmFlags:")]
        locked = [line for line in flags if "lo" in line]
        holds(len(locked) >= 4, "several mappings are locked")
        equal(
            [line for line in locked if "dd" not in line], [], "locked mappings that a core file would have"
        )
