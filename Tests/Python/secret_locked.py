"""Locked: before the first unlock, by a client's Lock, by the device. Locked is never 'nothing'."""

from expect import Table, equal, holds, refused, same_secret, secret
from programs import Programs
from secret_stage import NEVER, attributes, members
from secret_words import (
    COLLECTION,
    DEFAULT,
    IS_LOCKED,
    ITEM,
    LOGIN,
    NO_OBJECT,
    ROOT,
    SERVICE,
    SESSION_COLLECTION,
)

TABLE = Table()
row = TABLE.row


@row(
    "SL01",
    "a start with a passcode",
    "list, search, read, write",
    "collections, locked; IsLocked, never 'nothing'",
)
def before_first_unlock(s):
    path = s.left.create("left", attributes("l"), secret("l"))
    s.restart(by_power_cut=True)
    equal(s.left.collections(), [LOGIN, SESSION_COLLECTION], "the collections that everybody has")
    equal([s.left.get(one, COLLECTION, "Locked") for one in (LOGIN, DEFAULT)], [True, True], "Locked")
    equal(s.left.read_alias("default"), LOGIN)
    for call in (
        lambda: s.left.search({}),
        lambda: s.left.search(attributes("l")),
        lambda: s.left.search(attributes("never stored")),
        lambda: s.left.search_in(LOGIN, attributes("l")),
        lambda: s.left.secret(path),
        lambda: s.left.secret(NEVER),
        lambda: s.left.get(path, ITEM, "Label"),
        lambda: s.left.create("new", attributes("l"), secret(), DEFAULT, True),
        lambda: s.left.create("new", attributes("n"), secret(), SESSION_COLLECTION),
        lambda: s.left.set_secret(path, secret("new")),
        lambda: s.left.set(path, ITEM, "Label", "s", "new"),
        lambda: s.left.delete(path),
        lambda: s.left.create_collection("new", "new"),
        lambda: s.left.set_alias("default", LOGIN),
        lambda: s.left.set(LOGIN, COLLECTION, "Label", "s", "new"),
    ):
        holds("chatelaine unlock" in refused(IS_LOCKED, call).text, "the text says what opens it")
    equal(s.left.secrets([path]), {}, "GetSecrets leaves locked items out")
    equal(s.left.lock(LOGIN), ([LOGIN], "/"), "Lock of what is locked")


@row(
    "SL02",
    "a start with a passcode",
    "unlock by the manager",
    "everything is there, and told before it is asked for",
)
def first_unlock(s):
    made = s.left.create_collection("left's", "mine")
    path = s.left.create("left", attributes("l"), secret("l"), made)
    s.restart()
    refused(IS_LOCKED, s.left.search, {})
    s.left.heard()
    s.open()
    locked = {at: values for member, at, (_, values, _) in changes(s.left.heard())}
    equal(locked[LOGIN]["Locked"], ("b", False), "what is told of login")
    equal((s.left.search({}), s.left.read_alias("mine")), (([path], []), made))
    same_secret(s.left.secret(path), secret("l"))
    holds(made in s.left.collections(), "the collection that was made is there")


def changes(signals):
    return [signal for signal in signals if signal[0] == "PropertiesChanged"]


@row(
    "SL03",
    "a collection that one client locks",
    "the same, other clients, other programs",
    "closed for everybody",
)
def lock(s):
    paths = {s.left: s.left.create("l", attributes("a"), secret("l"))}
    paths[s.right] = s.right.create("r", attributes("a"), secret("r"))
    second = s.another("left")
    second.search({})
    for keyring in (s.right, second):
        keyring.heard()
    equal(s.left.lock(LOGIN), ([LOGIN], "/"))
    for keyring, path in ((s.left, paths[s.left]), (second, paths[s.left]), (s.right, paths[s.right])):
        equal(keyring.get(LOGIN, COLLECTION, "Locked"), True, "Locked")
        equal(keyring.search(attributes("a")), ([], [path]), "found, in the second list")
        equal(keyring.get(path, ITEM, "Attributes"), attributes("a"), "the attributes of a locked item")
        equal((keyring.get(path, ITEM, "Locked"), keyring.items()), (True, [path]))
        for call in (
            lambda: keyring.secret(path),
            lambda: keyring.set_secret(path, secret("new")),
            lambda: keyring.create("n", attributes("n"), secret()),
            lambda: keyring.create("n", attributes("a"), secret(), LOGIN, True),
            lambda: keyring.set(path, ITEM, "Label", "s", "n"),
            lambda: keyring.set(path, ITEM, "Attributes", "a{ss}", {}),
            lambda: keyring.delete(path),
            lambda: keyring.set(LOGIN, COLLECTION, "Label", "s", "n"),
        ):
            refused(IS_LOCKED, call)
        equal(keyring.secrets([path]), {})
    for keyring in (second, s.right):
        told = {at: values for _, at, (_, values, _) in changes(keyring.heard())}
        equal(told[LOGIN], {"Locked": ("b", True)}, "what the others are told")
        holds(all(at == LOGIN or at in keyring.items() for at in told), "each is told of what it sees")
    # The others are as they were.
    passing = s.left.create("s", attributes("s"), secret("s"), SESSION_COLLECTION)
    same_secret(s.left.secret(passing), secret("s"))
    s.open()
    for keyring, path in paths.items():
        equal((keyring.get(LOGIN, COLLECTION, "Locked"), keyring.search({})[1]), (False, []))
        keyring.secret(path)


