"""The session locks, the vault locks: the real logind before the broker of a user, and before the system's."""

import json
import os
import shutil
import tempfile

import keys_in_memory
from expect import Table, equal, holds
from served import UNIT, WAIT_SECONDS, restart

KINDS = ("own", "trixie")
USER, SYSTEM = Table(), Table()
PASSCODE, ALICE = "passcode of alice's", 1000
LOGIN1 = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")
SESSION = "org.freedesktop.login1.Session"
FOREGROUND, ALL = {1, 2, 3}, {1, 2, 3, 4, 5}
BUSES = ("XDG_RUNTIME_DIR=/run/user/1000", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus")
# Files in the place of the kernel's, for systemd to write "mem" to.
SLEEPABLE = """mount -o remount,rw /sys; mkdir -p /run/power /sys/power
echo "freeze mem disk" >/run/power/state; echo "s2idle [deep]" >/run/power/mem_sleep; echo "[platform]" >/run/power/disk
mount --bind /run/power /sys/power
"""


class Keychain:
    """Alice's keychain at one of the two brokers, and the memory of that broker."""

    def __init__(self, box, scope, passcode=PASSCODE):
        self.box, self.scope, self.passcode, self.keys, self.lines = box, scope, passcode, None, 0
        self.store, self.key, self.user = {
            "--user": ("/home/alice/.local/state/chatelaine", "/home/alice/.config/chatelaine/device.key", "alice"),
            "--system": (f"/var/lib/chatelaine/{ALICE}", "/etc/chatelaine/device.key", "chatelaine"),
        }[scope]

    def chatelaine(self, *arguments, **options):
        """In no session of hers, so that it neither makes nor ends one."""
        command = ("chatelaine", self.scope, *arguments)
        return self.box.run(*command, user="alice", environment=BUSES, **options).stdout

    @property
    def state(self):
        return json.loads(self.chatelaine("--json", "status"))["State"]

    @property
    def process(self):
        return self.box.output("pgrep", "--uid", self.user, "--exact", "chatelained")

    def prepare(self):
        self.chatelaine("passcode", "set", input=self.passcode)
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(self.box.path(self.store)):
                if name.startswith("keychain.db"):
                    shutil.copy(self.box.path(f"{self.store}/{name}"), folder)
            with open(self.box.path(self.key), "rb") as key:
                self.keys = keys_in_memory.class_keys(
                    os.path.join(folder, "keychain.db"),
                    key.read(),
                    self.box.output("cat", "/etc/machine-id").encode(),
                    self.passcode.encode(),
                    ALICE if self.scope == "--system" else None,
                )

    def in_memory(self):
        """Which class keys root finds in the broker's memory."""

        def look(values):
            lines = "".join(value.hex() + "\n" for value in values)
            program = ("python3", "/opt/keys_in_memory.py", self.process)
            return {int(number) for number in self.box.output(*program, input=lines).split()}

        return keys_in_memory.classes_found(self.keys, look)

    def opens(self):
        self.chatelaine("unlock", input=self.passcode)
        self.lines = len(self.box.journal().splitlines())
        equal((self.state, self.in_memory()), ("unlocked", ALL))

    def comes_to_be_locked(self, cause):
        """The keys of the foreground are gone, and those of the background are there."""
        self.box.until(lambda: self.state == "locked", f"{cause} has locked the keychain")
        equal(self.in_memory(), ALL - FOREGROUND)
        self.box.until(self.told_causes, f"the journal says what has locked since {self.scope} was opened")
        equal(self.told_causes(), [cause], "what the journal says has locked")

    def told_causes(self):
        """What has locked since it was opened, by the journal."""
        told = self.box.journal().splitlines()[self.lines :]
        return [line.rpartition(" ")[2] for line in told if f"user {ALICE}: locked by " in line]


class Login:
    """A session of a user's at the seat, or away from it; it ends when it is told to, and may leave a process behind."""

    def __init__(self, box, user, *, seat=True, leaves=""):
        self.box = box
        before = set(sessions(box, user))
        # Away from a seat and a terminal it would be a background job's.
        away = () if seat else ("XDG_SESSION_CLASS=user", "XDG_SESSION_TYPE=tty")
        command = ("sh", "-c", f"{leaves} read -r _")
        self.running = box.start_login(user, *command, seat=seat, environment=away)
        (self.number,) = box.until(lambda: set(sessions(box, user)) - before, f"{user} has another session")

    def object(self):
        return self.box.output("busctl", "call", *LOGIN1, "GetSession", "s", self.number).split('"')[1]

    def end(self):
        self.running.communicate("\n", timeout=WAIT_SECONDS)


def sessions(box, user):
    """By number: the states of the user's sessions, but for the manager's."""
    found = {}
    for line in box.output("loginctl", "list-sessions", "--no-legend").splitlines():
        shown = box.run("loginctl", "show-session", line.split()[0], check=False).stdout
        facts = dict(one.split("=", 1) for one in shown.splitlines())
        if facts.get("Name") == user and facts.get("Class") == "user":
            found[facts["Id"]] = facts["State"]
    return found


def inhibitors(box):
    """What the broker's processes delay, as logind lists it."""
    listed = box.output("busctl", "--json=short", "call", *LOGIN1, "ListInhibitors")
    return [one for one in json.loads(listed)["data"][0] if one[1] == "chatelained"]


def both(number, given, when, then):
    """A row of either broker."""

    def add(function):
        USER.row(f"{number}-user", given, when, then)(function)
        return SYSTEM.row(f"{number}-system", given, when, then)(function)

    return add


@both("Z01", "a session of a person at the seat", "loginctl lock-session, as root and as the person", "the keys are gone")
def z01(w):
    for user in (None, "alice"):
        w.keychain.opens()
        w.box.run("loginctl", "lock-session", w.login.number, user=user)
        w.keychain.comes_to_be_locked("session-lock")


@both("Z02", "the same", "its desktop sets LockedHint, and takes it back", "gone; nothing comes back by itself")
def z02(w):
    w.keychain.opens()
    for value in ("true", "false"):
        hint = ("busctl", "call", LOGIN1[0], w.login.object(), SESSION, "SetLockedHint", "b", value)
        w.box.run(*hint, user="alice")
        w.keychain.comes_to_be_locked("session-lock")


@both("Z03", "another user", "locks that session; sends what logind would", "logind refuses; nothing")
def z03(w):
    w.keychain.opens()
    done = w.box.run("loginctl", "lock-session", w.login.number, user="bob", check=False)
    holds(done.returncode != 0, "logind lets bob lock alice's session")
    for name in w.broker_names():
        emit = ("busctl", "emit", f"--destination={name}", w.login.object(), SESSION, "Lock")
        w.box.run(*emit, user="bob")
        w.box.run("busctl", "emit", f"--destination={name}", *LOGIN1[1:], "PrepareForSleep", "b", "true", user="bob")
    w.box.run("busctl", "emit", w.login.object(), SESSION, "Lock", user="bob")
    # What logind really says comes behind all of that.
    w.box.run("loginctl", "unlock-session", w.login.number)
    equal((w.keychain.state, w.keychain.in_memory()), ("unlocked", ALL))


@both("Z04", "a machine", "it is suspended, and wakes", "it waits for the broker, and the keys are gone by then")
def z04(w):
    w.keychain.opens()
    equal([one[3] for one in inhibitors(w.box)], ["delay"], "the modes of what the broker holds")
    w.box.run("busctl", "call", *LOGIN1, "Suspend", "b", "false")
    w.box.until(lambda: w.box.output("cat", "/run/power/state") == "mem", "the machine has slept")
    w.keychain.comes_to_be_locked("sleep")
    w.box.until(lambda: inhibitors(w.box), "the broker holds up the next sleep")
    w.box.run("sh", "-c", "echo freeze >/run/power/state")
    w.keychain.opens()


@both("Z05", "two users at one seat", "the other one's session is activated", "gone; not at one's own")
def z05(w):
    other = Login(w.box, "bob")
    try:
        w.box.run("loginctl", "activate", w.login.number)
        w.keychain.opens()
        w.box.run("loginctl", "activate", other.number)
        w.keychain.comes_to_be_locked("seat-switch")
    finally:
        other.end()
        w.box.until(lambda: not sessions(w.box, "bob"), "bob is gone")
        w.box.run("loginctl", "activate", w.login.number)


@both("Z06", "a user who lingers, in two sessions", "logs out of both, leaving a process", "gone with the last one")
def z06(w):
    second = Login(w.box, "alice", seat=False, leaves="setsid sleep 300 </dev/null >/dev/null 2>&1 &")
    try:
        w.keychain.opens()
        w.login.end()
        w.box.until(lambda: w.login.number not in sessions(w.box, "alice"), "the first session is gone")
        equal((w.keychain.state, w.keychain.in_memory()), ("unlocked", ALL))
        second.end()
        w.keychain.comes_to_be_locked("session-end")
        equal(sessions(w.box, "alice").get(second.number), "closing", "the state of what is left behind")
    finally:
        w.log_in_anew()
    w.keychain.opens()


@both("Z07", "LockOn=session-end", "the session locks; the doctor is asked", "nothing locks; he says what does")
def z07(w):
    w.box.write("/etc/chatelaine/chatelained.conf", "[Broker]\nLockOn=session-end\n")
    try:
        w.reload()
        w.box.until(lambda: not inhibitors(w.box), "the broker holds up no sleep")
        w.keychain.opens()
        w.box.run("loginctl", "lock-session", w.login.number)
        told = w.keychain.chatelaine("doctor", check=False)
        holds("lock on session-end" in told, told)
        equal((w.keychain.state, w.keychain.in_memory()), ("unlocked", ALL))
    finally:
        w.box.run("rm", "/etc/chatelaine/chatelained.conf")
        w.reload()
        w.box.until(lambda: inhibitors(w.box), "the broker holds up the sleep again")


@both("Z08", "logind", "it is started anew", "it is followed again")
def z08(w):
    w.keychain.opens()
    w.box.run("systemctl", "restart", "systemd-logind")
    w.box.until(lambda: len(inhibitors(w.box)) == 1, "the broker holds up the sleep again")
    w.box.run("loginctl", "lock-session", w.login.number)
    w.keychain.comes_to_be_locked("session-lock")


@both("Z09", "a broker that was started anew", "log in without a password", "before the first unlock: no key, of any class")
def z09(w):
    w.restart()
    other = Login(w.box, "alice", seat=False)
    try:
        equal((w.keychain.state, w.keychain.in_memory()), ("before-first-unlock", set()))
    finally:
        other.end()
    w.keychain.opens()


class World:
    def __init__(self, box, scope):
        self.box, self.keychain, self.login = box, Keychain(box, scope), None
        self.log_in()

    def log_in(self):
        self.login = Login(self.box, "alice")

    def log_in_anew(self):
        """One session, whatever there was of sessions."""
        for number in sessions(self.box, "alice"):
            self.box.run("loginctl", "kill-session", "--signal=KILL", number, check=False)
        self.box.until(lambda: not sessions(self.box, "alice"), "no session of alice's is left")
        self.log_in()

    def broker_names(self):
        """The broker's connections to the system's bus."""
        lines = self.box.output("busctl", "list", "--unique", "--no-legend").splitlines()
        process = self.keychain.process
        return [line.split()[0] for line in lines if line.split()[1] == process]

    def restart(self):
        if self.keychain.scope == "--system":
            return restart(self.box)
        process = self.keychain.process
        self.box.run("kill", process)
        self.box.until(lambda: self.box.run("test", "-e", f"/proc/{process}", check=False).returncode, "it ends")

    def reload(self):
        self.box.run("kill", "-HUP", self.keychain.process)


def run(report, box, kind, programs):
    box.install(programs)
    box.boot()
    box.run("sh", "-ec", SLEEPABLE)
    source = os.path.join(os.path.dirname(keys_in_memory.__file__), "keys_in_memory.py")
    box.copy(source, "/opt/keys_in_memory.py", 0o644)
    for number, name in enumerate(("alice", "bob")):
        box.add_user(name, ALICE + number)
    box.run("loginctl", "enable-linger", "alice")
    for scope, table in (("--user", USER), ("--system", SYSTEM)):
        world = World(box, scope)
        if scope == "--system":
            box.run("pkill", "--uid", "alice", "--exact", "chatelained")
            box.run("systemctl", "daemon-reload")
            box.run("systemctl", "enable", "--now", UNIT)
            restart(box)
        world.keychain.prepare()
        for one in table.rows:
            report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one, world=world: one.play(world))
        world.login.end()
