"""What must stay inside: secrets, passcodes and attributes, looked for where each could come out.

Every look has its counterpart: something of the same kind that the same look does find.
"""

import os
import re
import secrets
import shutil
import signal
import subprocess

from connection import BrokerError
from expect import NotHere, Table, equal, generic, holds, internet, refused, same_secret
from harness import World
from monitor import Monitor
from policy import ONE
from puppets import NOBODY
from store_file import StoreFile
from traces import files, files_with, found_in

TABLE = Table()
row = TABLE.row
PLAIN_ALLOWED = "[Broker]\nAllowPlain=yes\n"
BUSCTL = "/usr/bin/busctl"
OBJECT = "org.chatelaine.Broker1 /org/chatelaine/Broker1 org.chatelaine.Broker1."


class Marks:
    """Values that occur nowhere else: each is told apart by 24 random bytes in the middle of it."""

    def __init__(self):
        self.secrets, self.attributes = {}, {}

    def secret(self, name):
        return self.secrets.setdefault(name, f"{name}<".encode() + secrets.token_bytes(24) + b">")

    def text(self, name):
        return self.attributes.setdefault(name, f"{name}-{secrets.token_hex(12)}".encode()).decode()

    @staticmethod
    def inner(values):
        """The random middles alone, so that a value whose ends were overwritten is found as well."""
        return {name: value.split(b"<", 1)[-1].rstrip(b">")[-24:] for name, value in values.items()}


def job(w, marks, look=lambda what: None):
    """A life with every kind of call that carries a secret; `look` is called after each step."""
    foreground = generic(Service=marks.text("service"), Account=marks.text("account"), Label=marks.text("label"))
    background = foreground | {"Account": marks.text("helper"), "Accessible": "after-first-unlock"}
    other = internet(Server=marks.text("server"), Account=marks.text("user"), Path=marks.text("path"))
    w.set_passcode(marks.secret("first-passcode"))
    w.mail.add(foreground, marks.secret("foreground"))
    w.mail.add(background, marks.secret("background"))
    w.mail.store(other | {"Comment": marks.text("comment")}, marks.secret("internet"))
    look("added")
    same_secret(w.calendar.read(background).secret, marks.secret("background"))
    equal(len(w.calendar.read_all({"Class": "generic-password"})), 2)
    w.calendar.update(background, {"Description": marks.text("description")}, marks.secret("renewed"))
    w.mail.store(other, marks.secret("stored-over"))
    same_secret(w.mail.read(other).secret, marks.secret("stored-over"))
    same_secret(w.mail.read(foreground).secret, marks.secret("foreground"))
    look("read and renewed")
    w.set_passcode(marks.secret("second-passcode"))
    w.lock()
    refused("AuthFailed", w.user.unlock, marks.secret("wrong-passcode"))
    refused("InteractionNotAllowed", w.mail.read, foreground)
    same_secret(w.helper.read(background).secret, marks.secret("renewed"))
    look("locked")
    w.unlock()
    w.restart()
    w.unlock()
    equal(w.mail.delete(other), 1)
    refused("DuplicateItem", w.mail.add, foreground, marks.secret("refused"))
    look("restarted, deleted")
    return foreground, background


@row("X01", "a monitor on the bus", "the whole main job, passcodes too", "no secret in any form; attributes in clear")
def x01():
    marks = Marks()
    with World(passcode=False) as world, Monitor(world.address) as monitor:
        job(world, marks)
        world.remove_passcode()
        captured = monitor.seen()
        equal(found_in(captured, marks.secrets), {}, "the secrets that the monitor saw")
        equal(found_in(captured, Marks.inner(marks.secrets)), {}, "the middles of secrets that it saw")
        missing = [name for name, value in marks.attributes.items() if value not in captured]
        equal(missing, [], "the attributes that the monitor did not see")


@row("X02", "plain sessions allowed", "one busctl call carries a secret", "it works, and the monitor sees it")
def x02():
    if not os.access(BUSCTL, os.X_OK):
        raise NotHere("busctl is missing")
    policy = f"[Application org.test.Busctl]\nExecutable={BUSCTL}\nAccessGroups={ONE}\n"
    value = secrets.token_bytes(8)
    with World(passcode=False, configuration=PLAIN_ALLOWED) as world, Monitor(world.address) as monitor:
        with world.policy_file(policy):
            key = "Class s generic-password Service s busctl Account s a"
            given = f"{key} / 0 {len(value)} {' '.join(map(str, value))}"
            busctl(world, "Items", "Store", "a{sv}(oayay)", "3", *given.split())
            answer = busctl(world, "Items", "Read", "a{sv}o", "3", *key.split(), "/")
            holds(f'"/" 0 {len(value)} {" ".join(map(str, value))}' in answer, "busctl reads what it stored")
            found = world.mail.read(generic(Service="busctl"))
            same_secret(found.secret, value, "over an encrypted session beside it")
        holds(value in monitor.seen(), "this is what a monitor would see of a secret in clear")


