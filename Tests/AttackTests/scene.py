"""Where the attacks are played: a whole machine with the project installed, its broker, a user with a session.

The honest program is root's, in a folder of root's, and has a group of its own by the policy at the trust
`file`. Attackers are processes of the same user.
"""

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import time

from connection import BrokerError, Connection
from expect import equal, generic, holds, refused, same_secret, secret
from harness import START_SECONDS
from puppets import HERE as SCRIPTS
from puppets import Puppet

ATTACKS = os.path.dirname(os.path.abspath(__file__))
FOLDER = "/opt/attack"
PROGRAM = FOLDER + "/bin/mail"
GROUP = "org.test.file"
POLICIES = "/etc/chatelaine/policy.d"
POLICY = f"""[Application org.test.Mail]
Executable={PROGRAM}
AccessGroups={GROUP}
"""
BUSES = {"user": "unix:path=/run/user/{user}/bus", "system": "unix:path=/run/dbus/system_bus_socket"}
GRAPHICAL = {"XDG_SESSION_TYPE": "wayland", "XDG_SESSION_CLASS": "user", "XDG_SEAT": "seat0"}


def ran(*command, **options):
    """Runs it to its end; AssertionError with what it says where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    holds(done.returncode == 0, f"{' '.join(command)} succeeds: {done.stdout}{done.stderr}")
    return done.stdout


def until(condition, what):
    """Asks again until it holds; what it gave. For what sends no event."""
    deadline = time.monotonic() + START_SECONDS
    while not (result := condition()):
        holds(time.monotonic() < deadline, what)
        time.sleep(0.02)
    return result


def read(path):
    with open(path) as file:
        return file.read()


class Session:
    """A user of this machine and, in the block, a session of theirs with its manager and bus."""

    def __init__(self, name):
        self.entry = pwd.getpwnam(name)
        self.unit = f"session-of-{name}.service"

    def __enter__(self):
        environment = [f"--setenv={key}={value}" for key, value in GRAPHICAL.items()]
        ran(
            *("systemd-run", "--quiet", "--collect", f"--unit={self.unit}", f"--uid={self.entry.pw_name}"),
            *("--property=PAMName=login", *environment, "sleep", "infinity"),
        )
        main = ran("systemctl", "show", "--property=MainPID", "--value", self.unit).strip()
        # It runs when PAM has opened the session, and the user's manager is there by then.
        until(lambda: read(f"/proc/{main}/comm") == "sleep\n", "the user has a session")
        (group,) = [line for line in read(f"/proc/{main}/cgroup").splitlines() if line.startswith("0::")]
        self.scope = group.removeprefix("0::")
        return self

    def __exit__(self, *_):
        subprocess.run(["systemctl", "stop", self.unit], capture_output=True)

    @property
    def wrap(self):
        """A prefix that makes a process of root's one of this session's, under the same process id."""
        join = (
            'echo $$ >"$0/cgroup.procs" && exec setpriv --reuid="$1" --regid="$2" --init-groups -- "${@:3}"'
        )
        numbers = (str(self.entry.pw_uid), str(self.entry.pw_gid))
        return ["/bin/bash", "-c", join, "/sys/fs/cgroup" + self.scope, *numbers]

    @property
    def environment(self):
        runtime = f"/run/user/{self.entry.pw_uid}"
        return {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
            "HOME": self.entry.pw_dir,
            "USER": self.entry.pw_name,
            "XDG_RUNTIME_DIR": runtime,
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus",
        }

    def run(self, *command, **options):
        """The CompletedProcess of a command in the session."""
        options = {"capture_output": True, "text": True, "env": self.environment, "timeout": 120} | options
        return subprocess.run([*self.wrap, *command], cwd=self.entry.pw_dir, **options)

    def systemctl(self, *arguments):
        done = self.run("systemctl", "--user", *arguments)
        holds(done.returncode == 0, f"systemctl --user {' '.join(arguments)} succeeds: {done.stderr}")
        return done.stdout.strip()


class Scene:
    """`mode` is user or system, as the broker is started; `user` is who is attacked and attacks."""

    def __init__(self, mode, user):
        self.mode, self.user = mode, user
        self.address = BUSES[mode].format(user=user.entry.pw_uid)
        self.home = user.entry.pw_dir

    def __enter__(self):
        shutil.rmtree(FOLDER + "/bin", ignore_errors=True)
        os.makedirs(FOLDER + "/bin", 0o755)
        self.install(PROGRAM)
        write(f"{POLICIES}/60-attack.conf", POLICY)
        self.broker("start")
        return self

    def __exit__(self, *_):
        self.broker("stop")

    @property
    def pins(self):
        """Whether this machine's bus hands over a pidfd for each connection."""
        done = self.user.run(
            *("busctl", f"--address={self.address}", "--json=short", "call", "org.freedesktop.DBus"),
            *("/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionCredentials", "s"),
            "org.freedesktop.DBus",
        )
        return "ProcessFD" in done.stdout

    # The broker

    def broker(self, verb):
        if self.mode == "user":
            return self.user.systemctl(verb, "chatelained.service")
        return ran("systemctl", verb, "chatelained.service")

    def reload(self):
        """What `chatelaine policy reload` says, as an administrator: its status and its text."""
        if self.mode == "user":
            done = self.user.run("chatelaine", "policy", "reload")
        else:
            done = subprocess.run(
                ["chatelaine", "--system", "policy", "reload"], capture_output=True, text=True
            )
        return done.returncode, done.stdout + done.stderr

    @contextlib.contextmanager
    def policy(self, text, name="70-attack.conf"):
        """One more file of the administrator's policy, in force to the end of the block."""
        write(f"{POLICIES}/{name}", text)
        try:
            status, said = self.reload()
            holds(status == 0, f"the policy is taken: {said}")
            yield
        finally:
            os.unlink(f"{POLICIES}/{name}")
            self.reload()

    def decisions(self):
        """The audit entries of the broker so far, as dictionaries."""
        ran("journalctl", "--sync")
        key = "_SYSTEMD_USER_UNIT" if self.mode == "user" else "_SYSTEMD_UNIT"
        lines = ran("journalctl", "--quiet", "--output=json", f"{key}=chatelained.service").splitlines()
        return [entry for entry in map(json.loads, lines) if "CHATELAINE_DECISION" in entry]

    # Programs

    def install(self, path, *, owner=0, group=0, mode=0o755):
        """A copy of the interpreter, as a package of root's or somebody else brings it."""
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        shutil.copyfile(os.path.realpath(sys.executable), path)
        os.chown(path, owner, group)
        os.chmod(path, mode)
        return path

    def own(self, name):
        """A copy of the interpreter that is the user's, in the user's home."""
        path = os.path.join(self.home, name)
        identity = self.user.entry.pw_uid, self.user.entry.pw_gid
        self.install(path, owner=identity[0], group=identity[1])
        os.chown(os.path.dirname(path), *identity)
        return path

    @property
    def environment(self):
        """Programs of the suite find the broker's bus where they look for a session bus."""
        return self.user.environment | {
            "DBUS_SESSION_BUS_ADDRESS": self.address,
            "PYTHONPATH": f"{SCRIPTS}:{ATTACKS}",
            "PYTHONHOME": sys.base_prefix,
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    @property
    def on_session_bus(self):
        """A prefix for what speaks to the user's manager, in the environment above."""
        return ["env", f"DBUS_SESSION_BUS_ADDRESS={self.user.environment['DBUS_SESSION_BUS_ADDRESS']}"]

    @property
    def on_broker_bus(self):
        """A prefix that takes that back."""
        return ["env", f"DBUS_SESSION_BUS_ADDRESS={self.address}"]

    @contextlib.contextmanager
    def running(self, executable, wrap=(), before=(), by=None):
        """A client process of that program; `wrap` is run by the user, `before` by root. `by` is what makes
        it the user's, if not the session."""
        by = self.user.wrap if by is None else by
        puppet = Puppet(executable, self.environment, SCRIPTS, [*before, *by, *wrap])
        try:
            puppet.connect(self.address)
            yield puppet
        finally:
            puppet.close()

    def script(self, executable, name, *arguments, wrap=(), as_root=False, **options):
        """Starts a script of this folder under a copy of the interpreter, by the user; the Popen."""
        wrap = wrap if as_root else [*self.user.wrap, *wrap]
        command = [*wrap, executable, os.path.join(ATTACKS, name), *arguments]
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True} | options
        return subprocess.Popen(command, env=self.environment, cwd=self.home, **options)

    def outcome(self, executable, name, *arguments, **options):
        """The words that such a script prints."""
        with self.script(executable, name, *arguments, **options) as process:
            return process.communicate(timeout=START_SECONDS * 2)[0].split()

    @contextlib.contextmanager
    def honest(self):
        """The honest program gets in before the attack, during it and after it, on old and new connections."""
        with self.running(PROGRAM) as mail:
            mail.store(item(), secret())
            yield mail
            same_secret(mail.read(item()).secret, secret(), "what the honest program reads afterwards")
        with self.running(PROGRAM) as mail:
            same_secret(
                mail.read(item(AccessGroup=GROUP)).secret, secret(), "what it reads when started anew"
            )
            mail.delete(item())

    def connection(self):
        """A connection of root's to the broker's bus."""
        return Connection(self.address)


def item(**attributes):
    return generic(Service="attack") | attributes


def shut_out(program, *, unnamed="MissingEntitlement"):
    """The program reaches nothing of the honest one's, and administers nothing. `unnamed` is the answer where
    it names no group: a program with a private group of its own does not see an item."""
    for call in (program.read, program.search, program.delete):
        refused("MissingEntitlement", call, item(AccessGroup=GROUP))
    refused("MissingEntitlement", program.store, item(AccessGroup=GROUP), secret("forged"))
    refused("MissingEntitlement", program.logout, GROUP, "", "forged")
    refused("MissingEntitlement", program.subscribe, GROUP)
    equal(answer(lambda: program.read(item())), unnamed, "the answer where no group is named")
    refused("AccessDenied", program.force_logout, GROUP, "", "forged")


def write(path, text, owner=0):
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chown(path, owner, owner)
    os.chmod(path, 0o644)


def answer(call):
    """`ok`, or the name of the error that the call ends with."""
    try:
        call()
        return "ok"
    except BrokerError as error:
        return error.name
