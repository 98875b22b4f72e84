"""The shape of the work at scale, counted and never timed: what is read, derived and signalled."""

import os

from expect import NotHere, Table, equal, generic, holds, same_secret, secret
from hostile_connections import resident, well_behaved
from store_file import StoreFile

TABLE = Table()
row = TABLE.row
MANY = 3_000
DERIVATION_KIB = 64 << 10
IN_FLIGHT_KIB = 128 << 10


def fill(w, count, accessible="when-unlocked"):
    """Items of one service each under an account of its own, and some bytes of comment."""
    w.mail.add_many(
        [generic(Account=str(number), Comment="c" * 400, Accessible=accessible) for number in range(count)],
        secret("many"),
    )


def bytes_read(w):
    """What the broker's process has read so far, from sockets and files alike."""
    try:
        with open(f"/proc/{w.process.pid}/io") as counters:
            return int(counters.readline().split()[1])
    except PermissionError:
        raise NotHere(
            "the broker closes its /proc to its own user, so counting what it reads needs root"
        ) from None


@row("B143", "a program with 700 items", "it asks for all of them three times", "others are served meanwhile")
def b143(w):
    fill(w, 700)
    everything = {"Class": "generic-password"}
    for _ in range(3):
        w.mail.start("count_secrets", everything)
        well_behaved(w)
        equal(w.mail.finish(), 700)
    equal(len(w.calendar.search(everything)), 700)
    equal(len(w.calendar.search(everything | {"Limit": 10})), 10)


@row("B144", "one log-in", "61 connections, 119 sessions", "each is served, nothing is asked")
def b144(w):
    w.mail.add(generic(), secret())
    equal(w.calendar.open_many(w.address, generic(), 61, 119), 119)
    known = [client for client in w.admin.list_clients() if client["Application"] == "org.test.Calendar"]
    equal(len(known), 1, "the number of the program's connections that are left")


@row("B145", f"{MANY} items, a subscriber", "lock and unlock", "two signals, none for each item")
def b145(w):
    fill(w, MANY)
    w.calendar.subscribe()
    w.lock()
    w.unlock()
    equal([signal.name for signal in w.calendar.pending_signals()], ["LockStateChanged"] * 2)


@row(
    "B147",
    "a client that asks for 200 MiB",
    "and never reads its socket",
    "bounded; everybody else is served",
)
def b147(w):
    w.mail.add(generic(), bytes(1 << 20))
    before = resident(w)
    w.mail.start("ask_without_reading", w.address, generic(), 200)
    for _ in range(5):
        well_behaved(w)
    grown = resident(w) - before
    w.mail.finish()
    holds(grown < IN_FLIGHT_KIB, f"resident memory grew by less than {IN_FLIGHT_KIB} KiB (by {grown} KiB)")
    equal(w.user.property("State"), "unlocked")


@row("B149", f"{MANY} items", "look up 300, unlocked and locked", "each reads a small part of the store")
def b149(w):
    fill(w, MANY)
    fill_size = os.path.getsize(StoreFile.path(w.state))
    for locked in (False, True):
        if locked:
            w.lock()
        before = bytes_read(w)
        for number in range(0, MANY, MANY // 300):
            query = generic(Account=str(number), Label="none") if locked else generic(Account=str(number))
            equal(len(w.mail.search(query)), 0 if locked else 1)
        each = (bytes_read(w) - before) // 300
        holds(each * 20 < fill_size, f"a look-up reads {each} bytes of a store of {fill_size}")


@row("B150", "unlocked once", "100 reads", "no passcode is derived again: the memory for it is never taken")
def b150(w):
    w.mail.add(generic(), secret())
    w.lock()
    reset_peak(w)
    w.unlock()
    holds(peak(w) > resident(w) + DERIVATION_KIB // 2, "an unlock takes the memory of a derivation")
    reset_peak(w)
    base = peak(w)
    for _ in range(100):
        w.calendar.read(generic())
    holds(peak(w) < base + DERIVATION_KIB // 2, "reads do not")


def peak(w):
    """The most memory in KiB since `reset_peak`."""
    with open(f"/proc/{w.process.pid}/status") as status:
        (line,) = [line for line in status if line.startswith("VmHWM:")]
    return int(line.split()[1])


def reset_peak(w):
    try:
        with open(f"/proc/{w.process.pid}/clear_refs", "w") as file:
            file.write("5")
    except PermissionError:
        raise NotHere("resetting a process's peak of memory needs root here") from None


@row("B151", f"a store of {MANY} items", "restart, unlock, first read", "not every item is read for it")
def b151(w):
    fill(w, MANY, "after-first-unlock")
    # With its log in the file: a start reads what the log has, be it much or little.
    with StoreFile.stopped(w) as path:
        size = os.path.getsize(path)
    before = bytes_read(w)
    w.unlock()
    same_secret(w.mail.read(generic(Account="7")).secret, secret("many"))
    read = bytes_read(w) - before
    holds(read * 4 < size, f"unlock and the first read read {read} bytes of a store of {size}")


@row("B167", "a broker that starts on a large store", "calls come as soon as it has its name", "never absent")
def b167(w):
    fill(w, MANY)
    w.remove_passcode()
    query = generic(Account=str(MANY - 1))
    for _ in range(5):
        w.stop()
        w.mail.start("read_when_owned", query)
        w.start()
        same_secret(w.mail.finish(), secret("many"))
