"""`chatelaine refresh -- COMMAND`: a refresh from a shell script, which cannot race."""

import contextlib
import os
import select
import signal
import subprocess
import time

from expect import Table, equal, holds
from harness import World
from monitor import Monitor
from programs import TOKENS, WAIT_SECONDS, Programs, blocking

TABLE = Table()
row = TABLE.row
ITEM = ("--service", "https://mail.example", "--account", "alice", "--group", TOKENS)
REJECTED = 65

# Counts its runs, gives what it was given with one more letter, and waits for a word where it is told to.
ROTATE = """#!/bin/sh
echo run >> "$LOG"
[ -z "$HOLD" ] || { echo "$$" > "$LOG.started"; read -r word < "$HOLD"; }
read -r old
printf '%sx' "$old"
"""

# What a command does that waits for a word.
HELD = 'echo "$$" > "$LOG.started"; read -r word < "$HOLD"; '


class Stage:
    def __init__(self, world):
        self.world = world
        self.programs = Programs(world, "chatelaine")
        self.log = os.path.join(world.folder, "runs")
        self.rotate = self.programs.path("rotate")
        with open(self.rotate, "w") as file:
            file.write(ROTATE)
        os.chmod(self.rotate, 0o755)
        self.hold = os.path.join(world.folder, "hold")
        os.mkfifo(self.hold)
        os.mkfifo(self.log + ".started")

    def emptied(self):
        self.world.revive()
        self.world.unlock()
        self.command("logout", "--group", TOKENS)
        self.set(b"t")
        with open(self.log, "w"):
            pass
        return self

    def command(self, *arguments, given=b""):
        return self.programs.run("chatelaine", *arguments, given=given)

    def set(self, secret, *options):
        equal(self.command("set", *ITEM, *options, given=secret).status, 0, "the status of set")

    def get(self):
        ended = self.command("get", *ITEM)
        return ended.output if ended.status == 0 else ended.status

    def revision(self):
        ended = self.command("get", *ITEM, "--attributes-only")
        return ended.output.split(b"Revision")[1].split()[0].decode()

    def refresh(self, *command, options=()):
        return self.programs.run_command(self.line(command, options), LOG=self.log)

    def line(self, command, options=()):
        return [self.programs.path("chatelaine"), "refresh", *ITEM, *options, "--", *command]

    def start(self, *command, options=(), hold=False, variables=None, **more):
        environment = self.programs.environment | {"LOG": self.log} | ({"HOLD": self.hold} if hold else {})
        return subprocess.Popen(
            self.line(command, options),
            env=environment | (variables or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            **more,
        )

    def started(self):
        """Waits until a held command runs; its process."""
        with open(self.log + ".started") as file:
            return int(file.read())

    def release(self):
        with open(self.hold, "w") as file:
            file.write("go\n")

    def await_clients(self, count):
        """Until so many of the command have asked the broker for something."""
        deadline = time.monotonic() + WAIT_SECONDS
        while sum(c["Application"] == "org.test.Command" for c in self.world.admin.list_clients()) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"there are no {count} clients")
            time.sleep(0.02)

    def runs(self):
        with open(self.log) as file:
            return len(file.readlines())


