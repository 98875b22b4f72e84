"""S001 to S040: the four calls, their shapes and their arguments."""

import re

from expect import Table, equal, generic, holds, internet, refused, same_secret, secret, without

TABLE = Table()
row = TABLE.row


def three(world):
    """Three items of one service, oldest first; their references."""
    return [world.mail.add(generic(Account=name), secret(name))[0] for name in "abc"]


@row("S001", "an empty store", "Read", "ItemNotFound; Search: nothing")
def s001(w):
    equal(refused("ItemNotFound", w.mail.read, generic()).code, -25300)
    equal(w.mail.search(generic()), [])


@row("S002", "an empty store", "Add", "a reference and a revision")
def s002(w):
    reference, revision = w.mail.add(generic(), secret())
    holds(re.fullmatch("[0-9a-f]{32}", reference), "the reference is 32 hexadecimal digits")
    holds(revision > 0, "a revision is positive")


@row("S003", "an item", "Add the same", "DuplicateItem, the old secret intact")
def s003(w):
    w.mail.add(generic(), secret("old"))
    refused("DuplicateItem", w.mail.add, generic(), secret("new"))
    same_secret(w.mail.read(generic()).secret, secret("old"))


@row("S004", "an item", "Add the same with another class of protection", "DuplicateItem")
def s004(w):
    w.mail.add(generic(), secret())
    refused("DuplicateItem", w.mail.add, generic(Accessible="after-first-unlock"), secret())


@row("S005", "an item", "Add the same with other Generic, Label, Comment", "DuplicateItem")
def s005(w):
    w.mail.add(generic(Generic="g", Label="l", Comment="c"), secret())
    refused("DuplicateItem", w.mail.add, generic(Generic="h", Label="m", Comment="d"), secret())


@row("S006", "an item", "Add the account to another service", "two items")
def s006(w):
    w.mail.add(generic(), secret())
    w.mail.add(generic(Service="t"), secret())
    equal(len(w.mail.search(without(generic(), "Service"))), 2)


@row("S007", "no account and no service", "Add twice", "done, then DuplicateItem")
def s007(w):
    bare = {"Class": "generic-password"}
    w.mail.add(bare, secret())
    refused("DuplicateItem", w.mail.add, bare, secret())


@row("S008", "account A", "Read account a", "ItemNotFound")
def s008(w):
    w.mail.add(generic(Account="A"), secret())
    refused("ItemNotFound", w.mail.read, generic(Account="a"))


@row("S009", "Server stored as bytes", "Read by the same bytes as text", "found; comes back as bytes")
def s009(w):
    w.mail.add(internet(Server=b"example.com"), secret())
    equal(w.mail.read(internet(Server="example.com")).attributes["Server"], b"example.com")


@row("S010", "Server stored as text", "Add the same bytes as bytes", "DuplicateItem")
def s010(w):
    w.mail.add(internet(Server="example.com"), secret())
    refused("DuplicateItem", w.mail.add, internet(Server=b"example.com"), secret())


@row("S011", "an empty store", "Add without Class", "Param")
def s011(w):
    equal(refused("Param", w.mail.add, without(generic(), "Class"), secret()).code, -50)


@row("S012", "an empty store", "Add with an unknown class", "NoSuchClass")
def s012(w):
    equal(refused("NoSuchClass", w.mail.add, generic(Class="zzzz"), secret()).code, -25306)


@row("S013", "an item", "every call with an empty query", "Param")
def s013(w):
    w.mail.add(generic(), secret())
    for call in (w.mail.read, w.mail.read_all, w.mail.search, w.mail.delete):
        refused("Param", call, {})
    refused("Param", w.mail.update, {}, {"Comment": "c"})
    same_secret(w.mail.read(generic()).secret, secret())


@row("S014", "an empty store", "Add with an attribute of another class", "NoSuchAttribute")
def s014(w):
    equal(refused("NoSuchAttribute", w.mail.add, generic(Port=443), secret()).code, -25303)
    equal(w.mail.search(generic()), [])


@row("S015", "an item", "Delete with an attribute of another class", "NoSuchAttribute, the item still there")
def s015(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.delete, generic(Port=443))
    same_secret(w.mail.read(generic()).secret, secret())


@row("S017", "an empty store", "Add", "its reference alone finds the item")
def s017(w):
    reference, revision = w.mail.add(generic(), secret())
    found = w.mail.read({"Reference": reference})
    equal((found.attributes["Reference"], found.attributes["Revision"]), (reference, revision))
    same_secret(found.secret, secret())


@row("S018", "an item", "Search", "the given attributes, the broker's own, and nothing else")
def s018(w):
    given = generic(Label="l", Creator=7, Negative=True)
    reference, _ = w.mail.add(given, secret())
    (found,) = w.mail.search(generic())
    own = {"AccessGroup", "Accessible", "Synchronizable", "Reference", "Revision", "Created", "Modified"}
    equal(set(found), set(given) | own, "the set of keys")
    equal({key: found[key] for key in given}, given)
    equal((found["Accessible"], found["Synchronizable"]), ("when-unlocked", False), "the defaults")


@row("S020", "an item", "Read by what Search returned, without Reference and Revision", "found (K26)")
def s020(w):
    w.mail.add(generic(Label="l"), secret())
    (found,) = w.mail.search(generic())
    same_secret(w.mail.read(without(found, "Reference", "Revision")).secret, secret())


