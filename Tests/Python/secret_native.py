"""The broker's own interface beside it: no call sees or changes an item of this front, and the manager's calls take it."""

from attributes import Typed
from expect import Table, equal, holds, refused, same_secret, secret
from secret_stage import LEFT, RIGHT, SHARED, attributes, members
from secret_words import (
    COLLECTION,
    DEFAULT,
    ITEM,
    LOGIN,
    NO_OBJECT,
    PROPERTIES,
    ROOT,
    SESSION_COLLECTION,
)

TABLE = Table()
row = TABLE.row
CLASSES = ("generic-password", "internet-password")


def native(s):
    """The native client of the same program: the same groups."""
    return s.left.puppet


def stored(s):
    """An item, and the reference that its path ends with, written as the native front writes one."""
    path = s.left.create("left", attributes("l"), secret("l"))
    name = path.rsplit("/", 1)[1]
    known, _ = native(s).add({"Class": CLASSES[0], "Service": "native", "Account": "a"}, secret("native"))
    reference = (
        "-".join((name[:8], name[8:12], name[12:16], name[16:20], name[20:])) if "-" in known else name
    )
    equal(len(reference), len(known), "the length of a reference")
    return path, reference


@row("SN01", "an item of this front, its own program", "every native call, by class and reference", "absent")
def native_calls(s):
    path, reference = stored(s)
    client = native(s)
    for item_class in CLASSES:
        for wanted in ({}, {"AccessGroup": LEFT}, {"Label": "left"}):
            found = client.search({"Class": item_class} | wanted)
            holds(all(one["Reference"] != reference for one in found), "no search finds it")
    equal(client.search({"Reference": reference}), [], "a search by its reference")
    equal(
        [one.secret for one in client.read_all({"Class": CLASSES[0]})], [secret("native")], "what ReadAll has"
    )
    by_reference = {"Reference": reference}
    for call in (
        lambda query: client.read(query),
        lambda query: client.update(query, {"Label": "taken"}, secret("taken")),
        lambda query: client.update(query, {"AccessGroup": LEFT}),
        lambda query: client.delete(query),
        lambda query: client.begin(query, 0, 1_000),
    ):
        refused("ItemNotFound", call, by_reference)
    refused(("ItemNotFound", "Param"), client.store, by_reference, secret("taken"))
    same_secret(s.left.secret(path), secret("l"))
    equal((s.left.get(path, ITEM, "Label"), s.left.items()), ("left", [path]))


@row("SN02", "words and numbers for its class", "add, search, read", "NoSuchClass, Param")
def classes(s):
    stored(s)
    for word in ("secret-service-item", "secret-service-collection", "secretServiceItem", "3", "4", ""):
        query = {"Class": word}
        for call in (native(s).search, native(s).read, native(s).delete):
            refused("NoSuchClass", call, query)
        refused("NoSuchClass", native(s).add, query | {"Account": "a"}, secret())
    for number in (3, 4):
        refused(("Param", "NoSuchClass"), native(s).search, {"Class": Typed("u", number)})
    for key in ("Collection", "Lookup", "PathName", "ContentType", "Aliases"):
        refused("NoSuchAttribute", native(s).search, {"Class": CLASSES[0], key: "login"})


@row(
    "SN03",
    "a native subscriber with the same group",
    "create, change, delete items, collections",
    "it hears nothing",
)
def subscribers(s):
    client = native(s)
    client.subscribe(LEFT)
    client.pending_signals()
    path = s.left.create("left", attributes("l"), secret())
    s.left.set(path, ITEM, "Label", "s", "changed")
    s.left.set_secret(path, secret("new"))
    s.left.create("left", attributes("l"), secret(), DEFAULT, True)
    made = s.left.create_collection("left's", "mine")
    s.left.create("left", attributes("l"), secret(), made)
    s.left.set(made, COLLECTION, "Label", "s", "renamed")
    s.left.delete(made, COLLECTION)
    s.left.delete(path)
    equal(client.pending_signals(), [], "what it has heard")
    # It does hear of an item of its own.
    client.add({"Class": CLASSES[0], "Account": "a"}, secret())
    equal([signal.name for signal in client.pending_signals()], ["ItemChanged"])


@row(
    "SN04",
    "a native item with the same words",
    "read, delete it",
    "two items that know nothing of each other",
)
def beside(s):
    path = s.left.create("same", {"Service": "s", "Account": "a"}, secret("front"))
    client, query = native(s), {"Class": CLASSES[0], "Service": "s", "Account": "a"}
    client.add(query, secret("native"))
    equal(s.left.search({"Service": "s"}), ([path], []), "what the front finds")
    same_secret(client.read(query).secret, secret("native"))
    equal(client.delete({"Class": CLASSES[0]}), 1, "how many a native delete takes")
    same_secret(s.left.secret(path), secret("front"))


