"""Whoever else would have the password of a login: each gets not one byte of it, and no login waits for them."""

import contextlib
import os
import socket
import subprocess
import sys
import time

from expect import Table, equal, holds, secret
from harness import PASSCODE, REPOSITORY, START_SECONDS
from pam_stage import IMPOSTOR, NO_ANSWER, NOBODY, USER, Logins
from traces import content, found_in

TABLE = Table()
row = TABLE.row
OTHER = 5
AT_ONCE = 2.0
SCRIPT = os.path.join(REPOSITORY, "Tests/Python/pam_peer.py")
INTERPRETER = os.path.realpath(sys.executable)
PASSWORD = secret("the login's")


@contextlib.contextmanager
def without_broker():
    """Nobody listens, and what the user could leave there is gone."""
    with Logins() as w:
        w.stop()
        yield w
        with contextlib.suppress(FileNotFoundError):
            os.unlink(w.socket)
        w.start()


class Squatter:
    """A program of the user's, or another's, where the broker would listen."""

    def __init__(self, w, way="answers", *, user=USER, path=None, program=()):
        self.record = w._inside(f"record-{way}-{user}")
        for name in (self.record, w._inside("pam_peer.py")):
            with open(name, "wb") as file, open(SCRIPT, "rb") as script:
                file.write(script.read() if name.endswith(".py") else b"")
        os.chown(self.record, user, user)
        command = (INTERPRETER, w._inside("pam_peer.py"), path or w.socket, self.record, way, *program)
        self.process = subprocess.Popen(
            [*w.become(user), *command], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        holds(self.process.stdout.readline() == "ready\n", "somebody else listens")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in {self.process.pid, *children(self.process.pid)}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, 9)
        self.process.wait(START_SECONDS)
        self.process.stdout.close()

    def has_nothing(self):
        """Of the password, in any form."""
        equal(found_in(content(self.record), {"the password": PASSWORD}), {}, "what it was sent")


def children(number):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(number)], capture_output=True, text=True)
    return [int(word) for word in listed.stdout.split()]


def is_refused(w, squatter, ending=IMPOSTOR, **options):
    for kind in ("auth", "password") if ending != NO_ANSWER else ("auth",):
        begun = time.monotonic()
        equal(w.hand_over(PASSWORD, kind, seconds=1, **options), ending, f"{kind}: how the hand-over ended")
        holds(time.monotonic() - begun < 1 + AT_ONCE, "it took longer than it may")
    begun = time.monotonic()
    equal(w.hand_over(PASSWORD, "auth", inner=False, seconds=1, **options), 0, "what PAM hears")
    holds(time.monotonic() - begun < AT_ONCE, "PAM waited")
    squatter.has_nothing()


@row("PH20", "a program of the user on the broker's socket", "log in, change the password", "not one byte")
def ph20():
    with without_broker() as w:
        for way in ("answers", "silent", "flood"):
            with Squatter(w, way) as squatter:
                is_refused(w, squatter)
                equal(content(squatter.record), b"", "not even a greeting")
            os.unlink(w.socket)


@row("PH21", "another user on a socket there", "log in", "not one byte")
def ph21():
    with without_broker() as w:
        folder = os.path.dirname(w.socket)
        for mode, ending in ((0o777, NOBODY), (0o700, IMPOSTOR)):
            # Who may write there is somebody else; or was, for a moment.
            os.chmod(folder, 0o777)
            os.chmod(w.runtime, 0o755)
            with Squatter(w, user=OTHER) as squatter:
                os.chmod(folder, mode)
                is_refused(w, squatter, ending)
            os.unlink(w.socket)
        # The socket's file is the user's, and another one listens.
        os.chmod(folder, 0o777)
        with Squatter(w, user=OTHER) as squatter:
            os.chown(w.socket, USER, USER)
            os.chmod(folder, 0o700)
            is_refused(w, squatter)
        os.chmod(w.runtime, 0o700)


