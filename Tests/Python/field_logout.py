"""Logout leaves nothing, whatever the state and however many ask, and whoever held something learns of it."""

import contextlib

import faults
from expect import Table, equal, generic, holds, internet, refused, same_secret, secret
from harness import World
from policy import FOREIGN, ONE, TWO
from store_file import StoreFile

TABLE = Table()
row = TABLE.row
AFTER = "after-first-unlock"
# Every class that an item can be in, synchronizable too; none of the last is the service's.
CLASSES = ("when-unlocked", "when-unlocked-this-device-only", "when-passcode-set-this-device-only", AFTER)
CLASSES += ("after-first-unlock-this-device-only",)


def fill(w, service="s"):
    """Items of a service in every class and of both kinds; how many."""
    for accessible in CLASSES:
        w.mail.add(generic(Service=service, Account=accessible, Accessible=accessible), secret())
        w.mail.add(internet(Server=service, Account=accessible, Accessible=accessible), secret())
    for accessible in ("when-unlocked", AFTER):
        w.mail.add(
            generic(Service=service, Account=accessible, Accessible=accessible, Synchronizable=True), secret()
        )
    gate = ("when-unlocked", ["user-presence"])
    w.mail.add(generic(Service=service, Account="gated", AccessControl=gate), secret())
    return 2 * len(CLASSES) + 3


def left(w, service="s"):
    """What of a service can still be found."""
    both = ({"Class": "generic-password", "Service": service}, {"Class": "internet-password", "Server": service})
    wide = {"Synchronizable": "any", "SkipGated": True}
    return [found for query in both for found in w.mail.search(query | wide)]


def is_logged_out(subscriber, group, service, epoch, reason):
    signal = subscriber.next_signal()
    equal((signal.name, signal.arguments[1:]), ("LoggedOut", (group, service, epoch, reason)))


def pending(w, puppet):
    """What the manager sees of the puppet's logouts."""
    (found,) = [client for client in w.admin.list_clients() if client["ProcessID"] == puppet.process.pid]
    return found["PendingLogouts"]


@row("B130-group", "items of two services", "Logout with no service", "all of the group, none of another's")
def b130_group(w):
    count = fill(w) + fill(w, "other")
    w.mail.add(generic(AccessGroup=TWO), secret("two"))
    w.stranger.add(generic(), secret("foreign"))
    w.calendar.subscribe(ONE)
    deleted, epoch = w.mail.logout(ONE, "", "account removed")
    equal(deleted, count)
    is_logged_out(w.calendar, ONE, "", epoch, "account removed")
    equal(w.calendar.pending_signals(), [], "what else came")
    equal(left(w) + left(w, "other"), [item for item in left(w) if item["AccessGroup"] == TWO])
    same_secret(w.mail.read(generic(AccessGroup=TWO)).secret, secret("two"))
    same_secret(w.stranger.read(generic()).secret, secret("foreign"))
    equal(dict(w.admin.list_groups()).get(ONE, (0, 0)), (0, 0), "what the group holds")


@row(
    "B130-traces",
    "items of a service",
    "Logout; look into the file",
    "nothing of them but a tombstone each",
)
def b130_traces(w):
    with StoreFile.of(w) as store:
        others = rows_and_index(store.database)
    fill(w)
    reference, _ = w.mail.add(generic(Account="t", Synchronizable=True, Accessible=AFTER), secret())
    with StoreFile.of(w) as store:
        before = store.database.execute("SELECT count(*) FROM tombstones").fetchone()[0]
        pieces = store.pieces(reference)
        holds(pieces, "the item is in the file")
    w.mail.logout(ONE, "s", "")
    with StoreFile.stopped(w) as path, open(path, "rb") as file:
        content = file.read()
        equal([piece for piece in pieces[1:] if piece in content], [], "what is left in the file")
        with contextlib.closing(StoreFile(path).database) as database:
            (after,) = database.execute("SELECT count(*) FROM tombstones").fetchone()
            rows = rows_and_index(database)
    equal(after - before, 3, "the tombstones that came")
    equal(rows, others, "rows and their index, as they were before")


def rows_and_index(database):
    """How many there are, whose ever they are: programs of other rows may have left some in other groups."""
    return [
        database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("background_items", "foreground_items", "tokens", "primary_keys")
    ]


