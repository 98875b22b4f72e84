"""S083 to S096: access groups."""

from expect import Table, equal, generic, refused, same_secret, secret, without
from policy import FOREIGN, ONE, STRICT, TWO
from store_file import StoreFile

TABLE = Table()
row = TABLE.row


def four_calls(puppet, **attributes):
    """The four calls and Search, each with its arguments, as functions without any."""
    query = generic(**attributes)
    return (
        lambda: puppet.add(query, secret()),
        lambda: puppet.read(query),
        lambda: puppet.search(query),
        lambda: puppet.update(query, {"Comment": "c"}),
        lambda: puppet.delete(query),
    )


@row("S083", "a caller without any group", "each call", "MissingEntitlement")
def s083(w):
    for call in four_calls(w.nobody):
        equal(refused("MissingEntitlement", call).code, -34018)


@row("S084", "a policy's program whose evidence is too weak for its group", "each call", "MissingEntitlement")
def s084(w):
    for call in four_calls(w.weak) + four_calls(w.weak, AccessGroup=STRICT):
        refused("MissingEntitlement", call)


@row("S085", "a program at user trust, its group says RequireTrust=user", "Add", "stored")
def s085(w):
    w.calendar.add(generic(), secret())
    same_secret(w.calendar.read(generic()).secret, secret())


@row("S086", "groups one and two", "Add without a group", "stored in one")
def s086(w):
    w.mail.add(generic(), secret())
    equal(w.mail.search(generic())[0]["AccessGroup"], ONE)
    w.mail.read(generic(AccessGroup=ONE))
    refused("ItemNotFound", w.mail.read, generic(AccessGroup=TWO))


@row("S089", "an item in a foreign group", "each call naming the group", "MissingEntitlement")
def s089(w):
    w.stranger.add(generic(), secret("theirs"))
    for call in four_calls(w.mail, AccessGroup=FOREIGN):
        refused("MissingEntitlement", call)
    same_secret(w.stranger.read(generic()).secret, secret("theirs"))


@row("S090", "nothing in a foreign group", "each call naming the group", "MissingEntitlement: the same")
def s090(w):
    for call in four_calls(w.mail, AccessGroup=FOREIGN):
        refused("MissingEntitlement", call)


@row("S091", "an item in a foreign group", "each call without a group, and by reference", "it looks absent")
def s091(w):
    reference, _ = w.stranger.add(generic(), secret("theirs"))
    for query in (generic(), {"Reference": reference}):
        refused("ItemNotFound", w.mail.read, query)
        refused("ItemNotFound", w.mail.update, query, {"Comment": "c"})
        refused("ItemNotFound", w.mail.delete, query)
        equal(w.mail.search(query), [])
    same_secret(w.stranger.read(generic()).secret, secret("theirs"))


@row("S094", "an ordinary caller", "a query with group *", "MissingEntitlement")
def s094(w):
    refused("MissingEntitlement", w.mail.search, generic(AccessGroup="*"))


@row("S095", "a row's group altered on the disk", "Read as the new group's member", "never the item")
def s095(w):
    w.stranger.add(generic(Account="mark"), secret("mark"))
    reference, _ = w.mail.add(generic(), secret("ours"))
    with StoreFile.of(w) as store:
        store.set_group(reference, FOREIGN)
    refused(("Decode", "ItemNotFound"), w.stranger.read, generic())
    refused(("Decode", "ItemNotFound"), w.stranger.read, {"Reference": reference})
    equal([found["Account"] for found in w.stranger.search(without(generic(), "Account"))], ["mark"])
