"""Identity and access control, with real processes: who calls is what the kernel says at the first call."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
import tempfile

from attributes import encode
from chatelaine_client import ITEMS, OBJECT
from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from harness import World
from hostile_raw import Raw
from policy import ONE, TWO
from puppets import HERE, NOBODY, copy_interpreter
from sessions import EncryptedSession

TABLE = Table()
row = TABLE.row
GUARDED, OWN = "org.test.guarded", "org.test.own"
GUARDED_POLICY = """[Application org.test.Guarded]
Executable={path}
AccessGroups={group}

[AccessGroup {group}]
RequireTrust={trust}
"""


def needs_root(why):
    if os.geteuid() != 0:
        raise NotHere(f"{why} needs root")


@contextlib.contextmanager
def guarded_folder():
    """A folder of root's under folders of root's: what is in it has the trust `file`."""
    needs_root("a program of root's")
    for parent in ("/opt", "/usr/local/lib", "/var/lib"):
        if is_guarded(parent):
            break
    else:
        raise NotHere("no folder of this machine is closed to all but root, and not nosuid")
    folder = tempfile.mkdtemp(prefix="chatelaine-test-", dir=parent)
    try:
        os.chmod(folder, 0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


def is_guarded(path):
    if not os.path.isdir(path) or os.statvfs(path).f_flag & os.ST_NOSUID:
        return False
    while True:
        status = os.stat(path)
        if status.st_uid != 0 or status.st_mode & 0o022:
            return False
        if path == "/":
            return True
        path = os.path.dirname(path)


def install(path, mark=b""):
    """A program as a package brings it; the mark makes its bytes differ, and does not change what it does."""
    copy_interpreter(path)
    os.chown(path, 0, 0)
    with open(path, "ab") as file:
        file.write(mark)


@contextlib.contextmanager
def guarded_program(w):
    """A program of root's and, in its group, no item."""
    with guarded_folder() as folder:
        path = os.path.join(folder, "program")
        install(path)
        with w.policy_file(GUARDED_POLICY.format(path=path, group=GUARDED, trust="file")):
            w.admin.force_logout(GUARDED)
            yield path


@contextlib.contextmanager
def running(w, executable, wrap=None):
    puppet = w.program(executable, wrap)
    try:
        yield puppet
    finally:
        puppet.close()


def wrapped(script, *arguments):
    return [sys.executable, os.path.join(HERE, script), *arguments]


@row("B028", "another file over a trusted path", "run it in a mount namespace of one's own", "denied")
def b028(w):
    with guarded_program(w) as path:
        with running(w, path) as honest:
            honest.add(generic(), secret())
        evil = os.path.join(w.folder, "evil")
        copy_interpreter(evil)
        user_namespaces = subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode == 0
        for namespaces in ("mount", "mount,user") if user_namespaces else ("mount",):
            with running(w, path, wrapped("in_namespace.py", namespaces, evil, path)) as impostor:
                refused("MissingEntitlement", impostor.read, generic())
                refused("MissingEntitlement", impostor.read, generic(AccessGroup=GUARDED))
                refused("AccessDenied", impostor.lock)
        with running(w, path, wrapped("in_namespace.py", "mount", path, path)) as same_file:
            # The right file, but seen from a place where nothing else can be believed.
            refused("MissingEntitlement", same_file.read, generic())
        if not user_namespaces:
            raise NotHere("denied in a mount namespace; this machine refuses the user namespace")


@row("B029", "a connection of a stranger's", "it execs an entitled program and calls", "denied as before")
def b029(w):
    w.mail.add(generic(), secret())
    outcome = subprocess.run(
        [w.executable("nobody"), os.path.join(HERE, "exec_after_connect.py"), w.executable("mail")],
        env=w.environment | {"PYTHONHOME": sys.base_prefix, "PYTHONPATH": HERE},
        capture_output=True,
        text=True,
        timeout=60,
    )
    equal(outcome.stdout.split(), ["MissingEntitlement", "MissingEntitlement", "ok"], "the three answers")


