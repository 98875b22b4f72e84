"""What the policy says of existing programs: managers, no isolation, the unidentified, carriers, operations, a reload."""

from expect import Table, equal, holds, refused, same_secret, secret
from secret_stage import (
    SHARED,
    attributes,
    members,
    sees_nothing,
)
from secret_words import (
    COLLECTION,
    DEFAULT,
    DENIED,
    ITEM,
    LOGIN,
    NO_OBJECT,
    SESSION_COLLECTION,
)

TABLE = Table()
row = TABLE.row


def everybody_stores(s):
    """An item of each program; those of the two applications, and what the unidentified share."""
    return [
        keyring.create(name, attributes(name), secret(name))
        for name, keyring in (("left", s.left), ("right", s.right), ("loner", s.loner))
    ]


@row("SR01", "Manager=", "list, read, change, hear, delete", "a keyring browser sees what everybody has")
def manager(s):
    s.policy(rules="Manager=org.test.Browser")
    sees_nothing(s.browser)
    items = everybody_stores(s)
    made = s.left.create_collection("left's", "mine")
    inner = s.left.create("inner", attributes("inner"), secret("inner"), made)
    equal(sorted(s.browser.search({})[0]), sorted([*items, inner]), "what it finds")
    holds(made in s.browser.collections(), "it lists the collection")
    equal(sorted(s.browser.items()), sorted(items), "Items of login")
    for path, name in zip([*items, inner], ("left", "right", "loner", "inner")):
        same_secret(s.browser.secret(path), secret(name))
    told = s.browser.heard()
    equal([path for member, _, (path, *_) in told if member == "ItemCreated"], [*items, inner])
    s.browser.set(items[0], ITEM, "Label", "s", "renamed")
    equal(s.left.get(items[0], ITEM, "Label"), "renamed")
    s.browser.delete(items[1])
    sees_nothing(s.right)
    # What it adds to somebody's collection is theirs, what it adds elsewhere its own.
    same_secret(s.left.secret(s.browser.create("b", attributes("b"), secret("b"), made)), secret("b"))
    own = s.browser.create("own", attributes("own"), secret())
    refused(NO_OBJECT, s.left.secret, own)
    # A program that is no manager any more is one like any other.
    s.policy()
    equal(s.browser.search({}), ([own], []), "what it finds when it is none")
    refused(NO_OBJECT, s.browser.secret, items[0])


@row("SR02", "Isolation=none", "store, search; Isolation=application again", "all see all; then each its own")
def none(s):
    items = everybody_stores(s)
    s.policy(rules="Isolation=none")
    for keyring in (s.left, s.right, s.loner):
        equal(sorted(keyring.search({})[0]), sorted(items), "what each finds")
        equal(sorted(keyring.items()), sorted(items), "what each lists")
        for path, name in zip(items, ("left", "right", "loner")):
            same_secret(keyring.secret(path), secret(name))
        keyring.heard()
    late = s.right.create("late", attributes("late"), secret())
    made = s.right.create_collection("right's")
    for keyring in (s.left, s.loner):
        told = [(member, arguments[0]) for member, _, arguments in keyring.heard()]
        holds(("ItemCreated", late) in told and ("CollectionCreated", made) in told, "all hear it")
    s.policy()
    equal((s.left.search({}), s.loner.search({})), (([items[0]], []), ([items[2]], [])), "afterwards")
    equal(sorted(s.right.search({})[0]), sorted([items[1], late]), "what it stored meanwhile is its own")
    holds(made not in s.left.collections(), "and so is the collection")
    for path in (items[1], items[2], late):
        refused(NO_OBJECT, s.left.secret, path)
    s.right.delete(late)
    equal((s.left.heard(), s.loner.heard()), ([], []), "what others hear")


@row(
    "SR08",
    "Operations=read search",
    "read; write in every way",
    "answered; AccessDenied, and nothing changed",
)
def operations(s):
    path = s.left.create("left", attributes("l"), secret("l"))
    made = s.left.create_collection("left's", "mine")
    s.policy(more="Operations=read search\n")
    same_secret(s.left.secret(path), secret("l"))
    equal((s.left.search({}), s.left.get(path, ITEM, "Label")), (([path], []), "left"))
    for call in (
        lambda: s.left.create("r", attributes("r"), secret()),
        lambda: s.left.create("r", attributes("l"), secret(), DEFAULT, True),
        lambda: s.left.create("r", attributes("r"), secret(), SESSION_COLLECTION),
        lambda: s.left.set(path, ITEM, "Label", "s", "r"),
        lambda: s.left.set(path, ITEM, "Attributes", "a{ss}", {}),
        lambda: s.left.set(made, COLLECTION, "Label", "s", "r"),
        lambda: s.left.set_secret(path, secret("r")),
        lambda: s.left.delete(path),
        lambda: s.left.delete(made, COLLECTION),
        lambda: s.left.create_collection("r"),
        lambda: s.left.set_alias("mine", LOGIN),
    ):
        refused(DENIED, call)
    same_secret(s.left.secret(path), secret("l"), "afterwards")
    equal((s.left.items(), s.left.read_alias("mine")), ([path], made))
    # Who may only read does not find; who may only search does not read.
    s.policy(more="Operations=read\n")
    refused(DENIED, s.left.search, {})
    refused(DENIED, s.left.get, path, ITEM, "Attributes")
    s.policy(more="Operations=search\n")
    refused(DENIED, s.left.secret, path)
    refused(DENIED, s.left.secrets, [path])
    equal(s.left.search({}), ([path], []))


@row("SR09", "a program at work", "the policy is loaded anew", "grants come and go with the next call")
def reload(s):
    path = s.right.create("right", attributes("r"), secret("r"))
    refused(NO_OBJECT, s.left.secret, path)
    s.policy(left="org.test.left org.test.right")
    same_secret(s.left.secret(path), secret("r"))
    holds(path in s.left.items(), "the list has it")
    s.left.heard()
    s.right.set(path, ITEM, "Label", "s", "one")
    equal(members(s.left.heard()), ["ItemChanged", "PropertiesChanged"], "what it hears")
    s.policy()
    refused(NO_OBJECT, s.left.secret, path)
    equal((s.left.items(), s.left.search({})), ([], ([], [])))
    s.right.set(path, ITEM, "Label", "s", "two")
    equal(s.left.heard(), [], "what it hears afterwards")
    # Where its items go is the policy's word of the moment too.
    s.policy(left=f"{SHARED} org.test.left")
    s.left.create("left", attributes("l"), secret())
    equal(s.world.admin.list_groups()[SHARED], (1, 0), "where it stored")