def busctl(world, interface, member, signature, *arguments):
    command = [BUSCTL, "--user", "call", *(OBJECT + interface).split(), member, signature, *arguments]
    done = subprocess.run(command, env=world.environment, capture_output=True, text=True, timeout=60)
    equal((done.returncode, done.stderr), (0, ""), "busctl's exit status and errors")
    return done.stdout


@row("X03", "the session bus", "OpenSession plain, the session /", "EncryptionRequired, unless AllowPlain=yes")
def x03():
    for configuration, is_allowed in (("", False), ("[Broker]\nAllowPlain=no\n", False), (PLAIN_ALLOWED, True)):
        with World(passcode=False, configuration=configuration) as world:
            for path in (None, "/"):
                if is_allowed:
                    world.mail.store_plainly(path, generic(), b"a secret")
                    same_secret(world.calendar.read(generic()).secret, b"a secret")
                else:
                    refused("EncryptionRequired", world.mail.store_plainly, path, generic(), b"a secret")


@row("X04", "the files of the store", "look at each step of a life", "no secret, account or other value in any form")
def x04():
    marks = Marks()
    with World(passcode=False) as world:

        def look(when):
            data = b"".join(files(world.state).values())
            values = marks.secrets | marks.attributes | Marks.inner(marks.secrets)
            equal(found_in(data, values), {}, f"what is in the files ({when})")
            holds(ONE.encode() in data, f"a group's name, which is not sealed, is found ({when})")

        job(world, marks, look)
        StoreFile.await_checkpoint(world)
        look("after the checkpoint")
        world.remove_passcode()
        look("without a passcode")


@row("X05", "items that are deleted in each way", "look for their bytes", "ciphertext and tokens are gone from all files")
def x05():
    with World() as world:
        ways = {
            "delete": lambda given: world.mail.delete(given),
            "logout": lambda given: world.mail.logout(ONE, given["Service"], ""),
            "forced": lambda given: world.admin.force_logout(ONE, given["Service"], ""),
            "locked": lambda given: (world.lock(), world.mail.delete(given), world.unlock()),
        }
        classes = ("when-unlocked", "after-first-unlock")
        given = {
            (way, accessible): generic(Service=way, Account=accessible) for way in ways for accessible in classes
        }
        references = {
            key: world.mail.add(item | {"Accessible": key[1], "Comment": "c" * 900}, secrets.token_bytes(5000))[0]
            for key, item in given.items()
        }
        world.mail.add(generic(Service="kept"), secrets.token_bytes(5000))
        with StoreFile.of(world) as store:
            pieces = {key: store.pieces(reference) for key, reference in references.items()}
        for key, item in given.items():
            holds(files_with(world.state, pieces[key]), f"{key} is there before")
            if key[0] in ("delete", "locked") or key[1] == classes[0]:
                ways[key[0]](item)
        StoreFile.await_checkpoint(world)
        for key in given:
            equal(files_with(world.state, pieces[key]), {}, f"what is left of {key}")


@row("X06", "an item that was written over", "delete another, wait", "its former ciphertext is gone as well")
def x06():
    with World(passcode=False) as world:
        reference, _ = world.mail.add(generic(Label="old"), secrets.token_bytes(5000))
        world.mail.add(generic(Account="other"), secrets.token_bytes(10))
        with StoreFile.of(world) as store:
            pieces = store.pieces(reference)[-20:]
        holds(files_with(world.state, pieces), "before it is written over it is there")
        world.mail.store(generic(Label="new"), secrets.token_bytes(100))
        world.mail.delete(generic(Account="other"))
        StoreFile.await_checkpoint(world)
        equal(files_with(world.state, pieces), {}, "what is left of the former one")


@row("X07", "a passcode that is changed, then removed", "look for the keys' old wraps", "gone when the call returns")
def x07():
    with World() as world:
        protected = "when-passcode-set-this-device-only"
        reference, _ = world.mail.add(generic(Accessible=protected), secrets.token_bytes(5000))
        with StoreFile.of(world) as store:
            wraps, pieces = store.wrapped_keys(), store.pieces(reference)
        equal(len(wraps) > 5, True, "that there are enough wraps to look for")
        holds(files_with(world.state, wraps), "before the change they are there")
        world.set_passcode(b"another passcode")
        equal(files_with(world.state, wraps), {}, "what is left of the old wraps")
        with StoreFile.of(world) as store:
            wraps = store.wrapped_keys()
        world.remove_passcode()
        equal(files_with(world.state, wraps), {}, "what is left of the wraps under the passcode")
        equal(files_with(world.state, pieces), {}, "what is left of the passcode-set item")


@row("X08", "the broker's log and error texts", "a life full of mistakes", "no secret, account or other value")
def x08():
    marks, texts = Marks(), []
    with World(passcode=False) as world:
        foreground, background = job(world, marks)
        mistakes(world, marks, foreground, background, texts)
        world.stop()
        log = world.log().encode() + journal(world)
        holds(b"deny" in log and b"allow" in log, "the log has lines of the audit")
        equal(found_in(log, marks.secrets | marks.attributes | Marks.inner(marks.secrets)), {}, "what the log has")
        equal(found_in("\n".join(texts).encode(), marks.secrets | marks.attributes), {}, "what error texts have")
        holds(len(texts) > 10, "errors were provoked")


