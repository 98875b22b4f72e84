"""One broker for all users, on a private bus of the system's kind. Root plays it; the users are the machine's own
`daemon` and `games`, and one that the machine does not know.
"""

import contextlib
import os
import pwd
import shutil
import subprocess
import sys

from chatelaine_client import MANAGER, OBJECT, Client
from expect import NotHere
from harness import World

ALICE, BOB = "daemon", "games"


def in_own_process_namespace(suite, report):
    """Plays the suite where its first process is process 1, and takes its lines over."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return report.not_here(suite, "a process namespace of its own needs root and unshare (util-linux)")
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable]
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")
    arguments = ["--only", report.only, suite]
    with subprocess.Popen([*command, script, *arguments], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            report.take_over(line)
    if process.returncode not in (0, 1):
        report.fail(suite, f"ended with {process.returncode}")


class Administrator(Client):
    """A client of root's that calls the object of one user."""

    def __init__(self, address, user_id):
        super().__init__(address, path=f"{OBJECT}/user/{user_id}")

    def open_session(self, *algorithm):
        path, self.path = self.path, OBJECT
        try:
            return super().open_session(*algorithm)
        finally:
            self.path = path


class SystemWorld(World):
    """`with SystemWorld() as world:` a bus, a broker of root's, and puppets by identity and user."""

    bus_kind = "system"

    def __init__(self, **options):
        if os.geteuid() != 0:
            raise NotHere("several users' programs are root's to start")
        super().__init__(passcode=False, **options)
        self.alice, self.bob = (pwd.getpwnam(name).pw_uid for name in (ALICE, BOB))
        self.programs, self.administrators = {}, {}
        self.endpoint = self._inside("direct")

    def unregistered(self):
        """A user id that the machine's user database does not have."""
        for user_id in range(54_321, 60_000):
            with contextlib.suppress(KeyError):
                pwd.getpwuid(user_id)
                continue
            return user_id
        raise NotHere("the machine knows every user id")

    @property
    def environment(self):
        return self._environment | {
            "DBUS_SYSTEM_BUS_ADDRESS": self.address,
            "RUNTIME_DIRECTORY": self._inside("runtime"),
        }

    @property
    def command(self):
        command = super().command
        command[command.index("--user")] = "--system"
        command[-1:] = ["--socket", self.endpoint]
        place = command.index("--system-bus")
        del command[place : place + 2]
        return command

    def of(self, user_id, identity="mail"):
        """The user's puppet of an identity, started when it is first needed."""
        key = user_id, identity
        if key not in self.programs:
            self.programs[key] = self.puppet(identity, user=user_id)
        return self.programs[key]

    def unregistered_program(self):
        """One that the bus does not let in, on the direct endpoint."""
        key = self.unregistered(), "mail"
        if key not in self.programs:
            self.programs[key] = self.puppet("mail", user=key[0], address=f"unix:path={self.endpoint}")
        return self.programs[key]

    def over(self, user_id):
        """Root, at the object of the user."""
        if user_id not in self.administrators:
            self.administrators[user_id] = Administrator(self.address, user_id)
        return self.administrators[user_id]

    @contextlib.contextmanager
    def polkit(self):
        """Somebody to ask, until the end of the block: a function that sets the actions which are allowed."""
        path = self._inside("polkit-allows")

        def allow(*actions):
            with open(path, "w") as file:
                file.write("\n".join(actions))

        allow()
        script = os.path.join(self._inside("scripts"), "fake_polkit.py")
        command = [sys.executable, script, self.address, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                if not process.stdout.readline():
                    raise AssertionError("nobody stands in for polkit")
                yield allow
            finally:
                process.kill()

    def folder_of(self, user_id):
        return os.path.join(self.state, str(user_id))

    def state_of(self, user_id):
        return self.of(user_id).property("State")

    @contextlib.contextmanager
    def without_broker(self):
        """The broker is stopped, and started again at the end."""
        self.stop()
        yield
        self.start()

    def introspect(self, puppet, path):
        return puppet.raw_call(path, "org.freedesktop.DBus.Introspectable", "Introspect", None, ())[0]

    def properties(self, puppet, path=OBJECT):
        (found,) = puppet.raw_call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", (MANAGER,))
        return {name: value for name, (_, value) in found.items()}

    def stop(self):
        super().stop()
        # Its connection went with the broker.
        if stranger := self.programs.pop((self.unregistered(), "mail"), None):
            stranger.close()

    def _forget_sessions(self):
        for client in (self.user, *self.programs.values(), *self.administrators.values()):
            client.forget_session()

    def close(self):
        for puppet in self.programs.values():
            puppet.close()
        super().close()

    @property
    def user_puppet(self):
        return self.of(0, "nobody")

    @contextlib.contextmanager
    def edited(self, old, new):
        """The policy's file with other words in it, until the end of the block; nobody is told."""
        path = os.path.join(self._inside("policy"), "50-test.conf")
        with open(path) as file:
            text = file.read()
        if old not in text:
            raise AssertionError(f"the policy has no {old}")
        with open(path, "w") as file:
            file.write(text.replace(old, new))
        try:
            yield
        finally:
            with open(path, "w") as file:
                file.write(text)

    @contextlib.contextmanager
    def limited(self, items):
        """The group `one` holds so many items, until the end of the block."""
        with self.edited("[AccessGroup org.test.one]\n", f"[AccessGroup org.test.one]\nMaxItems={items}\n"):
            self.user.reload_policy()
            yield
        self.user.reload_policy()
