"""What comes in between while the command of `chatelaine refresh` runs: signals, sign-ins, a broker that goes."""

import os
import select
import signal

from expect import Table, equal, holds
from harness import World
from monitor import Monitor
from programs import TOKENS, WAIT_SECONDS, blocking
from refresh_command_stage import HELD, REJECTED, Stage, end

TABLE = Table()
row = TABLE.row


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
    for status in (REJECTED, 1):
        stage.set(b"t")
        process = stage.start("sh", "-c", HELD + f"exit {status}", hold=True)
        stage.started()
        stage.set(b"sign-in")
        stage.release()
        ended, errors = end(process)
        equal((ended, stage.get()), (5, b"sign-in"), f"after status {status}")
        said = f"status {status}" in errors and "nothing is done to it" in errors
        holds(said, f"it says why, and what is so ({errors!r})")
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
