"""S137 to S167: damaged rows and files, synchronizable items, signals, two writers at once."""

import os

import faults
from expect import ANY, Table, by_reference, equal, generic, holds, refused, same_secret, secret, without
from harness import World
from policy import ONE
from store_file import StoreFile

TABLE = Table()
row = TABLE.row
SERVICE = without(generic(), "Account")
ATTRIBUTES, SECRET = "attributes", "secret"


def damaged(world, *columns, **attributes):
    """An item of which the columns are damaged on the disk; its reference."""
    reference, _ = world.mail.add(generic(**attributes), secret("damaged"))
    with StoreFile.of(world) as store:
        for column in columns:
            store.flip(reference, column)
    return reference


@row("S137", "a damaged row", "Read", "Decode; the row stays and Check lists it (K22)")
def s137(w):
    reference = damaged(w, SECRET)
    equal(refused("Decode", w.mail.read, generic()).code, -26275)
    equal(w.damaged_rows(), 1, "the number of damaged rows that Check counts")
    with StoreFile.of(w) as store:
        holds(store.has(reference), "the row is still there")


@row("S138", "a damaged row", "Add the same key", "stored")
def s138(w):
    damaged(w, ATTRIBUTES, SECRET)
    w.mail.add(generic(), secret("new"))
    same_secret(w.mail.read(generic()).secret, secret("new"))
    equal(len(w.mail.search(generic())), 1)


@row("S139", "a damaged row", "Update it; Delete it", "Decode (K17); deleted")
def s139(w):
    damaged(w, ATTRIBUTES, SECRET)
    refused("Decode", w.mail.update, generic(), {"Comment": "c"})
    equal(w.mail.delete(generic()), 1)
    refused("ItemNotFound", w.mail.read, generic())


@row("S140", "a good row and a damaged one", "ReadAll; Read", "the good one; the next one (K16)")
def s140(w):
    damaged(w, ATTRIBUTES, SECRET)
    w.mail.add(generic(Account="good"), secret("good"))
    (found,) = w.mail.read_all(SERVICE)
    same_secret(found.secret, secret("good"))
    same_secret(w.mail.read(SERVICE).secret, secret("good"))


@row("S141", "the sealed secrets of two rows swapped", "Read either", "Decode, never the other's secret")
def s141(w):
    references = [w.mail.add(generic(Account=name), secret(name))[0] for name in "ab"]
    with StoreFile.of(w) as store:
        store.swap(*references, SECRET)
    for name in "ab":
        refused("Decode", w.mail.read, generic(Account=name))


@row("S143", "a first Add of a class that fails", "Add again, start anew, unlock", "stored and readable")
def s143(_):
    with World() as world:
        protection = "when-passcode-set-this-device-only"
        refused("TooLarge", world.mail.add, generic(Accessible=protection), bytes((1 << 20) + 1))
        refused("NoSuchAttribute", world.mail.add, generic(Accessible=protection, Colour="red"), secret())
        world.mail.add(generic(Accessible=protection), secret())
        world.restart()
        world.unlock()
        same_secret(world.mail.read(generic()).secret, secret())


@row("S144", "the store's file unreadable", "Read, Add; then readable again", "NotAvailable; then as before")
def s144(_):
    with World(passcode=False, wrap=faults.without_capabilities()) as world:
        world.mail.add(generic(), secret())
        world.stop()
        path = StoreFile.path(world.state)
        os.chmod(path, 0)
        world.start()
        equal(refused("NotAvailable", world.mail.read, generic()).code, -25291)
        refused("NotAvailable", world.mail.add, generic(Account="b"), secret())
        os.chmod(path, 0o600)
        same_secret(world.mail.read(generic()).secret, secret())
        world.mail.add(generic(Account="b"), secret())


@row(
    "S145",
    "the store's file overwritten with junk",
    "Read; start anew",
    "NotAvailable, the file left alone (K23)",
)
def s145(_):
    with World(passcode=False) as world:
        world.mail.add(generic(), secret())
        with StoreFile.stopped(world) as path:
            junk = os.urandom(os.path.getsize(path))
            faults.overwrite(path, junk)
        for _ in range(2):
            refused("NotAvailable", world.mail.read, generic())
            refused("NotAvailable", world.mail.add, generic(Account="b"), secret())
            holds(faults.content(path) == junk, "the file's bytes are as they were")
            world.restart()


@row("S146", "the store's disk read-only", "Add; then writable again", "ReadOnly; then stored")
def s146(_):
    with faults.small_disk() as disk, World(passcode=False, state=disk.state) as world:
        world.mail.add(generic(), secret())
        world.stop()
        disk.remount("ro")
        world.start()
        equal(refused("ReadOnly", world.mail.add, generic(Account="b"), secret()).code, -25292)
        world.stop()
        disk.remount("rw")
        world.start()
        world.mail.add(generic(Account="b"), secret())
        same_secret(world.mail.read(generic()).secret, secret())