def mistakes(world, marks, foreground, background, texts):
    """Refusals of every kind, with values that could stand in their texts."""
    secret, value = marks.secret("mistaken"), marks.text("mistaken")
    calls = (
        lambda: world.mail.add(foreground, secret),
        lambda: world.mail.add({"Class": value}, secret),
        lambda: world.mail.add(generic(Accessible=value), secret),
        lambda: world.mail.add(generic(AccessControl=(value, (value,))), secret),
        lambda: world.mail.add(generic(**{"Account": 7}), secret),
        lambda: world.mail.add(generic(Synchronizable=value), secret),
        lambda: world.mail.read(generic(Account=value)),
        lambda: world.mail.read(foreground | {"Limit": 0}),
        lambda: world.mail.update(foreground, {"IfRevision": 1}, secret),
        lambda: world.mail.update({"Class": "generic-password"}, {"Account": value}),
        lambda: world.mail.store(foreground | {"Expires": 1}, secret),
        lambda: world.mail.add(generic(Label=value * 5000), secret),
        lambda: world.stranger.read(foreground),
        lambda: world.nobody.read(background),
        lambda: world.nobody.add(background, secret),
        lambda: world.mail.force_logout(ONE, marks.attributes["service"].decode(), value),
        lambda: world.mail.logout(ONE, value * 500, ""),
        lambda: world.mail.read({"Reference": value}),
    )
    for call in calls:
        try:
            call()
        except BrokerError as error:
            texts.append(error.text)
    world.admin.force_logout(ONE, marks.attributes["service"].decode(), value)


def journal(world):
    """What the journal has of this broker; nothing where the broker found none."""
    if not os.path.exists("/run/systemd/journal/socket"):
        return b""
    command = ["journalctl", f"_PID={world.process.pid}", "--output=export", "--boot"]
    return subprocess.run(command, capture_output=True).stdout


@row("X09", "the broker's process", "look at its arguments and its environment", "no secret, no passcode, no device key")
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


@row("X10", "the broker as an ordinary user's", "look at its limits and its /proc", "no core file, not dumpable")
def x10():
    with World(passcode=False, user=NOBODY) as world:
        with open(f"/proc/{world.process.pid}/limits") as limits:
            (line,) = [line for line in limits if line.startswith("Max core file size")]
        equal(line.split()[4:6], ["0", "0"], "the limits of a core file")
        for name in ("mem", "environ", "fd"):
            status = os.stat(f"/proc/{world.process.pid}/{name}")
            equal(status.st_uid, 0, f"the owner of {name}: root's, since the process is not dumpable")
        puppet = world.mail
        equal(os.stat(f"/proc/{puppet.process.pid}/mem").st_uid, world.owner or os.geteuid(), "another's owner")
        equal(puppet.can_read(f"/proc/{world.process.pid}/mem"), False, "that its user can read its memory")
        equal(puppet.can_trace(world.process.pid), False, "that its user can trace it")


@row("X11", "a broker that may leave core files", "crash it", "none, no report; another program leaves one")
def x11():
    with open("/proc/sys/kernel/core_pattern") as file:
        pattern = file.read().strip()
    if pattern.startswith("|") or "/" in pattern:
        raise NotHere("this machine hands core files to a program or a folder of its own; X10 looks at the limits")
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
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT, signal.SIGILL, signal.SIGBUS, signal.SIGTRAP):
            world.mail.store(generic(), marks.secret("secret"))
            world.process.send_signal(number)
            equal(world.process.wait(30), -number, "how the broker ended")
            world.revive()
            world.unlock()
        log = world.log().removeprefix(before)
        equal(re.findall(r"0x[0-9a-f]{8,}|[Rr]egisters|crashed", log), [], "what the log has of a crash report")
        equal([name for name in os.listdir(world.folder) if name.startswith("core")], [], "the core files")


@row("X12", "the work done, locked", "read the broker's whole memory as root", "no secret that it was given or gave")
def x12():
    look_at_memory("")


@row("X13", "plain sessions, the work done, locked", "read the broker's whole memory as root", "no secret at all")
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


@row("X14", "secret memory", "look at its mappings as root", "locked, left out of core files, guarded on both sides")
def x14():
    if os.geteuid() != 0:
        raise NotHere("looking at another process's mappings needs root")
    with World() as world:
        world.mail.add(generic(), b"a secret")
        with open(f"/proc/{world.process.pid}/smaps") as file:
            flags = [line.split()[1:] for line in file if line.startswith("VmFlags:")]
        locked = [line for line in flags if "lo" in line]
        holds(len(locked) >= 4, "several mappings are locked")
        equal([line for line in locked if "dd" not in line], [], "locked mappings that a core file would have")


def run(report):
    for row in TABLE.rows:
        report.play(row, row.play)
