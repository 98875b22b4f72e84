"""S115 and S168: a store that a broker made which knew no items of org.freedesktop.secrets."""

import contextlib
import sqlite3

from expect import Table, equal, generic, refused, same_secret, secret
from harness import World
from store_file import StoreFile

TABLE = Table()
row = TABLE.row
FOREGROUND = generic(Account="front", Accessible="when-unlocked")
LOGIN = "/org/freedesktop/secrets/collection/login"


def version(world):
    with contextlib.closing(sqlite3.connect(StoreFile.path(world.state))) as database:
        return database.execute("PRAGMA user_version").fetchone()[0]


@contextlib.contextmanager
def old_store():
    """A world with two items, whose broker was started on the store as the first release would have left it."""
    # org.freedesktop.secrets is on the bus alone.
    with World(direct=False) as world:
        world.mail.add(generic(), secret("background"))
        world.mail.add(FOREGROUND, secret("foreground"))
        with StoreFile.stopped(world) as path:
            store = StoreFile(path)
            store.become_first()
            store.database.close()
        equal(version(world), 1, "the version of the old store")
        yield world


def whole(world):
    same_secret(world.mail.read(generic()).secret, secret("background"))
    same_secret(world.mail.read(generic(Account="front")).secret, secret("foreground"))


def secrets(world, path, interface, member, signature, body):
    address = {"to": "org.freedesktop.secrets"}
    return world.user.connection.call(
        path, f"org.freedesktop.{interface}", member, signature, body, **address
    )


def keep(world):
    """What a program does that knows nothing of this broker; the path of its item."""
    _, session = secrets(
        world, "/org/freedesktop/secrets", "Secret.Service", "OpenSession", "sv", ("plain", ("s", ""))
    )
    properties = {
        "org.freedesktop.Secret.Item.Label": ("s", "kept"),
        "org.freedesktop.Secret.Item.Attributes": ("a{ss}", {"user": "me"}),
    }
    body = (properties, (session, b"", secret("kept"), "text/plain"), True)
    item, _ = secrets(world, LOGIN, "Secret.Collection", "CreateItem", "a{sv}(oayays)b", body)
    return item


def found(world):
    return secrets(world, LOGIN, "Secret.Collection", "SearchItems", "a{ss}", ({"user": "me"},))[0]


@row(
    "S115",
    "a store of the first version, locked",
    "any query; unlock; a program stores by org.freedesktop.secrets",
    "-25308; nothing is lost, and the version is raised by what an older broker would lose",
)
def s115(_):
    with old_store() as w:
        for query in (generic(), FOREGROUND):
            equal(refused("InteractionNotAllowed", w.mail.read, query).code, -25308)
            refused("InteractionNotAllowed", w.mail.search, query)
        w.unlock()
        whole(w)
        w.mail.add(generic(Account="new"), secret("new"))
        equal(version(w), 1, "the version after a call of the contract")
        item = keep(w)
        equal(version(w), 2, "the version with the first item of org.freedesktop.secrets")
        whole(w)
        w.restart()
        w.unlock()
        whole(w)
        equal(found(w), [item])


@row(
    "S168",
    "a store of the first version with a damaged row, unlocked",
    "open it, store by org.freedesktop.secrets",
    "the version is raised, the other rows are intact, and the damaged one stays",
)
def s168(_):
    with old_store() as w:
        w.unlock()
        reference, _ = w.mail.add(generic(Account="damaged"), secret("damaged"))
        with StoreFile.of(w) as store:
            store.flip(reference, "attributes")
        item = keep(w)
        equal(version(w), 2)
        whole(w)
        equal(found(w), [item])
        refused("Decode", w.mail.read, generic(Account="damaged"))
        equal(w.damaged_rows(), 1)