@row(
    "SN05",
    "items, a collection, items of the session",
    "ForceLogout of the group",
    "gone, told; others' stay",
)
def logout(s):
    path = s.left.create("left", attributes("l"), secret("l"))
    passing = s.left.create("left", attributes("l"), secret(), SESSION_COLLECTION)
    made = s.left.create_collection("left's", "mine")
    inner = s.left.create("inner", attributes("i"), secret(), made)
    others = [keyring.create("o", attributes("o"), secret("o")) for keyring in (s.right, s.loner)]
    # A logout of one service takes what has that service, and an item of this front has none.
    s.world.admin.force_logout(LEFT, "l")
    equal(len(s.left.search({})[0]), 3, "after the logout of a service")
    for keyring in (s.left, s.right):
        keyring.heard()
    deleted = s.world.admin.force_logout(LEFT)
    equal(deleted[0], 3, "how many rows the logout says it took: two items, one collection")
    for gone in (path, passing, inner):
        refused(NO_OBJECT, s.left.secret, gone)
    equal((s.left.search({}), s.left.read_alias("mine")), (([], []), "/"))
    holds(made not in s.left.collections(), "the collection is gone")
    told = [signal for signal in s.left.heard() if signal[0] == "PropertiesChanged"]
    changed = {at: values for _, at, (_, values, _) in told}
    equal(changed.get(LOGIN, {}).get("Items"), ("ao", []), "what is told of login")
    equal(changed.get(SESSION_COLLECTION, {}).get("Items"), ("ao", []), "what is told of session")
    holds(made not in changed.get(ROOT, {})["Collections"][1], "what is told of the service")
    equal(s.right.heard(), [], "what another group hears")
    for keyring, other in zip((s.right, s.loner), others):
        same_secret(keyring.secret(other), secret("o"))


@row("SN06", "a program that logs itself out", "Logout of its group, natively", "the same")
def own_logout(s):
    path = s.left.create("left", attributes("l"), secret())
    other = s.right.create("right", attributes("r"), secret("r"))
    refused("MissingEntitlement", native(s).logout, RIGHT)
    native(s).logout(LEFT)
    refused(NO_OBJECT, s.left.secret, path)
    same_secret(s.right.secret(other), secret("r"))


@row("SN07", "items and a collection", "MoveItems to another group", "they are there, at their paths, whole")
def move(s):
    path = s.left.create("left", attributes("l"), secret("l"))
    made = s.left.create_collection("left's", "mine")
    inner = s.left.create("inner", attributes("i"), secret("i"), made)
    equal(s.world.admin.move_items(LEFT, SHARED), 3, "how many were moved")
    equal(s.left.search({}), ([], []), "what the old group sees")
    refused(NO_OBJECT, s.left.secret, path)
    s.policy(right=f"{SHARED} {RIGHT}")
    for moved, name in ((path, "l"), (inner, "i")):
        same_secret(s.right.secret(moved), secret(name))
        equal(s.right.get(moved, ITEM, "Attributes"), attributes(name))
    equal((s.right.search_in(made, {}), s.right.read_alias("mine")), ([inner], made))


@row("SN08", "items and a collection", "Check, ListGroups", "they count as any row; none is damaged")
def check(s):
    before, groups = s.world.admin.check(), s.world.admin.list_groups()
    made = s.left.create_collection("left's")
    for number in range(3):
        s.left.create("left", attributes(str(number)), secret(), made)
    after = s.world.admin.check()
    more = {
        key: after[key] - before[key]
        for key in after
        if isinstance(after[key], int) and after[key] != before[key]
    }
    holds(more and set(more.values()) == {4}, f"what Check counts more: {more}")
    equal(s.world.damaged_rows(), 0)
    known = groups.get(LEFT, (0, 0))
    equal(sum(s.world.admin.list_groups()[LEFT]) - sum(known), 4, "what ListGroups counts more")


@row(
    "SN09", "a collection that was locked", "a native logout, a new item", "Locked is about this front alone"
)
def locked_beside(s):
    query = {"Class": CLASSES[0], "Account": "a"}
    native(s).add(query, secret("native"))
    s.left.lock(LOGIN)
    same_secret(native(s).read(query).secret, secret("native"))
    equal(s.world.user.property("State"), "unlocked")
    holds("PropertiesChanged" in members(s.left.heard()), "who locked it is told")
    values = s.left.call(LOGIN, PROPERTIES, "GetAll", "s", (COLLECTION,))[0]
    equal(values["Locked"], ("b", True))