@row("B130-again", "a logout", "the same account again", "a new item: another reference, a higher revision")
def b130_again(w):
    for synchronizable in (False, True):
        given = generic(Accessible=AFTER, Synchronizable=synchronizable)
        reference, revision = w.mail.add(given, secret("old"))
        equal(w.mail.logout(ONE, "s", "")[0], 1)
        equal(left(w), [])
        again, later = w.mail.add(given, secret("new"))
        holds(again != reference and later > revision, "another reference and a higher revision")
        same_secret(w.mail.read(given).secret, secret("new"))
        refused("ItemNotFound", w.mail.read, {"Reference": reference})
        w.mail.delete(given)


@row("B131-states", "items in every class", "Logout unlocked and locked", "all of them at once, one signal")
def b131_states(w):
    for is_locked in (False, True):
        count = fill(w)
        w.mail.add(generic(Service="other", Accessible=AFTER), secret("other"))
        w.helper.subscribe(ONE)
        if is_locked:
            w.lock()
            equal(w.helper.next_signal().name, "LockStateChanged")
        deleted, epoch = w.mail.logout(ONE, "s", "signed out")
        equal(deleted, count, "what was deleted")
        is_logged_out(w.helper, ONE, "s", epoch, "signed out")
        equal(w.helper.pending_signals(), [], "what else came")
        same_secret(w.helper.read(generic(Service="other")).secret, secret("other"))
        w.helper.unsubscribe()
        w.unlock()
        equal(left(w), [])
        w.mail.delete(generic(Service="other"))


@row(
    "B131-first",
    "a start with a passcode",
    "Logout; kill -9; unlock",
    "signal and epoch at once, then deleted",
)
def b131_first(w):
    fill(w)
    w.mail.add(generic(Service="other"), secret("other"))
    w.restart()
    before = w.helper.subscribe(ONE)[1][ONE]
    for number, service in enumerate(("s", "nothing of this name"), 1):
        equal(w.mail.logout(ONE, service, "early"), (0, before + number), "what is deleted now, and the epoch")
        is_logged_out(w.helper, ONE, service, before + number, "early")
    # Kept in the store: neither the broker's end nor the unlocking by another process loses it.
    w.kill()
    w.start()
    state, epochs, _ = w.helper.subscribe(ONE)
    equal((state, epochs[ONE]), ("before-first-unlock", before + 2))
    w.unlock()
    equal(w.helper.next_signal().name, "LockStateChanged")
    equal(left(w), [])
    equal(w.helper.pending_signals(), [], "no second signal for the same logout")
    same_secret(w.mail.read(generic(Service="other")).secret, secret("other"))
    w.restart()
    w.unlock()
    equal(len(left(w, "other")), 1, "a logout is carried out once")


@row(
    "B131-many",
    "a service, subscribers",
    "eight programs log it out at once",
    "one finds the items; one signal",
)
def b131_many(w):
    with contextlib.ExitStack() as stack:
        puppets = [stack.enter_context(contextlib.closing(w.puppet("mail"))) for _ in range(8)]
        for is_locked in (False, True):
            count = fill(w)
            subscribers = (w.calendar, w.helper)
            for subscriber in subscribers:
                before = subscriber.subscribe(ONE)[1][ONE]
            if is_locked:
                w.lock()
            for puppet in puppets:
                puppet.start("logout", ONE, "s", "all at once")
            answers = sorted(puppet.finish() for puppet in puppets)
            equal(answers, [(0, before + 1)] * 7 + [(count, before + 1)], "the answers")
            for subscriber in subscribers:
                if is_locked:
                    equal(subscriber.next_signal().name, "LockStateChanged")
                is_logged_out(subscriber, ONE, "s", before + 1, "all at once")
                equal(subscriber.pending_signals(), [], "what else came")
                subscriber.unsubscribe()
            w.unlock()


@row("B131-racing", "writers of a service", "Logout amid their writes", "what is left was written after it")
def b131_racing(w):
    values = [secret("a"), secret("b")]
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(contextlib.closing(w.puppet("mail"))) for _ in range(3)]
        w.calendar.subscribe(ONE)
        for number, writer in enumerate(writers):
            writer.start("flip", generic(Account=str(number)), values, 40, "store")
        logouts = [w.mail.logout(ONE, "s", "") for _ in range(10)]
        for writer in writers:
            writer.finish()
        last = w.mail.logout(ONE, "s", "last")
    equal(left(w), [])
    # Signals tell the same story: no item that a logout took is said to be updated after it.
    there, epochs = set(), []
    for signal in w.calendar.pending_signals():
        if signal.name == "LoggedOut":
            there.clear()
            epochs.append(signal.arguments[3])
        elif signal.arguments[3] == "added":
            there.add(signal.arguments[2])
        else:
            holds(signal.arguments[2] in there, "an item that is updated is there")
    told = sorted({epoch for deleted, epoch in (*logouts, last) if deleted})
    equal(epochs, told, "an epoch for each logout that found something")


