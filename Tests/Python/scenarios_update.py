"""S041 to S061: Update."""

from chatelaine_client import ITEMS, OBJECT
from expect import (
    ANY,
    Table,
    by_reference,
    equal,
    generic,
    holds,
    internet,
    refused,
    same_secret,
    secret,
    without,
)
from policy import FOREIGN, ONE, TWO
from store_file import StoreFile

TABLE = Table()
row = TABLE.row
SERVICE = without(generic(), "Account")


@row("S041", "an item", "Update its secret", "later Modified, higher Revision, same Created and Reference")
def s041(w):
    w.mail.add(generic(), secret("old"))
    before = w.mail.read(generic()).attributes
    equal(w.mail.update(generic(), {}, secret("new")), 1)
    after = w.mail.read(generic())
    same_secret(after.secret, secret("new"))
    for key in ("Created", "Reference"):
        equal(after.attributes[key], before[key], key)
    for key in ("Modified", "Revision"):
        holds(after.attributes[key] > before[key], f"{key} grew")


@row("S042", "an item", "Update with a text in the secret's place", "InvalidArgs, the old secret kept")
def s042(w):
    w.mail.add(generic(), secret("old"))
    refused(
        "org.freedesktop.DBus.Error.InvalidArgs",
        w.mail.raw_call,
        OBJECT,
        ITEMS,
        "Update",
        "a{sv}a{sv}as",
        ({"Class": ("s", "generic-password")}, {}, ["text"]),
    )
    same_secret(w.mail.read(generic()).secret, secret("old"))


@row("S043", "an item", "Update with two secrets", "Param: none or one")
def s043(w):
    w.mail.add(generic(), secret("old"))
    refused("Param", w.mail.update, generic(), {}, secret("one"), secret("two"))
    same_secret(w.mail.read(generic()).secret, secret("old"))


@row("S044", "an empty store", "Update", "ItemNotFound")
def s044(w):
    refused("ItemNotFound", w.mail.update, generic(), {"Comment": "c"})


@row("S045", "account a", "Update it to b, twice", "b alone is found; then ItemNotFound")
def s045(w):
    w.mail.add(generic(), secret())
    equal(w.mail.update(generic(), {"Account": "b"}), 1)
    refused("ItemNotFound", w.mail.read, generic())
    same_secret(w.mail.read(generic(Account="b")).secret, secret())
    refused("ItemNotFound", w.mail.update, generic(), {"Account": "b"})


@row("S046", "accounts a and b", "Update a's account to b", "DuplicateItem, both unchanged")
def s046(w):
    for name in "ab":
        w.mail.add(generic(Account=name), secret(name))
    refused("DuplicateItem", w.mail.update, generic(), {"Account": "b"})
    for name in "ab":
        same_secret(w.mail.read(generic(Account=name)).secret, secret(name))


@row("S047", "accounts a and b, b damaged", "Update a's account to b", "one item, with a's reference")
def s047(w):
    kept, damaged = [w.mail.add(generic(Account=name), secret(name))[0] for name in "ab"]
    with StoreFile.of(w) as store:
        store.flip(damaged, "attributes")
        store.flip(damaged, "secret")
    equal(w.mail.update(generic(), {"Account": "b"}), 1)
    equal([found["Reference"] for found in w.mail.search(SERVICE)], [kept])
    same_secret(w.mail.read(generic(Account="b")).secret, secret("a"))


@row("S048", "three items of a service", "Update by service", "all three changed")
def s048(w):
    for name in "abc":
        w.mail.add(generic(Account=name), secret(name))
    equal(w.mail.update(SERVICE, {"Comment": "c"}), 3)
    equal([found["Comment"] for found in w.mail.search(SERVICE)], ["c"] * 3)


@row("S049", "two items of a service", "Update both to one account", "DuplicateItem, none changed (K17)")
def s049(w):
    for name in "ab":
        w.mail.add(generic(Account=name), secret(name))
    refused("DuplicateItem", w.mail.update, SERVICE, {"Account": "z"})
    equal([found["Account"] for found in w.mail.search(SERVICE)], ["a", "b"])


@row("S050", "an item", "Update with Limit in the query", "Param (K10)")
def s050(w):
    w.mail.add(generic(), secret())
    refused("Param", w.mail.update, generic(Limit=1), {"Comment": "c"})
    holds("Comment" not in w.mail.search(generic())[0], "the item is unchanged")


