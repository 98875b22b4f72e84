"""`FreshUntil` and `RefreshNeeded`: told when its time comes, once, to whoever can do something about it."""

import contextlib
import sqlite3

import faults
from expect import Table, by_reference, equal, generic, holds, same_secret, secret
from policy import ONE, TWO
from store_file import StoreFile

TABLE = Table()
row = TABLE.row
SECOND = 1_000_000
AFTER = "after-first-unlock"
LIFE = 1000
# It goes out at 75 to 90 percent of the life.
TOO_EARLY, LATE = 740, 910
MANY = 10_000


def token(clock, account="a", *, life=LIFE, **more):
    """An item's attributes that should be renewed so long after now."""
    return generic(Account=account, Accessible=AFTER, FreshUntil=clock.now() + life * SECOND, **more)


def marker(world, clock, account, *, after):
    """Expires then: its removal tells that the broker has looked at the clock."""
    expires = clock.now() + after * SECOND
    return world.mail.add(generic(Account=account, Accessible=AFTER, Expires=expires), secret())[0]


def is_needed(subscriber, reference, group=ONE):
    signal = subscriber.next_signal()
    equal((signal.name, signal.arguments[1:]), ("RefreshNeeded", (group, reference)))


def is_removed(subscriber, reference):
    signal = subscriber.next_signal()
    equal((signal.name, signal.arguments[2:4]), ("ItemChanged", (reference, "removed")))


@row(
    "RN01",
    "a token, subscribers",
    "its time comes",
    "one signal to each at 75 to 90 percent; it can be read",
)
def rn01():
    with faults.clocked_world(passcode=False) as (world, clock):
        reference, _ = world.mail.add(token(clock), secret())
        early = marker(world, clock, "early", after=TOO_EARLY - 1)
        for subscriber in (world.calendar, world.helper):
            subscriber.subscribe()
        world.stranger.subscribe()
        clock.set(TOO_EARLY)
        for subscriber in (world.calendar, world.helper):
            is_removed(subscriber, early)
        clock.set(LATE)
        for subscriber in (world.calendar, world.helper):
            is_needed(subscriber, reference)
        found = world.calendar.read(generic())
        same_secret(found.secret, secret())
        last = marker(world, clock, "last", after=3000)
        clock.set(LATE + 4000)
        for subscriber in (world.calendar, world.helper):
            equal(subscriber.next_signal().arguments[2:4], (last, "added"), "what comes next")
            is_removed(subscriber, last)
        same_secret(world.calendar.read(generic()).secret, secret(), "the secret long after its FreshUntil")
        equal(world.calendar.read(generic()).attributes["Revision"], found.attributes["Revision"])
        equal(world.stranger.pending_signals(), [], "what another group's program hears")


@row(
    "RN02",
    "a token that was told of",
    "Store, Update, a Store without FreshUntil",
    "each revision in its time",
)
def rn02():
    with faults.clocked_world(passcode=False) as (world, clock):
        reference, _ = world.mail.add(token(clock), secret())
        world.calendar.subscribe()
        clock.set(LATE)
        is_needed(world.calendar, reference)
        world.mail.store(token(clock), secret("second"))
        equal(world.calendar.next_signal().arguments[2:4], (reference, "updated"))
        second = marker(world, clock, "second", after=TOO_EARLY - 1)
        world.calendar.next_signal()
        clock.set(LATE + TOO_EARLY)
        is_removed(world.calendar, second)
        clock.set(2 * LATE)
        is_needed(world.calendar, reference)
        # Past its FreshUntil, which an update keeps.
        clock.set(3 * LATE)
        world.mail.update(generic(), {"Comment": "c"})
        equal(world.calendar.next_signal().arguments[2:4], (reference, "updated"))
        is_needed(world.calendar, reference)
        world.mail.store(generic(Accessible=AFTER), secret("third"))
        last = marker(world, clock, "last", after=10 * LIFE)
        clock.set(20 * LIFE)
        for change in ((reference, "updated"), (last, "added")):
            equal(world.calendar.next_signal().arguments[2:4], change)
        is_removed(world.calendar, last)


@row(
    "RN03",
    "tokens of both vaults, locked",
    "their time comes; unlock",
    "background at once, foreground then",
)
def rn03():
    with faults.clocked_world() as (world, clock):
        background, _ = world.mail.add(token(clock, "b"), secret())
        foreground, _ = world.mail.add(token(clock, "f") | {"Accessible": "when-unlocked"}, secret())
        for subscriber in (world.calendar, world.helper):
            subscriber.subscribe()
        world.lock()
        clock.set(LATE)
        for subscriber in (world.calendar, world.helper):
            equal(subscriber.next_signal().name, "LockStateChanged")
            is_needed(subscriber, background)
        world.unlock()
        for subscriber in (world.calendar, world.helper):
            equal(subscriber.next_signal().name, "LockStateChanged")
        is_needed(world.calendar, foreground)
        last = marker(world, clock, "last", after=LIFE)
        clock.set(3 * LIFE)
        for subscriber in (world.calendar, world.helper):
            equal(subscriber.next_signal().arguments[2:4], (last, "added"), "what comes next")
            is_removed(subscriber, last)


