"""A person at a terminal, with polkit's own agent there, and a program of that person's that calls."""

import contextlib
import select
import subprocess

from expect import equal, holds
from served import WAIT_SECONDS

AGENT = "/opt/agent.py"
UNBUFFERED = {"text": False, "bufsize": 0}


class Caller:
    """A call in a session of the user's that goes on when it is told to: its process can be known before."""

    def __init__(self, box, user, *arguments, seat=True):
        self.arguments = arguments if arguments[0].startswith("-") else ("call", *arguments)
        # systemd makes one dollar of two.
        script = 'echo $$$$; read -r _ || exit 0; exec busctl "$@"'
        command = ("sh", "-c", script, "sh", *self.arguments)
        self.running = box.start_login(user, *command, seat=seat, stderr=subprocess.PIPE)
        self.process = self.running.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.running.communicate(timeout=WAIT_SECONDS)

    def go(self):
        self.running.stdin.write("\n")
        self.running.stdin.flush()

    def is_waiting(self):
        return self.running.poll() is None

    def finish(self):
        output, errors = self.running.communicate(timeout=WAIT_SECONDS)
        return subprocess.CompletedProcess(self.arguments, self.running.returncode, output, errors)


class Lines:
    """What a running command prints, line after line. It has no buffers, so that what select says is so."""

    def __init__(self, running):
        self.running = running

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def next(self):
        output = self.running.stdout
        if not select.select([output], [], [], WAIT_SECONDS)[0]:
            raise AssertionError("nothing more is printed")
        return output.readline().decode().strip()

    def until(self, part):
        while part not in (line := self.next()):
            holds(line or self.running.poll() is None, f"{part!r} was printed before the end")

    def end(self):
        """Takes its standard input away, and waits for its end; what else it has printed."""
        return self.running.communicate(timeout=WAIT_SECONDS)[0].decode().split()


@contextlib.contextmanager
def monitoring(box, member):
    """What the bus carries of calls of that method, line after line, from the start of the block to its end."""
    # systemd makes one dollar of two.
    script = f"echo $$$$; exec busctl monitor --match=type=method_call,member={member} 2>&1"
    with Lines(box.start("sh", "-c", script, **UNBUFFERED)) as monitor:
        process = monitor.next()
        try:
            monitor.until("Monitoring")
            yield monitor
        finally:
            box.run("kill", process, check=False)


class Agent(Lines):
    """agent.py, as the user's."""

    def __init__(self, box, user, process, password):
        super().__init__(box.start("/usr/bin/python3", AGENT, process, user=user, **UNBUFFERED))
        self.running.stdin.write(password.encode() + b"\n")
        self.wait_for("ready")

    def wait_for(self, word):
        equal(self.next(), word, "what the agent says")