@row("S147", "a row whose sealed secret is damaged", "Search", "its attributes: no secret is opened")
def s147(w):
    reference = damaged(w, SECRET, Label="l")
    equal([found["Label"] for found in w.mail.search(generic())], ["l"])
    refused("Decode", w.mail.read, by_reference(reference))


@row("S148", "new class keys, by removing the passcode and setting one", "Read old and new items", "readable")
def s148(w):
    w.mail.add(generic(Account="old"), secret("old"))
    w.mail.add(generic(Account="background", Accessible="after-first-unlock"), secret("background"))
    w.remove_passcode()
    w.mail.add(generic(Account="new"), secret("new"))
    w.set_passcode()
    w.restart()
    w.unlock()
    for name in ("old", "background", "new"):
        same_secret(w.mail.read(generic(Account=name)).secret, secret(name), name)


@row(
    "S149", "a synchronizable item", "Read without the key, with true, with any", "ItemNotFound; found; found"
)
def s149(w):
    w.mail.add(generic(Synchronizable=True), secret())
    refused("ItemNotFound", w.mail.read, generic())
    for wanted in (True, ANY):
        same_secret(w.mail.read(generic(Synchronizable=wanted)).secret, secret())


@row(
    "S150",
    "a local item and its synchronizable twin",
    "ReadAll any; Delete true",
    "both; the local one stays",
)
def s150(w):
    w.mail.add(generic(), secret("local"))
    w.mail.add(generic(Synchronizable=True), secret("synchronizable"))
    equal(len(w.mail.read_all(generic(Synchronizable=ANY))), 2)
    equal(w.mail.delete(generic(Synchronizable=True)), 1)
    (found,) = w.mail.read_all(generic(Synchronizable=ANY))
    same_secret(found.secret, secret("local"))


@row("S153", "a deleted synchronizable item", "Add the same", "one live item")
def s153(w):
    w.mail.add(generic(Synchronizable=True), secret("old"))
    equal(w.mail.delete(generic(Synchronizable=True)), 1)
    equal(w.mail.search(generic(Synchronizable=ANY)), [])
    w.mail.add(generic(Synchronizable=True), secret("new"))
    (found,) = w.mail.read_all(generic(Synchronizable=ANY))
    same_secret(found.secret, secret("new"))


@row("S154", "an empty store", "Add a synchronizable this-device-only item", "Param (K3)")
def s154(w):
    for accessible in ("when-unlocked", "after-first-unlock"):
        refused(
            "Param",
            w.mail.add,
            generic(Synchronizable=True, Accessible=accessible + "-this-device-only"),
            secret(),
        )


@row("S164", "a subscriber", "another program adds", "one signal, entitled groups only, no attribute")
def s164(w):
    for puppet in (w.calendar, w.stranger):
        puppet.subscribe()
    reference, revision = w.mail.add(generic(), secret())
    signal = w.calendar.next_signal()
    equal(signal.name, "ItemChanged")
    equal(signal.arguments[1:], (ONE, reference, "added", revision))
    equal(w.stranger.pending_signals(), [])


@row("S165", "a subscriber", "20 adds", "20 signals in commit order, the sequence without a gap")
def s165(w):
    sequence = w.calendar.subscribe()[2]
    added = [w.mail.add(generic(Account=str(number)), secret()) for number in range(20)]
    signals = [w.calendar.next_signal() for _ in added]
    equal([(signal.arguments[2], signal.arguments[4]) for signal in signals], added)
    equal(
        [signal.arguments[0] for signal in signals], list(range(sequence + 1, sequence + 21)), "the sequence"
    )


@row("S166", "a subscriber, an item", "an Add that fails", "no signal")
def s166(w):
    w.mail.add(generic(), secret())
    w.calendar.subscribe()
    refused("DuplicateItem", w.mail.add, generic(), secret())
    reference, _ = w.mail.add(generic(Account="b"), secret())
    equal(w.calendar.next_signal().arguments[2], reference, "the first signal's reference")


@row("S167", "an empty store", "two processes add the same key at once", "one stored, one DuplicateItem")
def s167(w):
    for puppet in (w.mail, w.calendar):
        puppet.start("add", generic(), secret())
    outcomes = []
    for puppet in (w.mail, w.calendar):
        try:
            puppet.finish()
            outcomes.append("stored")
        except Exception as error:  # BrokerError has a name, all else is shown by its type
            outcomes.append(getattr(error, "name", type(error).__name__))
    equal(sorted(outcomes), ["DuplicateItem", "stored"])
