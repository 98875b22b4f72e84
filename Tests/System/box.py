"""A box: a whole Linux machine with systemd as its first process, booted from a folder in about a second.

    with Box("mine") as box:                       # a throw-away copy of this machine's own root
        box.install()                              # the project, as `make install` does it
        box.write("/etc/chatelaine/policy.d/60-mine.conf", "[Application ...]\\n")
        box.boot()
        box.add_user("alice")
        box.run("systemctl", "is-active", "dbus")              # root, in a unit of its own
        box.login("alice", "busctl", "--user", "list")         # a logind session, user manager and user bus
        box.until(lambda: "ready" in box.journal("-u", "chatelained"), "the broker says that it is ready")

`Box("mine", root=trixie(), bus="dbus-broker")` takes Debian trixie (systemd 257, dbus 1.16) instead. Needs root
and Debian's systemd-container (`.ci/packages system`). To look around in one by hand:

    /usr/bin/python3 Tests/System/box.py [own|trixie|trixie-broker] [COMMAND ...]

Nothing stays behind, whatever ends the process: its mounts are in a mount namespace of its own, what is written
in a box is in memory, and a guard that outlives it ends what runs there. /proc/sys is read-only in a box, since most
of it would be this machine's: box.sysctl() is there for what a process namespace has of its own.
"""

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time

from box_folder import REPOSITORY, BoxError, BoxFolder, quietly

TRIXIE = os.path.join(REPOSITORY, ".build/system/trixie")
FOLDER = "/run/chatelaine-boxes"
WAIT_SECONDS = 60.0
# Waits for the end of its starter, or for its word, and ends the control group with all that is in it.
GUARD = """read -r _
[ ! -e "$0/cgroup.kill" ] || echo 1 >"$0/cgroup.kill"
for _ in $(seq 100); do
    find "$0" -depth -type d -exec rmdir {} + 2>/dev/null
    [ -d "$0" ] || break
    sleep 0.1
done
"""
CLONE_NEWNS, MS_REC, MS_SLAVE, PR_SET_PDEATHSIG = 0x00020000, 0x4000, 0x80000, 1
UNIT_OF_OWN = ("systemd-run", "--quiet", "--wait", "--pipe", "--collect")
GRAPHICAL = ("XDG_SESSION_TYPE=wayland", "XDG_SESSION_CLASS=user", "XDG_SEAT=seat0")


def missing():
    """Why no box can be had here; None where one can."""
    if os.geteuid() != 0:
        return "boxes need root"
    if shutil.which("systemd-nspawn") is None:
        return "systemd-nspawn is missing (Debian: systemd-container)"
    if _unified() is None:
        return "this machine has no unified control groups"
    return None


def trixie():
    """The root folder of a Debian trixie; the first time it takes a minute or two to make."""
    subprocess.run([os.path.join(REPOSITORY, "Tests/System/make-root"), "trixie", TRIXIE], check=True)
    return TRIXIE


