"""S116 to S136: access control, as far as no prompt is answered."""

from expect import Table, equal, generic, holds, refused, same_secret, secret, without

TABLE = Table()
row = TABLE.row
PROTECTION = "when-unlocked-this-device-only"
SERVICE = without(generic(), "Account")


def gated(*flags, **attributes):
    return generic(AccessControl=(PROTECTION, flags or ("user-presence",)), **attributes)


@row("S116", "an empty store", "Add with contradictory access controls", "Param each, nothing stored")
def s116(w):
    contradictions = (
        ("or", "and", "biometry-any", "device-passcode"),
        ("biometry-any", "biometry-current-set", "or"),
        ("user-presence", "device-passcode"),
        ("user-presence", "or"),
        ("biometry-any", "device-passcode"),
    )
    for flags in contradictions:
        refused("Param", w.mail.add, gated(*flags), secret())
    refused("Param", w.mail.add, generic(AccessControl=("sometimes", ("user-presence",))), secret())
    equal(w.mail.search(generic()), [])


@row("S117", "an empty store", "Add with any biometry and passcode, by or, by and", "stored")
def s117(w):
    w.mail.add(gated("biometry-any", "device-passcode", "or"), secret())
    w.mail.add(gated("biometry-any", "device-passcode", "and", Account="b"), secret())


@row(
    "S118", "an item with an access control without constraints", "Read", "the access control as it was given"
)
def s118(w):
    w.mail.add(generic(AccessControl=(PROTECTION, ())), secret("open"))
    found = w.mail.read(generic())
    equal(found.attributes["AccessControl"], (PROTECTION, ()))
    same_secret(found.secret, secret("open"))


@row("S120", "a presence item", "each reading call, no interaction allowed", "-25308")
def s120(w):
    w.mail.add(gated(), secret())
    for call in (w.mail.read, w.mail.read_all, w.mail.search):
        equal(refused("InteractionNotAllowed", call, generic()).code, -25308)
    refused("InteractionNotAllowed", w.mail.update, generic(), {"Comment": "c"})


@row("S121", "no such item", "Read, no interaction allowed", "ItemNotFound")
def s121(w):
    w.mail.add(gated(), secret())
    refused("ItemNotFound", w.mail.read, generic(Account="nobody"))


@row("S122", "a presence item and a plain one", "ReadAll and Search with SkipGated", "the plain one alone")
def s122(w):
    w.mail.add(gated(), secret("gated"))
    w.mail.add(generic(Account="plain"), secret("plain"))
    (found,) = w.mail.read_all(SERVICE | {"SkipGated": True})
    same_secret(found.secret, secret("plain"))
    equal([one["Account"] for one in w.mail.search(SERVICE | {"SkipGated": True})], ["plain"])


@row("S123", "a presence item alone", "ReadAll with SkipGated", "ItemNotFound")
def s123(w):
    w.mail.add(gated(), secret())
    refused("ItemNotFound", w.mail.read_all, generic(SkipGated=True))


@row("S124", "an item", "Add, Store, Read and Delete with SkipGated", "Param, nothing changed")
def s124(w):
    w.mail.add(generic(), secret())
    refused("Param", w.mail.add, generic(Account="b", SkipGated=True), secret())
    refused("Param", w.mail.store, generic(SkipGated=True), secret("new"))
    refused("Param", w.mail.read, generic(SkipGated=True))
    refused("Param", w.mail.delete, generic(SkipGated=True))
    same_secret(w.mail.read(generic()).secret, secret())


@row("S125", "gated items", "Delete, no interaction allowed", "deleted without a prompt")
def s125(w):
    w.mail.add(gated(), secret())
    w.mail.add(gated("biometry-any", Account="b"), secret())
    equal(w.mail.delete(SERVICE), 2)
    equal(w.mail.search(SERVICE), [])


@row("S127", "an empty store", "Add with an unknown flag", "Param, nothing stored")
def s127(w):
    refused("Param", w.mail.add, gated("user-presence", "good-weather"), secret())
    equal(w.mail.search(generic()), [])


@row(
    "S129", "an item with an application password", "Read with it, without it, with a wrong one", "AuthFailed"
)
def s129(w):
    w.mail.add(gated("application-password", ApplicationPassword=b"right"), secret())
    same_secret(w.mail.read(generic(ApplicationPassword=b"right")).secret, secret())
    refused("AuthFailed", w.mail.read, generic())
    equal(refused("AuthFailed", w.mail.read, generic(ApplicationPassword=b"wrong")).code, -25293)


@row("S130", "a plain item", "Update its access control", "Param (K2), still readable")
def s130(w):
    w.mail.add(generic(), secret())
    refused("Param", w.mail.update, generic(), {"AccessControl": (PROTECTION, ("application-password",))})
    same_secret(w.mail.read(generic()).secret, secret())


@row(
    "S131", "an item with an application password", "Store it with no flags", "a new reference, readable (K2)"
)
def s131(w):
    old, _ = w.mail.add(gated("application-password", ApplicationPassword=b"right"), secret("old"))
    new, _, created = w.mail.store(generic(AccessControl=(PROTECTION, ())), secret("new"))
    holds(new != old, "another access control gives a new reference")
    equal(created, False, "created")
    refused("ItemNotFound", w.mail.read, {"Reference": old})
    same_secret(w.mail.read(generic()).secret, secret("new"))


@row("S134", "an empty store", "Add a synchronizable item with a constraint", "Param, nothing stored")
def s134(w):
    refused(
        "Param",
        w.mail.add,
        generic(AccessControl=("when-unlocked", ("user-presence",)), Synchronizable=True),
        secret(),
    )
    equal(w.mail.search(generic(Synchronizable="any")), [])


@row("S136", "an empty store", "Add with Accessible and AccessControl", "Param: never together")
def s136(w):
    refused("Param", w.mail.add, gated(Accessible="after-first-unlock"), secret())
    refused("Param", w.mail.add, gated(Accessible=PROTECTION), secret())
