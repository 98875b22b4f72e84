"""S062 to S077: Delete, references and matches."""

from attributes import Typed
from expect import Table, by_reference, equal, generic, internet, refused, same_secret, secret, without
from policy import ONE, TWO

TABLE = Table()
row = TABLE.row


def both_groups(world):
    for group in (ONE, TWO):
        world.mail.add(generic(AccessGroup=group), secret(group))


@row("S062", "three items of service s, one of t", "Delete by service s", "only t's is left")
def s062(w):
    for name in "abc":
        w.mail.add(generic(Account=name), secret(name))
    w.mail.add(generic(Service="t"), secret())
    equal(w.mail.delete(without(generic(), "Account")), 3)
    equal([found["Service"] for found in w.mail.search({"Class": "generic-password"})], ["t"])


@row("S063", "an empty store", "Delete", "ItemNotFound")
def s063(w):
    refused("ItemNotFound", w.mail.delete, generic())


@row("S064", "an item", "Delete with Limit", "Param (K10), the item still there")
def s064(w):
    w.mail.add(generic(), secret())
    refused("Param", w.mail.delete, generic(Limit=1))
    equal(len(w.mail.search(generic())), 1)


@row("S065", "an item", "Delete with a return flag", "NoSuchAttribute (K27), the item still there")
def s065(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.delete, generic(ReturnData=True))
    equal(len(w.mail.search(generic())), 1)


@row("S066", "two items", "Delete one by its reference", "the other stays; the reference finds nothing")
def s066(w):
    first, _ = w.mail.add(generic(), secret("a"))
    second, _ = w.mail.add(generic(Account="b"), secret("b"))
    equal(w.mail.delete(by_reference(first)), 1)
    refused("ItemNotFound", w.mail.read, by_reference(first))
    same_secret(w.mail.read(by_reference(second)).secret, secret("b"))


@row("S067", "an item in each of two groups", "Delete in one group", "the other's stays")
def s067(w):
    both_groups(w)
    equal(w.mail.delete(generic(AccessGroup=ONE)), 1)
    equal([found["AccessGroup"] for found in w.mail.search(generic())], [TWO])


@row("S068", "an item in each of two groups", "Delete without a group", "both gone")
def s068(w):
    both_groups(w)
    equal(w.mail.delete(generic()), 2)
    equal(w.mail.search(generic()), [])


@row("S071", "an item", "a query with Reference and another attribute", "Param: it stands alone")
def s071(w):
    reference, _ = w.mail.add(generic(), secret())
    query = by_reference(reference) | {"Account": "a"}
    for call in (w.mail.read, w.mail.search, w.mail.read_all, w.mail.delete):
        refused("Param", call, query)
    refused("Param", w.mail.update, query, {"Comment": "c"})
    equal(len(w.mail.search(by_reference(reference))), 1)


@row("S073", "an item", "Read by what is no reference; by an unknown one", "Param; ItemNotFound")
def s073(w):
    w.mail.add(generic(), secret())
    refused("Param", w.mail.read, by_reference("0123456"))
    refused("Param", w.mail.read, {"Reference": Typed("ay", bytes(16))})
    refused("ItemNotFound", w.mail.read, by_reference("0" * 32))


@row("S074", "a synchronizable item", "Read by its reference alone", "found")
def s074(w):
    reference, _ = w.mail.add(generic(Synchronizable=True), secret())
    same_secret(w.mail.read(by_reference(reference)).secret, secret())


@row("S075", "server origin.example.com", "Read server example.com", "ItemNotFound: exact matching (K18)")
def s075(w):
    w.mail.add(internet(Server="origin.example.com"), secret())
    refused("ItemNotFound", w.mail.read, internet(Server="example.com"))
    refused("NoSuchAttribute", w.mail.read, internet(MatchHostOrSubdomain="example.com"))


@row("S076", "a generic password", "Read with a match by host", "NoSuchAttribute (K18)")
def s076(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.read, generic(MatchHostOrSubdomain="example.com"))


@row("S077", "a generic password", "Read with a match by issuer", "NoSuchAttribute (K18)")
def s077(w):
    w.mail.add(generic(), secret())
    refused("NoSuchAttribute", w.mail.read, generic(MatchIssuers=b"issuer"))
