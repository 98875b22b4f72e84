"""Clients that do wrong, on purpose: after each, a well-behaved one is served at once and nothing has grown.

The broker's resident memory, once the hostile client is gone, must come back to less than `slack` above what
it was before the suite.
"""

import contextlib
import time

import hostile_calls
import hostile_connections
from expect import holds
from hostile_connections import resident, well_behaved
from stage import Stage

SLACK_KIB, SANITIZER_SLACK_KIB = 8 << 10, 512 << 10
SANITIZER_VIRTUAL_KIB = 1 << 30
SETTLE_SECONDS = 20.0


def slack(world):
    """In KiB. A sanitizer keeps what was freed for a while."""
    with open(f"/proc/{world.process.pid}/status") as status:
        (line,) = [line for line in status if line.startswith("VmSize:")]
    return SANITIZER_SLACK_KIB if int(line.split()[1]) > SANITIZER_VIRTUAL_KIB else SLACK_KIB


def memory_returns(world, base):
    """No event tells that memory was given back, so this asks now and then, up to a deadline."""
    deadline, bound = time.monotonic() + SETTLE_SECONDS, base + slack(world)
    while resident(world) > bound:
        holds(
            time.monotonic() < deadline,
            f"resident memory is back under {bound} KiB (it is {resident(world)} KiB)",
        )
        well_behaved(world)
        time.sleep(0.2)


def play(row, world, base):
    process = world.process
    row.play(world)
    holds(process.poll() is None, "the broker still runs")
    well_behaved(world)
    memory_returns(world, base)


def run(report):
    for number, reason in hostile_connections.TABLE.absent.items():
        report.not_here(number, reason)
    with contextlib.closing(Stage()) as stage:
        well_behaved(stage.emptied())
        base = resident(stage.world)
        for row in hostile_calls.TABLE.rows + hostile_connections.TABLE.rows:
            report.play(row, lambda row=row: play(row, stage.emptied(), base))