class Box(BoxFolder):
    """`bus` is the bus daemon, for the system and for every user: dbus-daemon or dbus-broker. `binds` are
    places of this machine that the box sees too, read-only: `/folder` or `/folder:/as/seen/there`."""

    def __init__(self, name, root="/", *, bus="dbus-daemon", binds=(), devices=("/dev/fuse",)):
        super().__init__(name, root, os.path.join(FOLDER, str(os.getpid()), name), bus)
        self.binds, self.devices = [f"--bind-ro={place}" for place in binds], devices
        self.group = os.path.join(_unified(), f"box-{os.getpid()}-{name}")
        self.process, self.leader, self.console, self.guard = None, None, None, None

    def __enter__(self):
        if reason := missing():
            raise BoxError(reason)
        _own_mounts()
        _sweep()
        try:
            self._overlay()
            self._tidy()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def boot(self):
        """Comes back when everything is started that starts at boot."""
        self.console = os.path.join(self.folder, "console")
        command = [
            "systemd-nspawn",
            "--quiet",
            f"--directory={self.root}",
            f"--machine={self.name}",
            "--register=no",
            "--keep-unit",
            "--private-network",
            "--capability=CAP_IPC_LOCK",
            "--console=pipe",
            *self.binds,
            *(f"--bind={self._node(device)}:{device}" for device in self.devices),
            "--boot",
        ]
        # nspawn's own filter would forbid what the broker and its callers may do on any machine.
        environment = os.environ | {"SYSTEMD_SECCOMP": "0", "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
        os.makedirs(self.group, exist_ok=True)
        self.guard = subprocess.Popen(
            ["sh", "-c", GUARD, self.group], stdin=subprocess.PIPE, start_new_session=True
        )
        with open(self.console, "wb") as console:
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                preexec_fn=self._join,
            )
        self.until(self._has_booted, "the box is up")
        return self

    def close(self):
        if self.process:
            self._power_off()
        if self.guard:
            self.guard.communicate()
        for place in (self.root, os.path.join(self.folder, "memory")):
            subprocess.run(["umount", "--lazy", place], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(self.folder))

    # In the running box

    def run(self, *command, user=None, environment=(), properties=(), check=True, **options):
        """Runs it as root, or a user, in a unit of its own, to its end. Returns the CompletedProcess; the
        output is its `stdout` and `stderr`, as text."""
        options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL} | options
        if "input" in options:
            del options["stdin"]
        done = subprocess.run(
            self.command(*command, user=user, environment=environment, properties=properties), **options
        )
        if check and done.returncode != 0:
            raise BoxError(
                f"{self.name}: {shlex.join(command)} ended with {done.returncode}: "
                f"{done.stdout or ''}{done.stderr or ''}"
            )
        return done

    def output(self, *command, **options):
        """What it prints, without the line's end."""
        return self.run(*command, **options).stdout.rstrip("\n")

    def start(self, *command, user=None, environment=(), properties=(), **options):
        """As `run`, and comes back with the Popen while it runs. Its standard input and output are pipes."""
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True} | options
        return subprocess.Popen(
            self.command(*command, user=user, environment=environment, properties=properties), **options
        )

    def login(self, user, *command, seat=True, **options):
        """As `run`, in a session of the user's: logind knows it, the user's manager and bus are there."""
        return self.run(*command, user=user, **self.session_options(seat, options))

    def start_login(self, user, *command, seat=True, **options):
        """As `start`, in a session of the user's."""
        return self.start(*command, user=user, **self.session_options(seat, options))

    @staticmethod
    def session_options(seat, options):
        return options | {
            "properties": ("PAMName=login", *options.get("properties", ())),
            "environment": (*(GRAPHICAL if seat else ()), *options.get("environment", ())),
        }

    def command(self, *command, user=None, environment=(), properties=()):
        """The command line that runs a command in the box, for a Popen of one's own."""
        unit = [*UNIT_OF_OWN, *(f"--uid={user}" for user in ([user] if user else []))]
        unit += [f"--setenv={one}" for one in environment] + [f"--property={one}" for one in properties]
        return [*self.enter(), *unit, "--", *command]

    def enter(self):
        """A prefix that runs a command as root in the box's namespaces, but in no unit of the box."""
        return ["nsenter", f"--target={self.leader}", "--all", "--"]

    def add_user(self, name, uid=None, password=None):
        """A person with a home, a shell and a group of the same name; before the box boots too."""
        identity = [] if uid is None else [f"--uid={uid}"]
        enter = self.enter() if self.leader else ["chroot", self.root]
        quietly(*enter, "useradd", "--create-home", "--shell=/bin/bash", *identity, name)
        if password is not None:
            quietly(*enter, "chpasswd", input=f"{name}:{password}\n")

    def journal(self, *options):
        """The journal's lines; `--output=json` and the like are journalctl's."""
        self.run("journalctl", "--sync")
        return self.output("journalctl", "--no-pager", "--quiet", *options)

    def allow_sandboxes(self):
        """Lets users make process namespaces with a /proc of their own (bwrap, Flatpak), which a container's
        masked /proc forbids."""
        self.run("sh", "-ec", self._OWN_PROC + "mount --bind /run/box-proc/sys/user /proc/sys/user")

    _OWN_PROC = (
        "mountpoint -q /run/box-proc || { mkdir -p /run/box-proc && mount -t proc proc /run/box-proc; }\n"
    )

    def sysctl(self, name, value):
        """Sets what a process namespace has of its own: `kernel.ns_last_pid`, and from Linux 6.14
        `kernel.pid_max`. Everything else is this machine's, and is refused."""
        release = tuple(int(part) for part in os.uname().release.split(".")[:2])
        if name not in ("kernel.ns_last_pid", *(["kernel.pid_max"] if release >= (6, 14) else [])):
            raise BoxError(f"{name} is not the box's own")
        place = f"/run/box-proc/sys/{name.replace('.', '/')}"
        self.run("sh", "-ec", self._OWN_PROC + 'echo "$1" >"$2"', "sh", str(value), place)

    def until(self, condition, what, seconds=WAIT_SECONDS):
        """Asks again until it holds; what it gave. For what sends no event."""
        deadline = time.monotonic() + seconds
        while not (result := condition()):
            if time.monotonic() > deadline:
                raise BoxError(f"{self.name}: it did not come to this: {what}\n{self._tail()}")
            time.sleep(0.05)
        return result

    def _node(self, device):
        """The device for everybody, as udev makes those that a box has."""
        path = os.path.join(self.folder, "memory", os.path.basename(device))
        os.mknod(path, stat.S_IFCHR, os.stat(device).st_rdev)
        os.chmod(path, 0o666)
        return path

    def _join(self):
        """In the child: its own control group, and an end with its starter."""
        with open(os.path.join(self.group, "cgroup.procs"), "w") as file:
            file.write("0")
        os.setsid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    def _has_booted(self):
        if self.process.poll() is not None:
            raise BoxError(
                f"{self.name}: systemd-nspawn ended with {self.process.returncode}\n{self._tail()}"
            )
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True)
        self.leader = children.stdout.strip()
        if not self.leader or "\n" in self.leader:
            return False
        state = subprocess.run(
            [*self.enter(), "systemctl", "is-system-running"], capture_output=True, text=True
        )
        return state.stdout.strip() in ("running", "degraded")

    def _power_off(self):
        if self.leader and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError, ValueError):
                os.kill(int(self.leader), signal.SIGRTMIN + 4)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(15)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def _tail(self):
        try:
            with open(self.console, errors="replace") as console:
                return "".join(console.readlines()[-15:])
        except (OSError, TypeError):
            return ""


