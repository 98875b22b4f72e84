"""S098 to S113: lock states and the passcode."""

from expect import Table, equal, generic, refused, same_secret, secret, without

TABLE = Table()
row = TABLE.row
SERVICE = without(generic(), "Account")
AFTER, PASSCODE_SET = "after-first-unlock", "when-passcode-set-this-device-only"


def locked_item(world, name="old"):
    """A when-unlocked item, and the device locked."""
    reference, _ = world.mail.add(generic(), secret(name))
    world.lock()
    return reference


def one_of_each(world):
    world.mail.add(generic(Account="foreground"), secret("foreground"))
    world.mail.add(generic(Account="background", Accessible=AFTER), secret("background"))
    world.lock()


@row("S098", "locked", "Add a when-unlocked item", "-25308")
def s098(w):
    w.lock()
    equal(refused("InteractionNotAllowed", w.mail.add, generic(), secret()).code, -25308)
    w.unlock()
    equal(w.mail.search(generic()), [])


@row("S099", "a when-unlocked item, locked", "Add the same", "-25308, not -25299")
def s099(w):
    locked_item(w)
    refused("InteractionNotAllowed", w.mail.add, generic(), secret())


@row("S100", "a when-unlocked item, locked", "Read", "-25308")
def s100(w):
    reference = locked_item(w)
    refused("InteractionNotAllowed", w.mail.read, generic())
    refused("InteractionNotAllowed", w.mail.read, {"Reference": reference})


@row("S101", "a when-unlocked item, locked", "Search", "-25308 (K5)")
def s101(w):
    locked_item(w)
    refused("InteractionNotAllowed", w.mail.search, generic())


@row("S102", "locked, no such item", "Read", "ItemNotFound; Search: nothing")
def s102(w):
    locked_item(w)
    refused("ItemNotFound", w.mail.read, generic(Account="nobody"))
    equal(w.mail.search(generic(Account="nobody")), [])


@row("S103", "a when-unlocked item, locked", "Update its secret", "-25308; after unlock the old secret")
def s103(w):
    locked_item(w, "old")
    refused("InteractionNotAllowed", w.mail.update, generic(), {}, secret("new"))
    w.unlock()
    same_secret(w.mail.read(generic()).secret, secret("old"))


@row("S104", "a when-unlocked item, locked", "Delete", "deleted (K6)")
def s104(w):
    locked_item(w)
    equal(w.mail.delete(generic()), 1)
    w.unlock()
    refused("ItemNotFound", w.mail.read, generic())


@row("S105", "locked", "Add an after-first-unlock item, Read", "stored and read")
def s105(w):
    w.lock()
    w.mail.add(generic(Accessible=AFTER), secret())
    same_secret(w.mail.read(generic()).secret, secret())


@row(
    "S106",
    "an after-first-unlock item, the broker started anew",
    "every item call",
    "-25308 until unlock (K9)",
)
def s106(w):
    w.mail.add(generic(Accessible=AFTER), secret())
    w.restart()
    equal(w.user.property("State"), "before-first-unlock")
    for query in (generic(), generic(Account="nobody")):
        for call in (w.mail.read, w.mail.search, w.mail.read_all, w.mail.delete):
            refused("InteractionNotAllowed", call, query)
        refused("InteractionNotAllowed", w.mail.update, query, {"Comment": "c"})
        refused("InteractionNotAllowed", w.mail.add, query | {"Accessible": AFTER}, secret())
    w.unlock()
    same_secret(w.mail.read(generic()).secret, secret())


@row("S107", "unlocked", "Add with the always classes", "Param, with the replacement's name (K15)")
def s107(w):
    for word in ("always", "always-this-device-only"):
        error = refused("Param", w.mail.add, generic(Accessible=word), secret())
        equal("after-first-unlock" in error.text, True, "the text names the replacement, and that")


@row("S108", "a locked and a readable item of a service", "ReadAll and Search by service", "-25308 (K25)")
def s108(w):
    one_of_each(w)
    refused("InteractionNotAllowed", w.mail.read_all, SERVICE)
    refused("InteractionNotAllowed", w.mail.search, SERVICE)


@row("S109", "a locked and a readable item of a service", "ReadAll with Accessible", "the readable one")
def s109(w):
    one_of_each(w)
    (found,) = w.mail.read_all(SERVICE | {"Accessible": AFTER})
    same_secret(found.secret, secret("background"))


@row("S110", "a passcode-set item", "remove the passcode, Read", "ItemNotFound")
def s110(w):
    w.mail.add(generic(Accessible=PASSCODE_SET), secret())
    w.remove_passcode()
    equal(w.user.property("State"), "unlocked")
    refused("ItemNotFound", w.mail.read, generic())


@row("S111", "no passcode", "Add a passcode-set item", "NotAvailable (K4)")
def s111(w):
    w.remove_passcode()
    equal(refused("NotAvailable", w.mail.add, generic(Accessible=PASSCODE_SET), secret()).code, -25291)


@row("S112", "a lost passcode-set item, a new passcode", "Read it; Add it", "ItemNotFound; stored")
def s112(w):
    w.mail.add(generic(Accessible=PASSCODE_SET), secret("old"))
    w.remove_passcode()
    w.set_passcode()
    refused("ItemNotFound", w.mail.read, generic())
    w.mail.add(generic(Accessible=PASSCODE_SET), secret("new"))
    same_secret(w.mail.read(generic()).secret, secret("new"))


@row(
    "S113",
    "items of each vault",
    "change the passcode, start anew, unlock",
    "still readable; the old is wrong",
)
def s113(w):
    old = w.passcode
    w.mail.add(generic(), secret("foreground"))
    w.mail.add(generic(Account="b", Accessible=PASSCODE_SET), secret("passcode"))
    w.set_passcode(b"another-passcode")
    same_secret(w.mail.read(generic()).secret, secret("foreground"))
    w.restart()
    equal(refused("AuthFailed", w.user.unlock, old).code, -25293)
    w.unlock()
    same_secret(w.mail.read(generic()).secret, secret("foreground"))
    same_secret(w.mail.read(generic(Account="b")).secret, secret("passcode"))