@row("PH22", "links in the place of the socket, its folder and the runtime folder", "log in", "nobody follows them")
def ph22():
    with Logins() as w:
        folder = os.path.dirname(w.socket)
        place = w._inside("elsewhere")
        os.mkdir(place, 0o755)
        os.chown(place, USER, USER)
        with Squatter(w, path=f"{place}/bus") as squatter:
            os.rename(w.socket, f"{folder}/genuine")
            for target in (f"{place}/bus", f"{folder}/genuine"):
                os.symlink(target, w.socket)
                is_refused(w, squatter)
                os.unlink(w.socket)
            os.rename(f"{folder}/genuine", w.socket)
            for path, target in ((folder, place), (w.runtime, w._inside("data"))):
                os.rename(path, path + ".away")
                os.symlink(target, path)
                is_refused(w, squatter, NOBODY)
                os.unlink(path)
                os.rename(path + ".away", path)
        w.lock()
        w.log_in(PASSCODE)


@row("PH23", "what listens becomes the broker's program, and a child answers", "log in", "not one byte")
def ph23():
    with without_broker() as w:
        with Squatter(w, "execs", program=["/bin/sleep", "1000"]) as squatter:
            is_refused(w, squatter, broker=os.path.realpath("/bin/sleep"))
            holds(b"AUTH" in content(squatter.record), "it was the sender of the answer that told")


@row("PH24", "the broker's program that answers wrongly", "log in", "not one byte, and an end at the deadline")
def ph24():
    with without_broker() as w:
        for way in ("silent", "garbage", "flood", "closes", "refuses", "guesses"):
            with Squatter(w, way) as squatter:
                is_refused(w, squatter, NO_ANSWER, broker=INTERPRETER)
            os.unlink(w.socket)
        with Squatter(w, "answers") as squatter:
            # What the others lack is the right answer: this one has it, and is given the password.
            equal(w.hand_over(PASSWORD, seconds=1, broker=INTERPRETER), 0)
            holds(found_in(content(squatter.record), {"it": PASSWORD}), "the record shows a password")


@row("PH25", "a broker's program that others may write, or none", "log in", "not one byte")
def ph25():
    with Logins() as w:
        w.lock()
        for mode, owner in ((0o775, 0), (0o757, 0), (0o755, USER)):
            os.chmod(w.daemon, mode)
            os.chown(w.daemon, owner, owner)
            w.log_in(PASSCODE, IMPOSTOR)
        os.chown(w.daemon, 0, 0)
        os.chmod(w.daemon, 0o755)
        w.log_in(PASSCODE, IMPOSTOR, broker="/usr/bin/chatelained-of-nobody")
        equal(w.state_word, "locked")
        w.log_in(PASSCODE)


@row("PH26", "a file, a pipe, a folder in the place of the socket", "log in", "nothing; PAM goes on")
def ph26():
    with without_broker() as w:
        for make in (lambda: open(w.socket, "w").close(), lambda: os.mkfifo(w.socket), lambda: os.mkdir(w.socket)):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(w.socket)
            make()
            os.chown(w.socket, USER, USER)
            w.log_in(PASSWORD, IMPOSTOR, seconds=1)
        os.rmdir(w.socket)


@row("PH27", "a listener whose queue is full", "log in", "PAM goes on; nobody waits for it")
def ph27():
    with without_broker() as w:
        with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as waiting:
            listener.bind(w.socket)
            os.chown(w.socket, USER, USER)
            listener.listen(0)
            full = False
            while not full:
                client = waiting.enter_context(socket.socket(socket.AF_UNIX))
                client.setblocking(False)
                try:
                    client.connect(w.socket)
                except BlockingIOError:
                    full = True
            w.log_in(PASSWORD, NO_ANSWER, seconds=1)


@row("PH28", "the user's folder, shut to everybody or open to all", "log in", "nobody is asked there")
def ph28():
    with Logins() as w:
        w.lock()
        os.chmod(w.runtime, 0o777)
        w.log_in(PASSCODE, NOBODY, seconds=1)
        os.chmod(w.runtime, 0o700)
        os.chmod(os.path.dirname(w.socket), 0o777)
        w.log_in(PASSCODE, NOBODY, seconds=1)
        os.chmod(os.path.dirname(w.socket), 0o755)
        equal(w.state_word, "locked")
        w.log_in(PASSCODE)
