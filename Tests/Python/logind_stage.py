"""A world with a stand-in for logind, and what its rows ask of both."""

import contextlib
import json
import os
import select
import subprocess
import sys

from connection import Connection
from expect import generic, refused, same_secret, secret
from fake_logind import MANAGER, PATH, PROPERTIES, SESSION, WAIT_SECONDS, path_of
from harness import World
from jeepney import DBusAddress, HeaderFields, new_signal
from system_world import SystemWorld

FOLLOWS = "logind tells of the sessions"
FOREGROUND = generic(Service="f", Accessible="when-unlocked")
BACKGROUND = generic(Service="b", Accessible="after-first-unlock")
SAVER = "org.freedesktop.ScreenSaver"
# Longer than it waits itself, since it can say what for.
ANSWER_SECONDS = 2 * WAIT_SECONDS


class FakeLogind:
    """Each method of the stand-in's is one of this."""

    def __init__(self, address):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_logind.py")
        self.process = subprocess.Popen(
            [sys.executable, script, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if self._line() != "ready\n":
            raise AssertionError("nobody stands in for logind")

    def _line(self):
        if not select.select([self.process.stdout], [], [], ANSWER_SECONDS)[0]:
            raise AssertionError("the stand-in for logind does not answer")
        return self.process.stdout.readline()

    def __getattr__(self, name):
        def call(*arguments):
            self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
            self.process.stdin.flush()
            if not (line := self._line()):
                raise AssertionError("the stand-in for logind is gone")
            result, missed = json.loads(line)
            if missed:
                raise AssertionError(missed)
            return result

        return call

    def session(self, number, user, tell=True, **facts):
        self.add_with(number, user, tell, facts)

    def lock_hint(self, number, locked):
        self.change(number, {"LockedHint": locked})

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stdout.close()


class Screens(World):
    """`with Screens() as w:` a broker that follows `w.logind`, with its user's one session, unlocked, with items."""

    def __init__(self, *, sessions=(), **options):
        super().__init__(**options)
        self.sessions, self.logind, self.follows = sessions, None, 0

    @property
    def system_bus(self):
        return self.address

    @property
    def user_id(self):
        return os.geteuid()

    def start_bus(self):
        super().start_bus()
        self.start_logind(*self.sessions)

    def start_logind(self, *sessions):
        self.logind = FakeLogind(self.address)
        for number, user, facts in sessions or (("1", self.user_id, {}),):
            self.logind.session(number, user, False, **facts)
        self.logind.own()

    def start(self):
        super().start()
        self.await_following()

    def await_following(self):
        self.follows += 1
        self.await_log(FOLLOWS, self.follows)

    def __enter__(self):
        super().__enter__()
        for item in (FOREGROUND, BACKGROUND):
            self.mail.store(item, secret(item["Service"]))
        self.calendar.subscribe()
        return self

    def is_told(self, state):
        """The next thing that a subscriber hears."""
        told = self.calendar.next_signal().arguments[1:]
        if told != (state, state == "unlocked"):
            raise AssertionError(f"{told} was told, not {state}")

    def is_locked(self):
        """A subscriber hears of it; the foreground is shut, and the background is not."""
        self.is_told("locked")
        refused("InteractionNotAllowed", self.mail.read, FOREGROUND)
        same_secret(self.mail.read(BACKGROUND).secret, secret("b"))

    def opens(self):
        """The passcode opens it again."""
        self.unlock()
        self.is_told("unlocked")

    def stays(self, state="unlocked"):
        """All that was sent has been read, and nothing has come of it."""
        self.logind.barrier()
        if (found := self.user.property("State")) != state:
            raise AssertionError(f"the state is {found}, not {state}")

    def configure(self, line):
        with open(self._inside("chatelained.conf"), "w") as file:
            file.write(f"[Broker]\n{line}\n")
        self.admin.reload_policy()

    def lines(self, cause, user=None):
        """How often the log says that this locked."""
        return self.log().count(f"user {self.user_id if user is None else user}: locked by {cause}\n")

    @contextlib.contextmanager
    def saver(self):
        """Another connection that is the desktop's screen saver."""
        connection = Connection(self.address)
        connection.bus_call("RequestName", "su", (SAVER, 4))
        try:
            yield connection
        finally:
            connection.close()

    def close(self):
        if self.logind:
            self.logind.close()
        super().close()


class SystemScreens(SystemWorld):
    """A broker for all users that follows `w.logind`."""

    logind = None

    def start_bus(self):
        super().start_bus()
        self.logind = FakeLogind(self.address)
        self.logind.own()

    def start(self):
        super().start()
        self.await_log(FOLLOWS, 1)

    def close(self):
        if self.logind:
            self.logind.close()
        super().close()


def active_changed(connection, active, destination=None):
    send(connection, "/ScreenSaver", SAVER, "ActiveChanged", "b", (active,), destination)


def send(connection, path, interface, member, signature, body, destination=None):
    """A signal by whoever that connection is."""
    message = new_signal(DBusAddress(path, interface=interface), member, signature or None, body)
    if destination:
        message.header.fields[HeaderFields.destination] = destination
    connection.send_message(message)


def forgeries(number="1"):
    """What logind would send, one and all."""
    changed = lambda value: (SESSION, {"LockedHint": ("b", value)}, [])  # noqa: E731
    return (
        (path_of(number), SESSION, "Lock", "", ()),
        (path_of(number), SESSION, "Unlock", "", ()),
        (path_of(number), PROPERTIES, "PropertiesChanged", "sa{sv}as", changed(True)),
        (path_of(number), PROPERTIES, "PropertiesChanged", "sa{sv}as", changed(False)),
        (PATH, MANAGER, "SessionRemoved", "so", (number, path_of(number))),
        (PATH, MANAGER, "PrepareForSleep", "b", (True,)),
    )


def brokers(w):
    """Every connection of the broker's process."""
    names = [name for name in w.watch.bus_call("ListNames", "", ())[0] if name.startswith(":")]
    found = []
    for name in names:
        process = w.watch.bus_call("GetConnectionUnixProcessID", "s", (name,))[0]
        if process == w.process.pid:
            found.append(name)
    return found