@row("S021", "an item", "ReadAll", "one entry, with its attributes, reference and secret")
def s021(w):
    reference, _ = w.mail.add(generic(), secret())
    (found,) = w.mail.read_all(generic())
    equal(found.attributes["Reference"], reference)
    same_secret(found.secret, secret())


@row("S022", "no match", "ReadAll", "ItemNotFound; for one match still an array")
def s022(w):
    refused("ItemNotFound", w.mail.read_all, generic())
    w.mail.add(generic(), secret())
    equal(len(w.mail.read_all(generic())), 1)


@row("S023", "three items", "Read by class alone", "one: the oldest")
def s023(w):
    references = three(w)
    equal(w.mail.read({"Class": "generic-password"}).attributes["Reference"], references[0])


@row("S024", "three items", "Search and ReadAll with Limit 2", "the two oldest, oldest first")
def s024(w):
    oldest = three(w)[:2]
    query = without(generic(Limit=2), "Account")
    equal([found["Reference"] for found in w.mail.search(query)], oldest)
    equal([found.attributes["Reference"] for found in w.mail.read_all(query)], oldest)


@row("S025", "three items", "Limit 0", "Param (K24)")
def s025(w):
    three(w)
    refused("Param", w.mail.search, without(generic(Limit=0), "Account"))
    refused("Param", w.mail.read_all, without(generic(Limit=0), "Account"))


@row("S026", "an item", "Limit 'many'", "Param")
def s026(w):
    w.mail.add(generic(), secret())
    refused("Param", w.mail.search, generic(Limit="many"))


@row("S027", "an item", "a return flag in the query", "NoSuchAttribute: there are none (K12)")
def s027(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.read, generic(ReturnData=True))


@row("S028", "an item", "Search as a test of existence", "one entry")
def s028(w):
    w.mail.add(generic(), secret())
    equal(len(w.mail.search(generic())), 1)


@row("S029", "an item with an empty secret", "ReadAll", "one entry, whose secret is empty (K20)")
def s029(w):
    w.mail.add(generic(), b"")
    equal([found.secret for found in w.mail.read_all(generic())], [b""])


@row("S031", "an empty store", "Add an empty secret, Read", "the empty secret (K20)")
def s031(w):
    w.mail.add(generic(), b"")
    equal(w.mail.read(generic()).secret, b"")


@row("S032", "an empty store", "Add FF FE 00, Read", "the same bytes")
def s032(w):
    w.mail.add(generic(), b"\xff\xfe\x00")
    same_secret(w.mail.read(generic()).secret, b"\xff\xfe\x00")


@row("S033", "an empty store", "Add 1 MiB, Read; a byte more", "identical; TooLarge, nothing stored")
def s033(w):
    largest = bytes(range(256)) * 4096
    w.mail.add(generic(), largest)
    same_secret(w.mail.read(generic()).secret, largest)
    equal(refused("TooLarge", w.mail.add, generic(Account="b"), largest + b"x").code, -25302)
    equal(w.mail.search(generic(Account="b")), [])


@row("S034", "an item", "Read with a secret in the query", "NoSuchAttribute (K27)")
def s034(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.read, generic(Secret=b"wrong"))


@row("S035", "a when-unlocked item", "Read with Accessible after-first-unlock", "ItemNotFound: it filters")
def s035(w):
    w.mail.add(generic(), secret())
    refused("ItemNotFound", w.mail.read, generic(Accessible="after-first-unlock"))
    w.mail.read(generic(Accessible="when-unlocked"))


@row("S036", "an empty store", "Add with a text as access control", "Param")
def s036(w):
    refused("Param", w.mail.add, generic(AccessControl="user-presence"), secret())


@row("S037", "an item", "Delete with a text as access control", "Param, the item still there")
def s037(w):
    w.mail.add(generic(), secret())
    refused("Param", w.mail.delete, generic(AccessControl="user-presence"))
    equal(len(w.mail.search(generic())), 1)


@row("S038", "an item", "every call with an internal attribute", "NoSuchAttribute (K27)")
def s038(w):
    w.mail.add(generic(), secret())
    for internal in ({"Digest": b"d"}, {"Tombstone": True}):
        for call in (w.mail.read, w.mail.read_all, w.mail.search, w.mail.delete):
            refused("NoSuchAttribute", call, generic(**internal))
        refused("NoSuchAttribute", w.mail.add, generic(Account="b", **internal), secret())
        refused("NoSuchAttribute", w.mail.update, generic(), internal)


@row("S039", "an empty store", "Add with what the broker sets", "Param (K13)")
def s039(w):
    own = {"Created": 1_000_000, "Modified": 1_000_000, "Revision": 1, "Reference": "0" * 32}
    for key, value in own.items():
        refused("Param", w.mail.add, generic(**{key: value}), secret())
    equal(w.mail.search(generic()), [])


@row("S040", "an item", "Read with its Modified, and a second later", "found; ItemNotFound")
def s040(w):
    w.mail.add(generic(), secret())
    modified = w.mail.search(generic())[0]["Modified"]
    w.mail.read(generic(Modified=modified))
    refused("ItemNotFound", w.mail.read, generic(Modified=modified + 1_000_000))