@row("B030", "an entitled process that ended", "another program gets its process id and calls", "denied")
def b030(w):
    first = w.puppet("mail")
    first.store(generic(), secret())
    first.close()
    second = with_process_id(first.process.pid, lambda: w.puppet("nobody"))
    try:
        refused("MissingEntitlement", second.read, generic())
        refused("MissingEntitlement", second.search, generic())
    finally:
        second.close()


def with_process_id(number, start):
    """A puppet that has the process id, which is free."""
    needs_root("choosing the next process id")
    for _ in range(200):
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(number - 1))
        puppet = start()
        if puppet.process.pid == number:
            return puppet
        puppet.close()
    raise NotHere("the kernel did not give that process id a second time")


def next_clock_tick():
    """The kernel tells when a process started by ticks, and one of the broker's own tick counts as older."""
    ticks = lambda: int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))  # noqa: E731
    before = ticks()
    while ticks() == before:
        pass


@row(
    "B030-kept",
    "a connection whose process has ended",
    "an entitled program gets that process id; call",
    "denied: it started after the connection came",
)
def b030_kept(w):
    needs_root("choosing the next process id")
    w.mail.add(generic(), secret())
    keeper = subprocess.Popen(
        [w.executable("nobody"), os.path.join(HERE, "keep_connection.py")],
        env=w.environment | {"PYTHONHOME": sys.base_prefix, "PYTHONPATH": HERE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    keeper.wait(60)
    # The broker has heard of that connection when it answers what was asked after it.
    same_secret(w.mail.read(generic()).secret, secret())
    next_clock_tick()
    entitled = with_process_id(keeper.pid, lambda: w.puppet("mail"))
    try:
        same_secret(entitled.read(generic()).secret, secret())
        answer, _ = keeper.communicate("call\n", timeout=60)
        equal(answer.strip(), "MissingEntitlement")
    finally:
        entitled.close()


@row("B031", "clients that call and close at once", "1,000 times", "no side effect, nothing is allowed")
def b031(w):
    w.mail.add(generic(), secret())
    for _ in range(500):
        raw = Raw(w.address)
        raw.send(
            raw.message(ITEMS, "OpenSession", "sv", (EncryptedSession.algorithm, EncryptedSession().input))
        )
        raw.send(raw.message(ITEMS, "Delete", "a{sv}", (encode(generic()),)))
        raw.send(raw.message(ITEMS, "Logout", "sss", (ONE, "", "gone")))
        raw.close()
        raw = Raw(w.address)
        raw.send(raw.message(ITEMS, "Read", "a{sv}o", (encode(generic()), OBJECT + "/session/1")))
        raw.close()
    allowed = w.log().count("allow")
    same_secret(w.calendar.read(generic()).secret, secret())
    equal(w.calendar.subscribe()[1][ONE], w.mail.subscribe()[1][ONE], "the epoch")
    w.await_log("allow", allowed + 1)
    equal(w.log().count("allow"), allowed + 1, "the number of reads that the log allows")


@row("B033", "a running program", "its file is replaced, as upgrades do it", "it keeps what it has, anew too")
def b033(w):
    with guarded_program(w) as path, running(w, path) as old:
        old.add(generic(), secret())
        install(path + ".tmp", b"v2")
        os.rename(path + ".tmp", path)
        same_secret(old.read(generic()).secret, secret(), "on the connection that it had")
        old.disconnect()
        old.connect(w.address)
        same_secret(old.read(generic()).secret, secret(), "on a new connection of the old image")
        w.restart()
        w.unlock()
        old.disconnect()
        old.connect(w.address)
        same_secret(old.read(generic()).secret, secret(), "of a broker that was started anew")
        with running(w, path) as new:
            same_secret(new.read(generic()).secret, secret(), "to the new image")
    # Where its user can write, a replaced file proves nothing.
    path = os.path.join(w.folder, "bin", "own")
    copy_interpreter(path)
    with w.policy_file(GUARDED_POLICY.format(path=path, group=OWN, trust="user")):
        with running(w, path) as old:
            old.add(generic(), secret())
            copy_interpreter(path + ".tmp")
            os.rename(path + ".tmp", path)
            same_secret(old.read(generic()).secret, secret(), "on the connection that it had")
            old.disconnect()
            old.connect(w.address)
            refused("MissingEntitlement", old.read, generic())


@row(
    "B035", "an entitled program that is closed to /proc", "Read", "MissingEntitlement and a line in the log"
)
def b035(_):
    # Root reads every process, so the broker has to be an ordinary user's here.
    with World(passcode=False, user=NOBODY) as world:
        world.mail.add(generic(), secret())
        closed = world.puppet("mail")
        try:
            closed.close_to_others()
            refused("MissingEntitlement", closed.read, generic())
            refused("AccessDenied", closed.lock)
            world.await_log("deny read", 1)
        finally:
            closed.close()
        same_secret(world.mail.read(generic()).secret, secret())


@row("B037", "an interpreter in the policy", "reload; run another script", "a warning with file:line")
def b037(w):
    real = os.path.realpath(sys.executable)
    entitled = GUARDED_POLICY.format(path=real, group=GUARDED, trust="user")
    carriers = "[Carriers]\nExecutable=/usr/bin/python3*\n"
    with w.policy_file(entitled + carriers):
        holds(any("60-test.conf:2:" in line for line in w.warnings), f"a warning names line 2: {w.warnings}")
    # Without a line of its own, a carrier has no group that all scripts would share.
    with w.policy_file(carriers), running(w, real) as script:
        refused("MissingEntitlement", script.add, generic(), secret())
        refused("MissingEntitlement", script.search, generic())


@row("B038", "an item and its reference", "another program reads and guesses", "as if it did not exist")
def b038(w):
    reference, _ = w.mail.add(generic(), secret())
    guesses = [reference, reference[:-1] + "0", reference[:-1] + "1", "0" * len(reference)]
    answers = set()
    for guess in guesses:
        error = refused("ItemNotFound", w.stranger.read, {"Reference": guess})
        answers.add((error.name, error.text))
        for other in (
            refused("ItemNotFound", w.stranger.delete, {"Reference": guess}),
            refused("ItemNotFound", w.stranger.update, {"Reference": guess}, {"Comment": "c"}),
        ):
            answers.add((other.name, other.text))
    equal(len(answers), 1, f"the number of different answers ({answers})")
    equal(w.stranger.search({"Class": "generic-password"}), [])
    refused("ItemNotFound", w.stranger.read_all, {"Class": "generic-password"})


@row(
    "B042",
    "ten items of a program",
    "its package is upgraded",
    "the new one reads all, if its folder is root's",
)
def b042(w):
    with guarded_program(w) as path:
        with running(w, path) as old:
            for number in range(10):
                old.add(generic(Account=str(number)), secret(str(number)))
        install(path + ".tmp", b"v2")
        os.rename(path + ".tmp", path)
        with running(w, path) as new:
            equal(len(new.read_all({"Class": "generic-password"})), 10)
        for name, spoil in (("folder", os.path.dirname(path)), ("file", path)):
            mode = os.stat(spoil).st_mode
            os.chmod(spoil, mode | 0o002)
            with running(w, path) as program:
                refused("MissingEntitlement", program.read, generic(Account="1"))
            os.chmod(spoil, mode)
        os.chown(path, NOBODY, NOBODY)
        with running(w, path) as program:
            refused("MissingEntitlement", program.read, generic(Account="1"))


@row(
    "B044", "two programs of one group", "the one adds without naming a group", "its first group, and told so"
)
def b044(w):
    w.mail.add(generic(), secret("default"))
    equal(w.mail.read(generic()).attributes["AccessGroup"], ONE)
    with w.policy_file(
        f"[Application org.test.Second]\nExecutable={w.executable('nobody')}\nAccessGroups={TWO} {ONE}\n"
    ), running(w, w.executable("nobody")) as second:
        second.add(generic(Account="b"), secret("private"))
        refused("ItemNotFound", w.calendar.read, generic(Account="b"))
        equal(second.read(generic(Account="b")).attributes["AccessGroup"], TWO)
        second.add(generic(Account="b", AccessGroup=ONE), secret("shared"))
        same_secret(w.calendar.read(generic(Account="b")).secret, secret("shared"))


@row("B045", "group names that are not the caller's", "each call", "MissingEntitlement, nothing stored")
def b045(w):
    names = ("sharedAccessGroupName", ONE + "." + ONE, "", "*", ONE.upper(), ONE + " ", "app.org.test.Mail2")
    for name in names:
        for refusal in (
            lambda: w.mail.add(generic(AccessGroup=name), secret()),
            lambda: w.mail.store(generic(AccessGroup=name), secret()),
            lambda: w.mail.read(generic(AccessGroup=name)),
            lambda: w.mail.search(generic(AccessGroup=name)),
            lambda: w.mail.delete(generic(AccessGroup=name)),
        ):
            refused("MissingEntitlement", refusal)
    equal(w.mail.search({"Class": "generic-password"}), [])


@row("B047", "a broker of one user's", "root and a third user call it", "refused at once, nothing changed")
def b047(_):
    needs_root("another user's process")
    # As root the broker can read about every caller; as anybody else about its own user's alone.
    for owner, others in ((NOBODY, (0, 1)), (None, (1, NOBODY))):
        others_are_refused(owner, others)


def others_are_refused(owner, others):
    with World(passcode=False, user=owner) as world:
        world.set_passcode()
        world.mail.add(generic(Accessible="after-first-unlock"), secret())
        for user in others:
            with running(world, world.executable("mail"), World.become(user)) as other:
                for call in (other.read, other.search, other.delete):
                    refused("MissingEntitlement", call, generic())
                refused("MissingEntitlement", other.add, generic(Account="b"), secret())
                refused("MissingEntitlement", other.subscribe)
                refused("AccessDenied", other.lock)
                # Root may bring the password of a login, and do nothing else (PH11).
                refused("AuthFailed" if user == 0 else "AccessDenied", other.unlock, b"no passcode")
                refused("AccessDenied", other.remove_passcode, world.passcode)
            with running(world, world.executable("admin"), World.become(user)) as other:
                refused("AccessDenied", other.force_logout, ONE, "", "by another user")
                refused("AccessDenied", other.list_clients)
        equal(world.user.property("State"), "unlocked")
        same_secret(world.mail.read(generic()).secret, secret())


@row("B049", "a program that is started for each look-up", "50 runs of it", "each reads, nothing is asked")
def b049(w):
    w.mail.add(generic(), secret())
    for _ in range(50):
        with running(w, w.executable("calendar")) as run:
            same_secret(run.read(generic()).secret, secret())


@row("B051", "items of a caller's groups and of others", "Delete with no scope, with one", "Param; the count")
def b051(w):
    w.mail.add(generic(AccessGroup=ONE), secret())
    w.mail.add(generic(AccessGroup=TWO), secret())
    w.stranger.add(generic(), secret("theirs"))
    refused("Param", w.mail.delete, {})
    refused("Param", w.mail.delete, {"Limit": 1, "Class": "generic-password"})
    refused("MissingEntitlement", w.calendar.delete, generic(AccessGroup=TWO))
    equal(len(w.mail.search(generic())), 2)
    equal(w.mail.delete(generic(AccessGroup=TWO)), 1)
    equal(w.mail.delete({"Class": "generic-password"}), 1)
    same_secret(w.stranger.read(generic()).secret, secret("theirs"))
