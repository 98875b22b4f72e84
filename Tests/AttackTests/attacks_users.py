"""Two users on one broker of the system: neither sees, locks, logs out or slows the other."""

import contextlib
import os

from attributes import encode
from chatelaine_client import ITEMS, MANAGER, OBJECT
from connection import Connection
from expect import Table, equal, holds, refused, same_secret, secret
from scene import GROUP, PROGRAM, Scene, Session, item

TABLE = Table()
row = TABLE.row
NO_SUCH = "org.freedesktop.DBus.Error.UnknownMethod"
PASSCODES = b"passcode-of-the-one", b"passcode-of-the-other"


@contextlib.contextmanager
def two(w):
    """The honest program, run by the one user and by another: two clients."""
    with Session("bob") as bob:
        other = Scene(w.mode, bob)
        with w.running(PROGRAM) as one, other.running(PROGRAM) as another:
            yield one, another


@row(
    "A45",
    "two users' items of one program",
    "each reads, lists, deletes, guesses references",
    "only their own",
)
def a45(w):
    with two(w) as (one, another):
        reference, _, _ = one.store(item(), secret("one"))
        refused("ItemNotFound", another.read, item())
        refused("ItemNotFound", another.read, {"Reference": reference})
        refused("ItemNotFound", another.delete, {"Reference": reference})
        equal(another.search({"Class": "generic-password"}), [])
        another.store(item(), secret("another"))
        same_secret(one.read(item()).secret, secret("one"))
        same_secret(another.read(item()).secret, secret("another"))
        equal(another.delete(item()), 1)
        same_secret(one.read(item()).secret, secret("one"))
        one.delete(item())


@row(
    "A46",
    "two users' programs that hold items",
    "the one logs out, and subscribes",
    "the other hears nothing",
)
def a46(w):
    with two(w) as (one, another):
        one.store(item(), secret("one"))
        another.store(item(), secret("another"))
        one.subscribe(GROUP)
        epoch = another.subscribe(GROUP)[1][GROUP]
        equal(one.logout(GROUP, "", "over")[0], 1)
        equal(one.next_signal().name, "LoggedOut")
        equal(another.pending_signals(), [], "what the other hears")
        equal(another.subscribe(GROUP)[1][GROUP], epoch, "the other's epoch")
        same_secret(another.read(item()).secret, secret("another"))
        another.delete(item())


@row(
    "A47",
    "two users' keychains with passcodes",
    "the one locks, and guesses passcodes",
    "the other is unlocked",
)
def a47(w):
    with two(w) as (one, another):
        for client, passcode in zip((one, another), PASSCODES):
            client.set_passcode(b"", passcode)
            client.unlock(passcode)
        another.store(item(), secret("another"))
        one.lock()
        equal((one.property("State"), another.property("State")), ("locked", "unlocked"))
        # A wrong one is answered late; meanwhile the other is served, and may unlock.
        one.start("unlock", b"wrong")
        another.lock()
        another.unlock(PASSCODES[1])
        same_secret(another.read(item()).secret, secret("another"))
        refused("AuthFailed", one.finish)
        refused("AuthFailed", one.unlock, PASSCODES[1])
        one.unlock(PASSCODES[0])
        for client, passcode in zip((one, another), PASSCODES):
            client.remove_passcode(passcode)
        another.delete(item())


@row(
    "A48",
    "a user's own object on the broker",
    "another user calls it; root does",
    "AccessDenied; root manages it",
)
def a48(w):
    with two(w) as (one, another):
        one.store(item(), secret("one"))
        path = f"{OBJECT}/user/{w.user.entry.pw_uid}"
        for member, signature, body in (
            ("Lock", None, ()),
            ("ListGroups", None, ()),
            ("ListClients", None, ()),
            ("Check", None, ()),
            ("ForceLogout", "sss", (GROUP, "", "forged")),
        ):
            refused("AccessDenied", another.raw_call, path, MANAGER, member, signature, body)
        same_secret(one.read(item()).secret, secret("one"))
        connection = Connection(w.address)
        try:
            (groups,) = connection.call(path, MANAGER, "ListGroups")
            holds(GROUP in [group for group, _, _ in groups], "root sees the user's groups")
            deleted, _, _ = connection.call(path, MANAGER, "ForceLogout", "sss", (GROUP, "", "by root"))
            equal(deleted, 1, "what root deletes")
        finally:
            connection.close()
        refused("ItemNotFound", one.read, item())


@row(
    "A49",
    "root, and the files of a store",
    "root asks as a client; a user looks at the files",
    "no item; refused",
)
def a49(w):
    with two(w) as (one, _):
        reference, _, _ = one.store(item(), secret("one"))
        with w.running(PROGRAM, by=["env"]) as root:
            # It has a keychain of its own, and of the user's the manager alone.
            refused("ItemNotFound", root.read, item())
            refused("ItemNotFound", root.read, {"Reference": reference})
            path, body = f"{OBJECT}/user/{w.user.entry.pw_uid}", (encode(item()),)
            refused(NO_SUCH, root.raw_call, path, ITEMS, "Search", "a{sv}", body)
        for place in ("/var/lib/chatelaine", "/etc/chatelaine/device.key"):
            holds(os.path.exists(place), f"{place} is there")
            holds(w.user.run("head", "-c1", place).returncode != 0, f"the user cannot read {place}")
            holds(w.user.run("ls", place + "/").returncode != 0, f"the user cannot list {place}")
        one.delete(item())