@row(
    "S051", "an item", "Update with a return flag, and with SkipGated, in the query", "NoSuchAttribute; Param"
)
def s051(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.update, generic(ReturnData=True), {"Comment": "c"})
    refused("Param", w.mail.update, generic(SkipGated=True), {"Comment": "c"})


@row("S052", "an item", "Update with an unknown attribute in the changes", "NoSuchAttribute")
def s052(w):
    w.mail.add(generic(), secret("old"))
    refused("NoSuchAttribute", w.mail.update, generic(), {"Colour": "red"}, secret("new"))
    same_secret(w.mail.read(generic()).secret, secret("old"))


@row("S053", "an item", "Update with a context in the changes", "NoSuchAttribute: unknown key (K12)")
def s053(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.update, generic(), {"AuthenticationContext": "c"})


@row(
    "S054",
    "an item",
    "Update with Class, or what the broker sets, in the changes",
    "NoSuchAttribute; Param (K13)",
)
def s054(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.update, generic(), {"Class": "internet-password"})
    for key, value in {"Created": 1, "Modified": 1, "Revision": 1, "Reference": "0" * 32}.items():
        refused("Param", w.mail.update, generic(), {key: value})


@row("S055", "two internet passwords", "Update one by its reference", "that one alone; same reference")
def s055(w):
    reference, _ = w.mail.add(internet(), secret("a"))
    w.mail.add(internet(Account="b"), secret("b"))
    equal(w.mail.update(by_reference(reference), {"Server": "new.example"}), 1)
    equal(w.mail.read(by_reference(reference)).attributes["Server"], "new.example")
    equal(w.mail.search(internet(Account="b"))[0]["Server"], "example.com")


@row("S056", "groups one and two, an item in one", "Update its group to two", "moved, same reference")
def s056(w):
    reference, _ = w.mail.add(generic(AccessGroup=ONE), secret())
    equal(w.mail.update(generic(AccessGroup=ONE), {"AccessGroup": TWO}), 1)
    equal(w.mail.read(generic(AccessGroup=TWO)).attributes["Reference"], reference)
    refused("ItemNotFound", w.mail.read, generic(AccessGroup=ONE))


@row("S057", "an item", "Update its group to a foreign one", "MissingEntitlement, unmoved")
def s057(w):
    w.mail.add(generic(), secret())
    refused("MissingEntitlement", w.mail.update, generic(), {"AccessGroup": FOREIGN})
    equal(w.mail.search(generic())[0]["AccessGroup"], ONE)


@row("S058", "one key in both groups", "Update one item's group to the other", "DuplicateItem")
def s058(w):
    for group in (ONE, TWO):
        w.mail.add(generic(AccessGroup=group), secret(group))
    refused("DuplicateItem", w.mail.update, generic(AccessGroup=ONE), {"AccessGroup": TWO})
    for group in (ONE, TWO):
        same_secret(w.mail.read(generic(AccessGroup=group)).secret, secret(group))


@row("S059", "a when-unlocked item", "Update it to after-first-unlock, lock, Read", "readable")
def s059(w):
    w.mail.add(generic(), secret())
    equal(w.mail.update(generic(), {"Accessible": "after-first-unlock"}), 1)
    w.lock()
    same_secret(w.mail.read(generic()).secret, secret())


@row(
    "S060",
    "an after-first-unlock item, locked",
    "Update it to when-unlocked",
    "-25308, unchanged and readable",
)
def s060(w):
    w.mail.add(generic(Accessible="after-first-unlock"), secret())
    w.lock()
    refused("InteractionNotAllowed", w.mail.update, generic(), {"Accessible": "when-unlocked"})
    found = w.mail.read(generic())
    equal(found.attributes["Accessible"], "after-first-unlock")
    same_secret(found.secret, secret())


@row("S061", "an item", "Update it to synchronizable", "absent without the key, found with it")
def s061(w):
    w.mail.add(generic(), secret())
    equal(w.mail.update(generic(), {"Synchronizable": True}), 1)
    refused("ItemNotFound", w.mail.read, generic(Synchronizable=False))
    w.mail.read(generic(Synchronizable=True))
    equal(len(w.mail.search(generic(Synchronizable=ANY))), 1)
