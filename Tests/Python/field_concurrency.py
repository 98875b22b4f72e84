"""Many at once: no reader sees a moment between two states, no writer undoes another's work unknowingly."""

import contextlib

from chatelaine_client import ITEMS
from expect import Table, by_reference, equal, generic, holds, refused, same_secret, secret
from hostile_raw import Raw
from sessions import ENCRYPTED, EncryptedSession

TABLE = Table()
row = TABLE.row
FLIPS, CROWD = 2_000, 24


@contextlib.contextmanager
def puppets(w, *identities):
    started = [w.puppet(identity) for identity in identities]
    try:
        yield started
    finally:
        for puppet in started:
            puppet.close()


def flipped(w, values, flips, write="store"):
    """A writer flips an item between the values, a reader looks meanwhile: what the reader saw."""
    w.mail.store(generic(), values[0])
    with puppets(w, "mail", "calendar") as (writer, reader):
        writer.start("flip", generic(), list(values), flips, write)
        reader.start("watch_values", generic(), flips)
        writer.finish()
        return reader.finish()


@row(
    "B073",
    "a writer that flips an item 2,000 times",
    "a reader looks meanwhile",
    "the one or the other, whole",
)
def b073(w):
    values = (secret("val"), secret("valNew") * 100)
    for write in ("store", "update"):
        seen = flipped(w, values, FLIPS // 2, write)
        equal(set(seen) - {values[0].hex(), values[1].hex()}, set(), "what else the reader saw")
        equal(len(seen), 2, "the number of values that the reader saw")


@row("B075", "two items", "two programs delete one each at once", "both succeed")
def b075(w):
    for _ in range(20):
        for name in "ab":
            w.mail.add(generic(Account=name), secret())
        w.mail.start("delete", generic(Account="a"))
        w.calendar.start("delete", generic(Account="b"))
        equal((w.mail.finish(), w.calendar.finish()), (1, 1))


@row(
    "B077", "two programs that write one item", "the one deletes what it thinks is stale", "RevisionMismatch"
)
def b077(w):
    _, first, _ = w.mail.store(generic(), secret("v1"))
    _, second, _ = w.calendar.store(generic(), secret("v2"))
    error = refused("RevisionMismatch", w.mail.delete, generic(IfRevision=first))
    equal(error.revision, second)
    same_secret(w.mail.read(generic()).secret, secret("v2"))
    equal(w.mail.delete(generic(IfRevision=second)), 1)
    # A revision never comes again for this key, so the stale one cannot fit by accident.
    _, third, _ = w.mail.store(generic(), secret("v3"))
    holds(third > second, "the revision of the item added again is higher")
    refused("RevisionMismatch", w.mail.store, generic(IfRevision=first), secret())
    refused("RevisionMismatch", w.mail.store, generic(IfRevision=0), secret())


@row("B079", "an item that is read in a loop", "Store over it", "no DuplicateItem, no gap; Created kept")
def b079(w):
    w.mail.add(generic(Comment="c"), secret("0"))
    created = w.mail.read(generic()).attributes["Created"]
    seen = flipped(w, [secret(str(number)) for number in range(10)], 200)
    equal(set(seen) <= {secret(str(number)).hex() for number in range(10)}, True, "that only whole values")
    found = w.mail.read(generic()).attributes
    equal(found["Created"], created)
    holds("Comment" not in found, "what a Store does not give is gone")


@row(
    "B080",
    "two writers of values of 1,200 and 1,198 bytes",
    "kill one of them at some time",
    "one of the two",
)
def b080(w):
    values = {b"a" * 1200, b"b" * 1198}
    for _ in range(6):
        writers = [w.puppet("mail"), w.puppet("calendar")]
        for writer, value in zip(writers, sorted(values)):
            writer.start("flip", generic(), [value], 400, "store")
        w.mail.subscribe()
        for _ in range(100):
            w.mail.next_signal()
        writers[0].kill()
        writers[1].finish()
        writers[1].close()
        w.mail.unsubscribe()
        w.mail.pending_signals()
        holds(w.mail.read(generic()).secret in values, "the value is one of the two, whole")


@row(
    "B082",
    "a broker that has just started",
    "500 clients OpenSession and drop",
    "others are served; none left",
)
def b082(w):
    w.mail.add(generic(), secret())
    w.restart()
    for number in range(500):
        raw = Raw(w.address)
        raw.send(raw.message(ITEMS, "OpenSession", "sv", (ENCRYPTED, EncryptedSession().input)))
        raw.close()
        if number == 250:
            w.unlock()
            same_secret(w.calendar.read(generic()).secret, secret())
    same_secret(w.calendar.read(generic()).secret, secret())
    known = {client["Connection"] for client in w.admin.list_clients()}
    names = set(w.watch.bus_call("ListNames")[0])
    equal(known - names, set(), "clients that are listed and gone")


@row("B084", "20 Stores of one key at once", "read; restart; read", "one item, one of the 20 values")
def b084(w):
    values = {name: secret(name) for name in (f"value{number}" for number in range(20))}
    with puppets(w, *["mail", "calendar"] * 10) as writers:
        for writer, value in zip(writers, values.values()):
            writer.start("store", generic(), value)
        answers = [writer.finish() for writer in writers]
    equal(len({reference for reference, _, _ in answers}), 1, "the number of references")
    equal(sum(created for _, _, created in answers), 1, "how many created it")
    equal(len({revision for _, revision, _ in answers}), 20, "the number of revisions")
    (found,) = w.mail.read_all(generic())
    holds(found.secret in values.values(), "the value is one of the 20")
    equal(
        found.attributes["Revision"], max(revision for _, revision, _ in answers), "the last one's revision"
    )
    w.restart()
    w.unlock()
    (again,) = w.mail.read_all(generic())
    same_secret(again.secret, found.secret)


@row("B086", f"{CROWD} programs that read", "one writes without a pause", "no call is refused")
def b086(w):
    values = [secret(str(number)) for number in range(4)]
    w.mail.store(generic(), values[0])
    with puppets(w, *["calendar"] * CROWD) as readers:
        for reader in readers:
            reader.start("watch_values", generic(), 100)
        w.mail.flip(generic(), values, 500, "store")
        for reader in readers:
            equal(set(reader.finish()) <= {value.hex() for value in values}, True, "that only whole values")


@row(
    "B140",
    "a program that holds a token",
    "another renews it",
    "a signal with the revision; the old one fails",
)
def b140(w):
    reference, first, _ = w.mail.store(generic(), secret("RT1"))
    w.calendar.subscribe()
    second = w.mail.store(generic(IfRevision=first), secret("RT2"))[1]
    signal = w.calendar.next_signal()
    equal((signal.name, signal.arguments[2:]), ("ItemChanged", (reference, "updated", second)))
    error = refused("RevisionMismatch", w.calendar.update, generic(), {"IfRevision": first}, secret("RT1b"))
    equal(error.revision, second)
    same_secret(w.calendar.read(by_reference(reference)).secret, secret("RT2"))