def end(process):
    try:
        _, errors = process.communicate(timeout=WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, errors.decode()


@row("RC01", "an item", "refresh", "the command has the secret on its input alone; what it prints is stored")
def rotated(stage):
    ended = stage.refresh(stage.rotate)
    equal((ended.status, ended.output, ended.errors), (0, b"", ""))
    equal((stage.get(), stage.runs()), (b"tx", 1))
    # The command's own arguments and environment, as the kernel has them, and all of the process's.
    stage.set(b"not-for-any-log:token")
    script = "cat /proc/self/environ /proc/self/cmdline /proc/$PPID/environ /proc/$PPID/cmdline"
    equal(stage.refresh("sh", "-c", script).status, 0)
    equal(stage.get().count(b"not-for-any-log"), 0, "how often a process shows the secret")


@row("RC02", "eight that are started together", "refresh", "one command runs; all succeed; one new secret")
def together(stage):
    processes = [stage.start(stage.rotate, hold=True) for _ in range(8)]
    stage.started()
    stage.await_clients(8)
    stage.release()
    for process in processes:
        equal(end(process), (0, ""))
    equal((stage.runs(), stage.get()), (1, b"tx"))


@row("RC02-late", "two that are started together", "one comes to ask when the other is done", "it runs nothing")
def late(_):
    # On the direct endpoint, so that the bus can stand still for the other.
    with World(direct=True, passcode=False) as world:
        stage = Stage(world)
        with stage.programs.policy():
            stage.emptied()
            world.bus.send_signal(signal.SIGSTOP)
            try:
                chatelaine, *words = stage.line([stage.rotate])
                other = subprocess.Popen(
                    [chatelaine, "--address", world.address, *words],
                    env=stage.programs.environment | {"LOG": stage.log},
                    stderr=subprocess.PIPE,
                )
                await_socket(other.pid)
                equal((stage.refresh(stage.rotate).status, stage.runs()), (0, 1))
            finally:
                world.bus.send_signal(signal.SIGCONT)
            equal((end(other), stage.runs(), stage.get()), ((0, ""), 1, b"tx"))


def await_socket(process):
    """Until the process has begun to connect to a bus."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not has_socket(f"/proc/{process}/fd"):
        if time.monotonic() > deadline:
            raise AssertionError("the process does not connect")
        time.sleep(0.02)


def has_socket(descriptors):
    for name in os.listdir(descriptors):
        # It may be closed by now.
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(f"{descriptors}/{name}").startswith("socket:"):
                return True
    return False


@row("RC03", "one that holds the right", "others wait with the revision they have", "the result; no second run")
def waiting(stage):
    stale = ("--stale", stage.revision())
    holder = stage.start(stage.rotate, hold=True, options=stale)
    stage.started()
    others = [stage.start(stage.rotate, options=stale) for _ in range(3)]
    late = stage.start(stage.rotate, options=(*stale, "--timeout", "0"))
    status, errors = end(late)
    equal(status, 5, "the status past its own timeout")
    holds("Busy" in errors, "it says why")
    stage.release()
    for process in (holder, *others):
        equal(end(process), (0, ""))
    equal((stage.runs(), stage.get()), (1, b"tx"))
    equal((stage.refresh(stage.rotate, options=stale).status, stage.runs()), (0, 1), "with the old revision")


@row("RC04", "the server refuses", "the command ends with 65", "the item is gone, and who holds it is told")
def rejected(stage):
    watch = subprocess.Popen(
        [stage.programs.path("chatelaine"), "watch", "--group", TOKENS],
        env=stage.programs.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        holds(watch.stdout.readline().startswith("Subscribed"), "watch has subscribed")
        ended = stage.refresh("sh", "-c", f"exit {REJECTED}")
        equal((ended.status, stage.get()), (3, 1))
        holds("refused for good" in ended.errors, "it says what is the matter")
        while (line := watch.stdout.readline()).startswith("ItemChanged"):
            pass
        holds(line.startswith("LoggedOut") and "Reason=rejected" in line, f"the logout is told ({line!r})")
    finally:
        watch.kill()
        watch.communicate()


@row("RC05", "commands that fail in passing", "refresh", "the item stays; each says why")
def transient(stage):
    for script, word in (
        ("exit 1", "status 1"),
        ("kill -9 $$", "signal 9"),
        ("true", "printed nothing"),
        ("head -c 1048577 /dev/zero", "1 MiB"),
        ("exec head -c 4000000 /dev/zero", "1 MiB"),
        ("head -c 4000000 /dev/zero; exit 3", "1 MiB"),
        ("printf half; exit 3", "status 3"),
    ):
        # Anew, so that the pause after a failure is nobody's to wait for.
        stage.set(b"t")
        ended = stage.refresh("sh", "-c", script)
        equal((ended.status, stage.get()), (5, b"t"), script)
        holds(word in ended.errors and "nothing is stored" in ended.errors, f"it says why ({ended.errors!r})")
    ended = stage.refresh("/nonexistent/command")
    equal((ended.status, stage.get()), (5, b"t"))
    holds("cannot be run" in ended.errors and "status 127" in ended.errors, "it says that there is no command")
    equal((stage.refresh(stage.rotate).status, stage.get()), (0, b"tx"), "after all of them")


@row("RC06", "secrets of every size, odd bytes", "refresh with cat", "byte-exact, both ways")
def exact(stage):
    for secret in (b"", bytes(range(256)) * 3, b"line\n", os.urandom(1 << 20)):
        stage.set(secret)
        equal(stage.refresh("sh", "-c", "cat; printf y").status, 5 if len(secret) == 1 << 20 else 0)
        wanted = secret if len(secret) == 1 << 20 else secret + b"y"
        equal(stage.get() == wanted, True, f"whether {len(secret)} bytes came through")
        equal((stage.refresh("cat").status, stage.get() == wanted), (0, True), "unchanged")
    # One that does not read what it is given.
    equal((stage.refresh("echo", "new").status, stage.get()), (0, b"new\n"))


@row("RC07", "a command that leaves a child behind with its output", "refresh", "ends with the command")
def left_behind(stage):
    fifo = os.path.join(stage.world.folder, "left")
    os.mkfifo(fifo)
    ended = stage.refresh("sh", "-c", f"(read word < {fifo}) 2> /dev/null & printf new")
    equal((ended.status, stage.get()), (0, b"new"))
    with open(fifo, "w") as file:
        file.write("go\n")
    os.unlink(fifo)


@row("RC08", "a running command", "chatelaine gets a signal", "the command gets it, and what it says counts")
def passed_on(stage):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        stage.set(b"t")
        script = f"trap 'printf caught; exit 0' {number.value}; echo $$ > $LOG.started; while :; do sleep 0.01; done"
        process = stage.start("sh", "-c", script, start_new_session=True)
        stage.started()
        process.send_signal(number)
        equal((end(process), stage.get()), ((0, ""), b"caught"), number.name)
    process = stage.start(stage.rotate, hold=True, start_new_session=True)
    stage.started()
    process.send_signal(signal.SIGTERM)
    status, errors = end(process)
    equal((status, stage.get()), (5, b"caught"))
    holds(f"signal {signal.SIGTERM.value}" in errors, "it says what ended the command")


@row("RC09", "a running command", "chatelaine is killed", "the command too; the next one has the right at once")
def killed(stage):
    process = stage.start(stage.rotate, hold=True)
    command = os.pidfd_open(stage.started())
    process.kill()
    equal(end(process)[0], -signal.SIGKILL)
    holds(select.select([command], [], [], WAIT_SECONDS)[0], "the command ended")
    os.close(command)
    equal((stage.refresh(stage.rotate).status, stage.get()), (0, b"tx"))


@row("RC10", "a running command", "somebody signs in, or out", "that wins; the late result is dropped")
def overtaken(stage):
    process = stage.start(stage.rotate, hold=True)
    stage.started()
    stage.set(b"sign-in")
    stage.release()
    status, errors = end(process)
    equal((status, stage.get()), (5, b"sign-in"))
    holds("LeaseLost" in errors, "it says why")
    process = stage.start(stage.rotate, hold=True)
    stage.started()
    stage.command("logout", "--group", TOKENS, "--service", "https://mail.example")
    stage.release()
    equal((end(process)[0], stage.get()), (5, 1))
    # A refusal that comes late is of the secret before: nothing is deleted, and nothing else is said.
    for status, said in ((REJECTED, "nothing is done to it"), (1, "nothing is stored")):
        stage.set(b"t")
        process = stage.start("sh", "-c", HELD + f"exit {status}", hold=True)
        stage.started()
        stage.set(b"sign-in")
        stage.release()
        ended, errors = end(process)
        equal((ended, stage.get()), (5, b"sign-in"), f"after status {status}")
        holds(f"status {status}" in errors and said in errors, f"it says why, and what is so ({errors!r})")
        holds("deleted" not in errors, f"it says nothing else ({errors!r})")


@row("RC10-gone", "a running command", "it fails when the broker is away", "it is said why it failed")
def untold(stage):
    for status in (REJECTED, 1):
        stage.set(b"t")
        process = stage.start("sh", "-c", HELD + f"exit {status}", hold=True)
        stage.started()
        stage.world.stop()
        try:
            stage.release()
            ended, errors = end(process)
        finally:
            stage.world.start()
            stage.world.unlock()
        equal((ended, stage.get()), (5, b"t"), f"after status {status}")
        holds(f"status {status}" in errors and "ServiceUnknown" in errors, f"it says why ({errors!r})")
        holds("deleted" not in errors, f"it says what is so ({errors!r})")


@row("RC11", "a running command", "the broker is started anew meanwhile", "the result is stored all the same")
def restarted(stage):
    stage.set(b"t", "--accessible", "after-first-unlock")
    process = stage.start(stage.rotate, hold=True)
    stage.started()
    stage.world.restart()
    stage.world.unlock()
    stage.release()
    equal((end(process), stage.get()), ((0, ""), b"tx"))


@row("RC11-direct", "the same, over the direct endpoint", "that goes with the broker", "the same")
def restarted_direct(_):
    with World(direct=True) as world:
        stage = Stage(world)
        with stage.programs.policy():
            restarted(stage.emptied())


@row("RC11-still", "a running command", "the broker does not answer for a while", "the result is stored all the same")
def still(_):
    with World(direct=False, passcode=False) as world:
        stage = Stage(world)
        with stage.programs.policy(), Monitor(world.address) as monitor:
            stage.emptied()
            process = stage.start(stage.rotate, hold=True, variables={"SYSTEMD_BUS_TIMEOUT": "1s"})
            stage.started()
            begun = len(monitor.seen())
            world.process.send_signal(signal.SIGSTOP)
            try:
                stage.release()
                # It asks again when it has waited long enough for an answer.
                monitor.await_count(2, b"\0Complete\0", since=begun)
            finally:
                world.process.send_signal(signal.SIGCONT)
            equal((end(process), stage.get()), ((0, ""), b"tx"))


@row("RC12", "times", "refresh --fresh-until, --expires", "they are stored with the new secret")
def times(stage):
    ended = stage.refresh("printf", "new", options=("--fresh-until", "1h", "--expires", "2090-01-01T00:00:00Z"))
    equal(ended.status, 0)
    before = int(time.time())
    shown = stage.command("--json", "list", *ITEM).output
    fresh = int(shown.split(b'"FreshUntil":')[1].split(b",")[0]) // 1_000_000
    holds(before - 60 <= fresh - 3600 <= before + 60, "an hour from the end of the command")
    holds(b'"Expires":3786912000000000' in shown, "the absolute time")
    # Without the options the item keeps the times that it has.
    equal(stage.refresh("printf", "newer").status, 0)
    again = stage.command("--json", "list", *ITEM).output
    for key in (b'"FreshUntil":', b'"Expires":'):
        equal(again.split(key)[1].split(b",")[0], shown.split(key)[1].split(b",")[0], key.decode())


@row("RC13", "locked; absent; not the program's", "refresh", "its exit status, and no command runs")
def refused(stage):
    ended = stage.programs.run("chatelaine", "refresh", "--service", "absent", "--", stage.rotate)
    equal(ended.status, 1)
    ended = stage.programs.run("chatelaine", "refresh", *ITEM[:4], "--group", "org.test.one", "--", stage.rotate)
    equal(ended.status, 3)
    stage.world.lock()
    equal((stage.refresh(stage.rotate).status, stage.runs()), (4, 0))
    stage.world.unlock()
    stage.set(b"t", "--accessible", "after-first-unlock")
    stage.world.lock()
    equal(stage.refresh(stage.rotate).status, 0, "the status for an item that is read while locked")
    equal(stage.get(), b"tx")


@row("RC14", "arguments that make no sense", "refresh", "usage; no command runs")
def usage(stage):
    for words in (
        ("refresh", *ITEM),
        ("refresh", *ITEM, stage.rotate),
        ("refresh", "--", stage.rotate),
        ("refresh", *ITEM, "--stale", "x", "--", stage.rotate),
        ("refresh", *ITEM, "--timeout", "-1", "--", stage.rotate),
        ("refresh", *ITEM, "--fresh-until", "soon", "--", stage.rotate),
    ):
        ended = stage.programs.run_command([stage.programs.path("chatelaine"), *words], LOG=stage.log)
        equal((ended.status, stage.runs()), (2, 0), f"{words[-2:]}")


@row("RC15", "signals blocked by whoever starts it", "refresh", "it sees its command end, and passes on what comes")
def blocked(stage):
    mask = blocking(signal.SIGCHLD, signal.SIGTERM)
    # Nothing but its end can be seen of a command that has closed its streams.
    script = f'cat; printf x; exec <&- >&-; {HELD}'
    process = stage.start("sh", "-c", script, hold=True, preexec_fn=mask)
    stage.started()
    stage.release()
    equal((end(process), stage.get()), ((0, ""), b"tx"))
    process = stage.start("sh", "-c", HELD, hold=True, preexec_fn=mask, start_new_session=True)
    stage.started()
    process.send_signal(signal.SIGTERM)
    status, errors = end(process)
    equal((status, stage.get()), (5, b"tx"))
    holds(f"signal {signal.SIGTERM.value}" in errors, "it says what ended the command")


def run(report):
    with World() as world:
        stage = Stage(world)
        with stage.programs.policy():
            for row in TABLE.rows:
                report.play(row, lambda row=row: row.play(stage.emptied()))