@row(
    "B131-asleep",
    "a subscriber that is gone",
    "two logouts, a restart; it comes back",
    "another epoch: it drops all",
)
def b131_asleep(w):
    sleeper = w.puppet("calendar")
    handled = sleeper.subscribe(ONE)[1][ONE]
    sleeper.close()
    for name in ("first", "second"):
        w.mail.add(generic(Service=name), secret())
        w.mail.logout(ONE, name, "")
    w.kill()
    w.start()
    with contextlib.closing(w.puppet("calendar")) as sleeper:
        state, epochs, sequence = sleeper.subscribe(ONE)
        equal((state, epochs[ONE], sequence), ("before-first-unlock", handled + 2, 0))
        # What it learns so it need not acknowledge.
        equal(pending(w, sleeper), 0)
    w.unlock()


@row(
    "B131-acknowledge",
    "subscribers, logouts",
    "Acknowledge, too late, twice, of an epoch to come",
    "they count down",
)
def b131_acknowledge(w):
    for puppet in (w.calendar, w.helper):
        before = puppet.subscribe(ONE)[1][ONE]
    for number in range(3):
        w.mail.add(generic(Accessible=AFTER), secret())
        equal(w.mail.logout(ONE, "s", ""), (1, before + number + 1))
    equal((pending(w, w.calendar), pending(w, w.helper)), (3, 3))
    refused("Param", w.calendar.acknowledge, ONE, before + 4)
    refused("MissingEntitlement", w.calendar.acknowledge, FOREIGN, 1)
    equal(pending(w, w.calendar), 3)
    for epoch, wanted in ((before + 1, 2), (before + 3, 0), (before + 2, 0), (before + 3, 0)):
        w.calendar.acknowledge(ONE, epoch)
        equal(pending(w, w.calendar), wanted, f"after the epoch {epoch - before}")
    equal(pending(w, w.helper), 3, "the other's")
    # A subscription that begins anew is told the epoch.
    w.helper.subscribe(ONE)
    equal(pending(w, w.helper), 0)
    w.stop()
    w.start()
    w.unlock()
    w.calendar.subscribe(ONE)
    equal(pending(w, w.calendar), 0, "after a restart")


@row("B131-force", "nothing of a service", "Logout; ForceLogout", "no epoch, no signal; both, and counted")
def b131_force(w):
    before = w.calendar.subscribe(ONE)[1][ONE]
    equal(w.mail.logout(ONE, "s", "nothing there"), (0, before))
    equal(w.admin.force_logout(ONE, "s", "by hand"), (0, 1, before + 1))
    is_logged_out(w.calendar, ONE, "s", before + 1, "by hand")
    equal(w.calendar.pending_signals(), [], "what else came")
    equal(pending(w, w.calendar), 1)
    refused("MissingEntitlement", w.mail.logout, FOREIGN, "s", "")
    refused("MissingEntitlement", w.stranger.logout, ONE, "s", "")
    refused("AccessDenied", w.mail.force_logout, ONE, "s", "")
    refused("TooLarge", w.mail.logout, ONE, "s", "r" * 1025)
    equal(w.helper.subscribe(ONE)[1][ONE], before + 1, "the epoch that another learns")


@row("B131-failing", "a disk that fails", "Logout", "IO: all items are there, no epoch, no signal")
def b131_failing(_):
    with faults.faulty_library() as library, World(passcode=False, preload=library) as world:
        count = len([world.mail.add(generic(Account=str(number)), secret()) for number in range(5)])
        before = world.calendar.subscribe(ONE)[1][ONE]
        with faults.fault(world, "sync"), faults.fault(world, "write"):
            refused("IO", world.mail.logout, ONE, "s", "")
            equal(len(left(world)), count)
        equal(world.calendar.subscribe(ONE)[1][ONE], before)
        equal(world.mail.logout(ONE, "s", "")[0], count)
        is_logged_out(world.calendar, ONE, "s", before + 1, "")