@row(
    "SL04", "a locked collection, a foreign item in it", "ask for it", "as if it were not there; not IsLocked"
)
def foreign(s):
    path = s.left.create("l", attributes("a"), secret("l"))
    s.left.lock(LOGIN)
    equal(s.right.search(attributes("a")), ([], []))
    equal(refused(NO_OBJECT, s.right.secret, path).text, refused(NO_OBJECT, s.right.secret, NEVER).text)
    equal(s.right.lock(path), ([], "/"))
    equal(s.right.unlock(path), ([], "/"))


@row(
    "SL05",
    "a collection that was made, locked",
    "restart, unlock",
    "open: the lock is the broker's, not the store's",
)
def made(s):
    made = s.left.create_collection("left's", "mine")
    path = s.left.create("l", attributes("a"), secret("l"), made)
    s.left.lock(path)
    equal((s.left.get(made, COLLECTION, "Locked"), s.left.get(LOGIN, COLLECTION, "Locked")), (True, False))
    refused(IS_LOCKED, s.left.secret, path)
    refused(IS_LOCKED, s.left.delete, made, COLLECTION)
    s.restart()
    s.open()
    same_secret(s.left.secret(path), secret("l"))


@row("SL06", "before the first unlock, and closed", "chatelaine unlock", "open")
def command(s):
    path = s.left.create("l", attributes("a"), secret("l"))
    programs = Programs(s.world, "chatelaine")
    for close in (s.restart, lambda: s.left.lock(LOGIN)):
        close()
        refused(IS_LOCKED, s.left.secret, path)
        command = [programs.path("chatelaine"), "unlock"]
        ended = programs.run_command(command, s.world.passcode + b"\n")
        equal(ended.status, 0, f"the command's status ({ended.errors})")
        same_secret(s.left.secret(path), secret("l"))


@row(
    "SL07", "items, a locked device", "search, read, write", "as before: they wait for the first unlock alone"
)
def device(s):
    path = s.left.create("l", attributes("a"), secret("l"))
    s.left.heard()
    s.world.lock()
    equal((s.left.search({}), s.left.get(LOGIN, COLLECTION, "Locked")), (([path], []), False))
    same_secret(s.left.secret(path), secret("l"))
    s.left.set_secret(path, secret("new"))
    same_secret(s.left.secret(s.left.create("n", attributes("n"), secret("n"))), secret("n"))
    s.world.unlock()
    holds("CollectionDeleted" not in members(s.left.heard()), "no collection is said to be gone")


@row("SL08", "no passcode", "start, store, start", "open from the first call on")
def without(s):
    path = s.left.create("l", attributes("a"), secret("l"))
    s.world.remove_passcode()
    try:
        s.restart()
        equal((s.left.get(LOGIN, COLLECTION, "Locked"), s.left.search({})), (False, ([path], [])))
        same_secret(s.left.secret(path), secret("l"))
        equal(s.left.unlock(LOGIN, path, ROOT + "/collection/nobodys"), ([LOGIN, path], "/"))
        s.left.lock(LOGIN)
        refused(IS_LOCKED, s.left.secret, path)
        equal(s.left.call(ROOT, SERVICE, "Unlock", "ao", ([LOGIN],))[0], [], "what needs no prompt")
    finally:
        s.world.set_passcode()
