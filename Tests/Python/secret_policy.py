"""What the policy says of existing programs: managers, no isolation, the unidentified, carriers, operations, a reload."""

import os
import sys

from expect import NotHere, Table, equal, holds, refused, same_secret, secret
from puppets import HERE
from secret_stage import SHARED, UNIDENTIFIED, attributes, members, sees_nothing
from secret_words import (
    COLLECTION,
    DEFAULT,
    DENIED,
    ITEM,
    LOGIN,
    NO_OBJECT,
    PROPERTIES,
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


@row("SR03", "programs that nobody knows", "store, search, read", "they share one group, and see no other")
def unidentified(s):
    items = everybody_stores(s)
    equal(s.other.search({}), ([items[2]], []), "what another unidentified program finds")
    same_secret(s.other.secret(items[2]), secret("loner"))
    for path in items[:2]:
        refused(NO_OBJECT, s.other.secret, path)
        refused(NO_OBJECT, s.other.delete, path)
    for keyring in (s.left, s.right):
        refused(NO_OBJECT, keyring.secret, items[2])
        keyring.heard()
    s.other.set(items[2], ITEM, "Label", "s", "renamed")
    s.other.create("other", attributes("o"), secret())
    holds("ItemChanged" in members(s.loner.heard()), "they hear of each other")
    equal((s.left.heard(), s.right.heard()), ([], []), "what the identified hear")
    holds(UNIDENTIFIED in s.world.admin.list_groups(), "an administrator sees the group")


@row(
    "SR04",
    "programs that nobody knows",
    "name their group on the native front",
    "MissingEntitlement, unless a policy gives it",
)
def only_here(s):
    path = s.loner.create("loner", attributes("l"), secret("loner"))
    native, item = s.world.nobody, {"Class": "generic-password", "AccessGroup": UNIDENTIFIED}
    refused("MissingEntitlement", native.search, item)
    refused("MissingEntitlement", native.subscribe, UNIDENTIFIED)
    refused("MissingEntitlement", native.logout, UNIDENTIFIED)
    # An administrator may give it to a program that had its items there before the policy knew it.
    s.policy(
        left=f"org.test.left {UNIDENTIFIED}", sections=f"\n[AccessGroup {UNIDENTIFIED}]\nRequireTrust=user\n"
    )
    same_secret(s.left.secret(path), secret("loner"), "what a program reads that has the group by policy")


def every_call(keyring, path):
    """What a program that may not come in tries."""
    return (
        lambda: keyring.search({}),
        lambda: keyring.collections(),
        lambda: keyring.get(LOGIN, COLLECTION, "Label"),
        lambda: keyring.items(),
        lambda: keyring.get(path, ITEM, "Label"),
        lambda: keyring.call(path, PROPERTIES, "GetAll", "s", (ITEM,)),
        lambda: keyring.secret(path),
        lambda: keyring.secrets([path]),
        lambda: keyring.create("r", attributes("r"), secret()),
        lambda: keyring.create("r", attributes("r"), secret(), SESSION_COLLECTION),
        lambda: keyring.set(path, ITEM, "Label", "s", "r"),
        lambda: keyring.set_secret(path, secret()),
        lambda: keyring.delete(path),
        lambda: keyring.create_collection("r"),
        lambda: keyring.set_alias("r", LOGIN),
        lambda: keyring.read_alias("default"),
        lambda: keyring.lock(LOGIN),
        lambda: keyring.unlock(LOGIN),
    )


@row("SR05", "Unidentified=refuse", "every call", "AccessDenied with a text, and nothing done")
def refuse(s):
    path = s.loner.create("loner", attributes("l"), secret("l"))
    s.loner.heard()
    s.policy(rules="Unidentified=refuse")
    for number, call in enumerate(every_call(s.loner, path)):
        holds(refused(DENIED, call).text, f"the refusal of call {number} has a text")
    mine = s.left.create("left", attributes("left"), secret("left"))
    same_secret(s.left.secret(mine), secret("left"), "who is identified goes on")
    equal(s.left.get(LOGIN, COLLECTION, "Locked"), False, "whether the refused one closed it")
    equal(s.loner.heard(), [], "what the refused one hears")
    s.policy()
    same_secret(s.loner.secret(path), secret("l"), "when they share again")


@row(
    "SR06", "a program in a namespace of its own", "every call", "AccessDenied: never one of the unidentified"
)
def sandboxed(s):
    if os.geteuid() != 0:
        raise NotHere("a mount namespace needs root")
    path = s.loner.create("loner", attributes("l"), secret("l"))
    program = s.path("other")
    apart = [sys.executable, os.path.join(HERE, "in_namespace.py"), "mount", program, program]
    for rules in ("", "Isolation=none"):
        s.policy(rules=rules)
        caged = s.another("other", apart)
        for call in every_call(caged, path):
            refused(DENIED, call)
        equal(caged.heard(), [], "what it hears")
    same_secret(s.loner.secret(path), secret("l"))


@row("SR07", "a carrier of others' wishes", "store, search", "it has no group of its own: unidentified")
def carriers(s):
    path = s.loner.create("loner", attributes("l"), secret("l"))
    s.policy(sections=f"\n[Carriers]\nExecutable={s.path('other')}\n")
    same_secret(s.another("other").secret(path), secret("l"))
    s.policy(sections=f"\n[Carriers]\nExecutable={s.path('other')}\n", rules="Unidentified=refuse")
    refused(DENIED, s.another("other").search, {})


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