def _unified():
    """Where the unified control groups are, which a box needs."""
    for place in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(os.path.join(place, "cgroup.procs")):
            return place
    return None


def _own_mounts(_done=[]):
    """From here on what this process mounts is seen by itself and its boxes alone, and goes with it."""
    if _done:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0 or libc.mount(None, b"/", None, MS_REC | MS_SLAVE, None) != 0:
        raise BoxError(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    _done.append(True)


def _sweep():
    """What a box leaves whose starter was killed: a folder and an empty control group."""
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(FOLDER):
            if not os.path.exists(f"/proc/{name}"):
                shutil.rmtree(os.path.join(FOLDER, name), ignore_errors=True)
    for name in os.listdir(_unified()):
        if name.startswith("box-") and not os.path.exists(f"/proc/{name.split('-')[1]}"):
            for folder, _, _ in os.walk(os.path.join(_unified(), name), topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)


KINDS = {
    "own": lambda **options: Box("own", **options),
    "trixie": lambda **options: Box("trixie", trixie(), **options),
    "trixie-broker": lambda **options: Box("trixie-broker", trixie(), bus="dbus-broker", **options),
}


def main(kind="own", *command):
    """A box with the project in it and a user alice, for a person."""
    with KINDS[kind]() as box:
        box.install()
        box.boot()
        box.add_user("alice", 1000, "wonder land")
        return subprocess.run([*box.enter(), *(command or ("bash",))]).returncode


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(*sys.argv[1:]))
