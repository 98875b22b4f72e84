"""`chatelaine refresh -- COMMAND`: a refresh from a shell script, which cannot race."""

import contextlib
import os
import signal
import subprocess
import time

from expect import Table, equal, holds
from harness import World
from programs import TOKENS, WAIT_SECONDS
from refresh_command_stage import ITEM, REJECTED, Stage, end

TABLE = Table()
row = TABLE.row


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


def run(report):
    with World() as world:
        stage = Stage(world)
        with stage.programs.policy():
            for row in TABLE.rows:
                report.play(row, lambda row=row: row.play(stage.emptied()))
