"""Clocks that jump and machines that slept: what has expired stays so, and what is due is not forgotten.

Played with the kernel's own clock too, on a machine of its own (Tests/System/clock.py).
"""

import contextlib
import os
import signal

import faults
from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from policy import ONE
from renewal import is_needed, is_removed, token

TABLE = Table()
row = TABLE.row
SECOND, HOUR = 1_000_000, 3600
AFTER = "after-first-unlock"


def need_library():
    """For what the kernel's own clock and disk do not do."""
    if os.environ.get("SET_KERNEL_CLOCK"):
        raise NotHere("this needs the library in front of the broker")


def absent(client, query):
    """To every call that looks for it."""
    refused("ItemNotFound", client.read, query)
    refused("ItemNotFound", client.update, query, {"Comment": "c"})
    refused("ItemNotFound", client.delete, query)
    equal(client.search(query), [])


@row("B137", "an item that expires, a wall clock", "set it back and forth", "once seen expired it stays so")
def b137():
    with faults.clocked_world(passcode=False) as (world, clock):
        for name in ("seen", "unseen"):
            world.mail.add(generic(Account=name, Expires=clock.now() + HOUR * SECOND), secret())
        world.mail.add(generic(Account="stays"), secret())
        past = clock.now() - 3 * HOUR * SECOND
        for offset in (-2 * HOUR, 0, HOUR // 2):
            clock.set(offset)
            same_secret(world.mail.read(generic(Account="seen")).secret, secret())
        clock.set(-2 * HOUR)
        # As late as it was, by a clock that says it is earlier.
        refused("Param", world.mail.add, generic(Account="past", Expires=past), secret())
        clock.set(48 * HOUR)
        absent(world.mail, generic(Account="seen"))
        clock.set(0)
        absent(world.mail, generic(Account="seen"))
        world.restart()
        absent(world.mail, generic(Account="seen"))
        same_secret(world.mail.read(generic(Account="stays")).secret, secret())


@row("B137-read-only", "a disk that takes no writes", "past the time and back", "absent, also then")
def b137_read_only():
    need_library()
    with faults.clocked_world(passcode=False) as (world, clock):
        world.mail.add(generic(Expires=clock.now() + HOUR * SECOND), secret())
        with faults.fault(world, "sync"), faults.fault(world, "write"):
            clock.set(2 * HOUR)
            absent(world.mail, generic())
            clock.set(0)
            absent(world.mail, generic())
        absent(world.mail, generic())


@row(
    "B137-signal",
    "an item that expires, a subscriber",
    "set it forth; nobody calls",
    "it hears of the removal",
)
def b137_signal():
    with faults.clocked_world() as (world, clock):
        background, _ = world.mail.add(
            generic(Accessible=AFTER, Expires=clock.now() + HOUR * SECOND), secret()
        )
        world.calendar.subscribe()
        world.lock()
        equal(world.calendar.next_signal().name, "LockStateChanged")
        clock.set(2 * HOUR)
        is_removed(world.calendar, background)
        clock.set(0)
        refused("ItemNotFound", world.calendar.read, generic())


@row(
    "B137-stored-later",
    "a token that was stored by a clock that was ahead",
    "set it right",
    "it wants renewing",
)
def b137_stored_later():
    with faults.clocked_world(passcode=False) as (world, clock):
        clock.set(2 * HOUR)
        reference, revision = world.mail.add(token(clock, life=HOUR), secret())
        world.mail.add(generic(Account="without", Accessible=AFTER), secret())
        world.calendar.subscribe()
        clock.set(0)
        is_needed(world.calendar, reference)
        found = world.calendar.read(generic())
        same_secret(found.secret, secret())
        equal(found.attributes["Revision"], revision)
        # Told once: what the new clock says of its own time comes for the next revision alone.
        world.mail.store(token(clock, life=HOUR), secret("renewed"))
        equal(world.calendar.next_signal().arguments[2:4], (reference, "updated"))
        clock.set(5 * HOUR)
        is_needed(world.calendar, reference)
        equal(world.calendar.pending_signals(), [], "what else came")


@row(
    "B137-far",
    "a token, an item that stays",
    "set it to where no clock goes",
    "no crash, the items are there",
)
def b137_far():
    need_library()
    with faults.clocked_world(passcode=False) as (world, clock):
        world.mail.add(generic(Account="stays"), secret())
        world.mail.add(token(clock, "token"), secret())
        world.calendar.subscribe(ONE)
        offsets = [99_999_999_999, -99_999_999_999, 9_223_372_036_854_775_807, -9_223_372_036_854_775_807]
        for offset in offsets:
            clock.set(offset)
            for name in ("stays", "token"):
                same_secret(world.mail.read(generic(Account=name)).secret, secret(), f"at {offset}")
        clock.set(0)
        same_secret(world.mail.read(generic(Account="stays")).secret, secret())


@row(
    "B137-lock",
    "a wrong passcode",
    "its pause, while the clock is set back",
    "the pause ends, and unlocking works",
)
def b137_lock():
    with faults.clocked_world() as (world, clock):
        world.lock()
        for _ in range(2):
            refused("AuthFailed", world.user.unlock, b"wrong")
        nobody = world.puppet("nobody")
        with contextlib.closing(nobody):
            nobody.start("unlock", b"wrong")
            clock.set(-48 * HOUR)
            refused("AuthFailed", nobody.finish)
        world.unlock()
        equal(world.user.property("State"), "unlocked")


@row(
    "B138",
    "a token that ends in ten minutes",
    "an hour passes while nothing runs",
    "no old token, and a signal",
)
def b138():
    with faults.clocked_world(passcode=False) as (world, clock):
        reference, _ = world.mail.add(generic(Expires=clock.now() + 600 * SECOND), secret())
        renewed, _ = world.mail.add(token(clock, "fresh", life=600), secret())
        world.calendar.subscribe()
        world.process.send_signal(signal.SIGSTOP)
        clock.set(HOUR)
        world.calendar.start("read", generic())
        world.process.send_signal(signal.SIGCONT)
        refused("ItemNotFound", world.calendar.finish)
        told = sorted(world.calendar.next_signal() for _ in range(2))
        equal([one.name for one in told], ["ItemChanged", "RefreshNeeded"])
        equal(told[0].arguments[2:4], (reference, "removed"))
        equal(told[1].arguments[2], renewed)
        equal(world.mail.search(generic()), [])


@row(
    "B138-down",
    "a token",
    "its time passes while the broker is down",
    "gone, and no old token at the start",
)
def b138_down():
    with faults.clocked_world() as (world, clock):
        for name, accessible in (("f", "when-unlocked"), ("b", AFTER)):
            given = generic(Account=name, Accessible=accessible, Expires=clock.now() + 600 * SECOND)
            world.mail.add(given, secret())
        world.stop()
        clock.set(HOUR)
        world.start()
        world.unlock()
        for name in ("f", "b"):
            absent(world.mail, generic(Account=name))
        holds("fault" not in world.log().lower(), "the log has no fault")


def run(report):
    for one in TABLE.rows:
        report.play(one, one.play)