@row(
    "RN04",
    "a token, nobody who listens",
    "its time comes; two subscribe",
    "the first is told, not the second",
)
def rn04():
    with faults.clocked_world(passcode=False) as (world, clock):
        past, _ = world.mail.add(token(clock, "past"), secret())
        other, _ = world.mail.add(token(clock, "other", AccessGroup=TWO), secret())
        clock.set(LATE)
        world.calendar.subscribe()
        is_needed(world.calendar, past)
        world.mail.subscribe(ONE)
        last = marker(world, clock, "last", after=LIFE)
        clock.set(3 * LIFE)
        for subscriber in (world.calendar, world.mail):
            equal(subscriber.next_signal().arguments[2:4], (last, "added"), "what comes next")
            is_removed(subscriber, last)
        world.mail.subscribe(ONE, TWO)
        is_needed(world.mail, other, TWO)


@row(
    "RN05",
    "a token whose time comes while the broker is down",
    "it starts; first unlock",
    "told after that",
)
def rn05():
    with faults.clocked_world() as (world, clock):
        reference, _ = world.mail.add(token(clock), secret())
        world.stop()
        clock.set(LATE)
        world.start()
        world.calendar.subscribe()
        world.unlock()
        equal(world.calendar.next_signal().arguments[1], "unlocked")
        is_needed(world.calendar, reference)
        world.remove_passcode()
        world.restart()
        world.calendar.subscribe()
        is_needed(world.calendar, reference)


@row("RN06", f"{MANY} tokens", "the time of all comes at once", "each is told once, and others are served")
def rn06():
    with faults.clocked_world(passcode=False) as (world, clock):
        world.mail.add_many([token(clock, str(number)) for number in range(MANY)], secret())
        wanted = {found["Reference"] for found in world.mail.search({"Class": "generic-password"})}
        equal(len(wanted), MANY)
        world.calendar.subscribe()
        world.calendar.start("next_signals", MANY)
        clock.set(LATE)
        for _ in range(20):
            world.helper.read(generic(Account="7"))
        got = world.calendar.finish()
        equal({name for name, _ in got}, {"RefreshNeeded"}, "the signals")
        equal([sequence for _, (sequence, _, _) in got], list(range(1, MANY + 1)), "the sequence")
        holds({reference for _, (_, _, reference) in got} == wanted, "every token is told of once")
        equal(world.calendar.pending_signals(), [], "what else came")


@row("RN07", "a token that was told of", "the clock is set back and comes again", "not told again")
def rn07():
    with faults.clocked_world(passcode=False) as (world, clock):
        reference, _ = world.mail.add(token(clock), secret())
        later, _ = world.mail.add(token(clock, "later", life=3 * LIFE), secret())
        world.calendar.subscribe()
        clock.set(LATE)
        is_needed(world.calendar, reference)
        # Not behind the items' Modified.
        clock.set(10)
        fresh, _ = world.mail.add(token(clock, "fresh", life=LIFE // 2), secret())
        equal(world.calendar.next_signal().arguments[2:4], (fresh, "added"))
        clock.set(LATE)
        is_needed(world.calendar, fresh)
        clock.set(3 * LATE)
        is_needed(world.calendar, later)


@row("RN08", "a store without the index", "a start", "the index is there, and the token is told of")
def rn08():
    with faults.clocked_world(passcode=False) as (world, clock):
        reference, _ = world.mail.add(token(clock), secret())

        def indexes(path, statement):
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
                return [name for (name,) in database.execute(statement)]

        listed = "SELECT name FROM sqlite_master WHERE name LIKE '%_items_renewal' ORDER BY name"
        with StoreFile.stopped(world) as path:
            names = indexes(path, listed)
            equal(names, ["background_items_renewal", "foreground_items_renewal"])
            for name in names:
                indexes(path, f"DROP INDEX {name}")
            clock.set(LATE)
        world.calendar.subscribe()
        is_needed(world.calendar, reference)
        with StoreFile.stopped(world) as path:
            equal(indexes(path, listed), names)


@row(
    "RN09",
    "tokens",
    "deleted, expired or moved before their time",
    "nothing of what is gone; the new group",
)
def rn09():
    with faults.clocked_world(passcode=False) as (world, clock):
        deleted, _ = world.mail.add(token(clock, "deleted"), secret())
        moved, _ = world.mail.add(token(clock, "moved"), secret())
        expired, _ = world.mail.add(token(clock, "expired", Expires=clock.now() + 700 * SECOND), secret())
        world.mail.delete(by_reference(deleted))
        world.mail.update(by_reference(moved), {"AccessGroup": TWO})
        world.calendar.subscribe()
        world.mail.subscribe(TWO)
        clock.set(LATE)
        is_removed(world.calendar, expired)
        is_needed(world.mail, moved, TWO)
        equal(world.calendar.pending_signals(), [], "what else came")


def run(report):
    for one in TABLE.rows:
        report.play(one, one.play)
