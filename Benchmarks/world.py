"""A private bus with the echo service and the broker on it, in a folder of its own. Standard library only."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
BENCH = os.path.join(HERE, "build", "bench")
ECHO = os.path.join(HERE, "build", "echo")
# A program has 128 connections at most: 1,000 subscribers need several programs.
LISTENERS = 10
APPLICATION = """\
[Application {name}]
Executable={program}
AccessGroups=bench.items

"""
POLICY = """\
[AccessGroup bench.items]
RequireTrust=user
MaxItems=200000
MaxBytes=1G
"""


class Failed(Exception):
    """A measurement that could not be made; its text is for the table."""


class World:
    """Starts and ends only what it started itself; used with `with`."""

    def __init__(self, broker_program):
        self.broker_program = broker_program
        self.work = tempfile.mkdtemp(prefix="work-", dir=os.environ.get("BENCH_WORK") or os.path.dirname(BENCH))
        self.log_path = self.path("broker.log")
        self.processes, self.broker = [], None
        keep = ("PATH", "LANG", "TZ", "LD_LIBRARY_PATH")
        self.environment = {k: v for k, v in os.environ.items() if k in keep}

    def __enter__(self):
        try:
            self._make_folders()
            self._start_echo()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes[::-1]:
            self.end(process)
        shutil.rmtree(self.work, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.work, name)

    def _make_folders(self):
        for name in ("policy", "programs", "home", "runtime", "key", "rows"):
            os.makedirs(self.path(name), mode=0o700)
        self.listeners = [self.path(f"programs/listener-{number}") for number in range(LISTENERS)]
        with open(self.path("policy/50-bench.conf"), "w", encoding="utf-8") as file:
            file.write(APPLICATION.format(name="bench", program=BENCH))
            for program in self.listeners:
                shutil.copy(BENCH, program)
                file.write(APPLICATION.format(name=os.path.basename(program), program=program))
            file.write(POLICY)
        self.environment.update(HOME=self.path("home"), XDG_RUNTIME_DIR=self.path("runtime"),
                                BENCH_DIRECT_ADDRESS="unix:path=" + self.path("runtime/direct"))

    def start_bus(self, log):
        """Starts a bus, which ends with the world, and returns its address."""
        with open(self.path(log), "wb") as file:
            bus = self.spawn(["dbus-daemon", "--config-file=" + os.path.join(HERE, "session.conf"),
                              "--print-address=1", "--nofork", "--nopidfile"], stdout=subprocess.PIPE, stderr=file)
        address = bus.stdout.readline().decode().strip()
        if not address:
            raise Failed("dbus-daemon did not start")
        return address

    def _start_echo(self):
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.start_bus("bus.log")
        self.echo = self.spawn([ECHO], stdout=subprocess.PIPE)
        if not self.echo.stdout.readline():
            raise Failed("the echo service did not start")

    def spawn(self, command, environment=None, stdin=subprocess.DEVNULL, **streams):
        process = subprocess.Popen(command, env=environment or self.environment, stdin=stdin, **streams)
        self.processes.append(process)
        return process

    def end(self, process):
        end(process)
        self.processes.remove(process)

    def broker_command(self, state):
        return [self.broker_program, "--user", "--policy", self.path("policy"), "--state", self.path(state),
                "--device-key", self.path("key/device.key"), "--socket", self.path("runtime/direct")]

    def start_broker(self, state):
        """Starts the broker on the state folder of that name and returns what `bench wait` says of it."""
        os.makedirs(self.path(state), mode=0o700, exist_ok=True)
        with open(self.log_path, "wb") as log:
            self.broker = self.spawn(self.broker_command(state), stdout=log, stderr=log)
        return self.bench("wait", self.broker.pid, timeout=90)

    def stop_broker(self):
        if self.broker:
            self.end(self.broker)
        self.broker = None

    def bench(self, *arguments, timeout):
        """Runs the bench client and returns its JSON."""
        command = [BENCH, *map(str, arguments)]
        try:
            done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, timeout=timeout,
                                  capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"bench {arguments[0]} took more than {timeout:.0f} s") from error
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise Failed(said[0] + self._last_words())
        return json.loads(done.stdout)

    def _last_words(self):
        if not self.broker or self.broker.poll() is None:
            return ""
        with open(self.log_path, "rb") as log:
            lines = log.read()[-2000:].decode(errors="replace").strip().splitlines()
        return f" (the broker ended with status {self.broker.returncode}: {lines[-1] if lines else 'no word'})"

    @contextlib.contextmanager
    def one_processor(self):
        """Keeps bus, services and clients on one processor meanwhile.

        One client's call is strict turn-taking; where the turns are taken on several processors, the time is
        mostly that of waking an idle one, and depends on where the scheduler put whom."""
        everywhere = os.sched_getaffinity(0)
        try:
            self._allow({max(everywhere)})
            yield
        finally:
            self._allow(everywhere)

    def _allow(self, processors):
        os.sched_setaffinity(0, processors)
        for process in self.processes:
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{process.pid}/task"):
                    os.sched_setaffinity(int(thread), processors)

    def memory_kb(self, process):
        """VmRSS and VmHWM of the broker, or of another."""
        with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as status:
            fields = dict(line.split(":", 1) for line in status if ":" in line)
        if "VmRSS" not in fields:
            raise Failed("a service has ended" + self._last_words())
        return {key: int(fields[key].split()[0]) for key in ("VmRSS", "VmHWM")}


def end(process):
    """SIGTERM, and SIGKILL for what has not ended after 20 seconds."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout:
        process.stdout.close()
