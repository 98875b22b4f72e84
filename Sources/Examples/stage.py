"""What the demo plays on: a private bus, a broker on it, and real programs with their true output.

Everything is in one temporary folder; HOME and the XDG folders point into it, so nothing of the user's own
is read or touched. Whatever was started is ended again, however the demo ends. Nothing sleeps.
"""

import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROGRAMS = (
    "chatelained",
    "chatelaine",
    "demo-mail",
    "demo-sync",
    "demo-inbox",
    "demo-stranger",
    "demo-server",
)
SECONDS = 30.0


class Difference(Exception):
    """What happened is not what the step says."""


class Program:
    """A program that stays. What it prints is shown as it comes, after its name."""

    def __init__(self, name, process):
        self.name, self.process, self.lines = name, process, queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def says(self, *words):
        """Waits for its next line, shows it, and holds it to the words."""
        try:
            line = self.lines.get(timeout=SECONDS)
        except queue.Empty:
            raise Difference(f"{self.name} says nothing") from None
        if line is None:
            raise Difference(f"{self.name} has ended")
        tell(self.name, line)
        expect(line, *words)

    def end(self):
        """Ends it, as the end of a desktop's session would."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Monitor(Program):
    """A monitor of the bus, as any process of the user can start one: every message, byte for byte."""

    def _read(self):
        self.seen = bytearray()
        while chunk := self.process.stdout.buffer.read1(1 << 16):
            self.seen += chunk
            self.lines.put("")
        self.lines.put(None)


class Stage:
    """`with Stage() as stage:` the folder, the bus and the broker."""

    def __enter__(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        self.programs = []
        self.folder = tempfile.mkdtemp(prefix="chatelaine-demo-")
        try:
            self._prepare()
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, *_):
        self._clean_up()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def _prepare(self):
        for name in ("bin", "policy", "home", "runtime", "state"):
            os.mkdir(self.path(name), 0o700)
        for name in PROGRAMS:
            shutil.copy(os.path.join(REPOSITORY, ".build", "debug", name), self.path("bin"))
        self.environment = {
            "PATH": self.path("bin") + ":" + os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": self.path("home"),
            "XDG_RUNTIME_DIR": self.path("runtime"),
        }

    def start_bus(self):
        """A session bus as on a desktop, with an address of its own."""
        address = f"unix:path={self.path('runtime', 'bus')}"
        bus = self.start(
            "dbus-daemon",
            "--session",
            "--nofork",
            "--nopidfile",
            "--print-address",
            f"--address={address}",
            stderr=subprocess.DEVNULL,
        )
        if bus.lines.get(timeout=SECONDS) is None:
            raise Difference("dbus-daemon did not start")
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = address

    def start_broker(self):
        """Comes back when the broker says that it is ready, as it says it to systemd."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(self.path("runtime", "notify"))
            ready.settimeout(SECONDS)
            self.environment["NOTIFY_SOCKET"] = ready.getsockname()
            broker = self.start(
                "chatelained",
                "--user",
                "--no-socket",
                "--policy",
                self.path("policy"),
                "--state",
                self.path("state"),
                "--device-key",
                self.path("device.key"),
            )
            del self.environment["NOTIFY_SOCKET"]
            try:
                ready.recv(4096)
            except TimeoutError:
                raise Difference(f"the broker is not ready: {list(broker.lines.queue)}") from None

    def start_server(self):
        """The authorization server, at the port that it prints."""
        server = self.start("demo-server")
        port = server.lines.get(timeout=SECONDS)
        if port is None:
            raise Difference("demo-server did not start")
        self.environment["DEMO_SERVER"] = port
        return port

    def start_monitor(self):
        """Comes back when it monitors: the bus then takes its name away, which is the first that it shows."""
        monitor = self.start("dbus-monitor", "--session", "--binary", kind=Monitor)
        monitor.lines.get(timeout=SECONDS)
        return monitor

    # Running programs

    def start(self, *command, kind=Program, stderr=subprocess.STDOUT):
        """Starts a program that stays."""
        process = subprocess.Popen(
            command,
            env=self.environment,
            cwd=self.folder,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        program = kind(command[0], process)
        self.programs.append(program)
        return program

    def run(self, command, *words, status=0):
        """Runs a command, shows it and what it prints, and holds it to the words and the exit status."""
        print(f"   $ {command}", flush=True)
        done = subprocess.run(
            ["/bin/bash", "-c", command],
            env=self.environment,
            cwd=self.folder,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS * 4,
        )
        for line in done.stdout.splitlines():
            print(f"     {line}", flush=True)
        expect(done.stdout, *words)
        if done.returncode != status:
            raise Difference(f"exit status {done.returncode}, not {status}")
        return done.stdout

    def _clean_up(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for program in reversed(self.programs):
            program.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def tell(name, line):
    """A line of a program that stays."""
    print(f"     {name + ':':<11} {line}", flush=True)


def expect(text, *words):
    for word in words:
        if word not in text:
            raise Difference(f"'{word}' was expected")
