"""Calls that no honest client makes: wrong types, wrong keys, old nonces, other people's sessions."""

from xml.etree import ElementTree

from attributes import encode
from chatelaine_client import ITEMS, MANAGER, OBJECT, SESSION, SUBSCRIPTIONS
from expect import Table, equal, generic, holds, refused, secret
from sessions import ENCRYPTED, EncryptedSession, PlainSession

TABLE = Table()
row = TABLE.row
DBUS = "org.freedesktop.DBus."
INVALID = DBUS + "Error.InvalidArgs"
UNKNOWN = tuple(DBUS + "Error." + kind for kind in ("UnknownObject", "UnknownInterface", "UnknownMethod"))
SEARCH = ("a{sv}", (encode({"Class": "internet-password"}),))


def open_session(puppet, algorithm, value):
    return puppet.raw_call(OBJECT, ITEMS, "OpenSession", "sv", (algorithm, value))


def add_sealed(puppet, account, sealed):
    return puppet.raw_call(OBJECT, ITEMS, "Add", "a{sv}(oayay)", (encode(generic(Account=account)), sealed))


class Open:
    """A session of a puppet's connection whose keys this process holds, to seal what no client would."""

    def __init__(self, puppet):
        self.puppet, self.session = puppet, EncryptedSession()
        self.session.open_with(*open_session(puppet, ENCRYPTED, self.session.input))


@row("H01", "each method that takes arguments", "call it with a wrong signature", "InvalidArgs")
def h01(w):
    members = methods_with_arguments(
        w.mail.raw_call(OBJECT, DBUS + "Introspectable", "Introspect", None, ())[0]
    )
    holds(
        {(ITEMS, "Add"), (MANAGER, "Unlock"), (SUBSCRIPTIONS, "Subscribe")} <= set(members),
        "the contract is there",
    )
    for interface, member in members:
        refused(INVALID, w.mail.raw_call, OBJECT, interface, member, "x", (7,))


def methods_with_arguments(introspection):
    found = []
    for interface in ElementTree.fromstring(introspection).iter("interface"):
        for method in interface.iter("method"):
            if interface.get("name").startswith(ITEMS.removesuffix("Items")) and any(
                argument.get("direction") != "out" for argument in method.iter("arg")
            ):
                found.append((interface.get("name"), method.get("name")))
    return found


@row("H02", "no such object, interface or method", "call it", "an error of D-Bus's own")
def h02(w):
    refused(UNKNOWN, w.mail.raw_call, OBJECT + "/nowhere", ITEMS, "Search", *SEARCH)
    refused(UNKNOWN, w.mail.raw_call, OBJECT, "org.chatelaine.Nothing", "Search", *SEARCH)
    refused(UNKNOWN, w.mail.raw_call, OBJECT, ITEMS, "Destroy", None, ())
    refused(UNKNOWN, w.mail.raw_call, OBJECT + "/session/999999", SESSION, "Close", None, ())


@row("H03", "an algorithm, a key or a type that is none", "OpenSession", "Param")
def h03(w):
    refused("Param", open_session, w.mail, "rot13", ("s", ""))
    for length in (0, 31, 33, 64):
        refused("Param", open_session, w.mail, ENCRYPTED, ("ay", bytes([9]) * length))
    refused("Param", open_session, w.mail, ENCRYPTED, ("s", "x" * 32))


@row("H04", "public keys of small order", "OpenSession", "Param: the shared secret would be zero")
def h04(w):
    for key in (bytes(32), bytes([1]) + bytes(31)):
        refused("Param", open_session, w.mail, ENCRYPTED, ("ay", key))


@row(
    "H05", "a session bus", "OpenSession plain; a secret for the session /", "EncryptionRequired or NoSession"
)
def h05(w):
    refused("EncryptionRequired", open_session, w.mail, "plain", ("s", ""))
    refused(
        ("EncryptionRequired", "NoSession"), add_sealed, w.mail, "plain", PlainSession("/").seal(secret())
    )


@row(
    "H06",
    "16 sessions of one connection",
    "open the 17th; close one; open again",
    "QuotaExceeded; then opened",
)
def h06(w):
    puppet = w.puppet("mail")
    try:
        paths = [open_session(puppet, ENCRYPTED, EncryptedSession().input)[1] for _ in range(16)]
        for _ in range(100):
            refused("QuotaExceeded", open_session, puppet, ENCRYPTED, EncryptedSession().input)
        puppet.raw_call(paths[0], SESSION, "Close", None, ())
        open_session(puppet, ENCRYPTED, EncryptedSession().input)
    finally:
        puppet.close()


@row("H07", "a sealed secret", "send it twice, send an older nonce, send nonce 0", "Param; nothing stored")
def h07(w):
    session = Open(w.mail).session
    sealed = session.seal(secret(), counter=5)
    add_sealed(w.mail, "first", sealed)
    refused("Param", add_sealed, w.mail, "replayed", sealed)
    refused("Param", add_sealed, w.mail, "older", session.seal(secret(), counter=4))
    refused("Param", add_sealed, w.mail, "zero", session.seal(secret(), counter=0))
    for account in ("replayed", "older", "zero"):
        equal(w.mail.search(generic(Account=account)), [])


@row("H08", "a sealed secret whose call is refused", "send its nonce again", "Param: the nonce is spent")
def h08(w):
    session = Open(w.mail).session
    add_sealed(w.mail, "taken", session.seal(secret(), counter=1))
    sealed = session.seal(secret(), counter=2)
    refused("DuplicateItem", add_sealed, w.mail, "taken", sealed)
    refused("Param", add_sealed, w.mail, "other", sealed)


@row("H09", "a sealed secret", "flip a bit of its text, its tag, its nonce; cut it", "Param; nothing stored")
def h09(w):
    session = Open(w.mail).session
    for counter, change in enumerate(
        (
            lambda path, nonce, sealed: (path, nonce, bytes([sealed[0] ^ 1]) + sealed[1:]),
            lambda path, nonce, sealed: (path, nonce, sealed[:-1] + bytes([sealed[-1] ^ 1])),
            lambda path, nonce, sealed: (path, nonce[:3] + b"\1" + nonce[4:], sealed),
            lambda path, nonce, sealed: (path, nonce[:11], sealed),
            lambda path, nonce, sealed: (path, nonce, sealed[:15]),
            lambda path, nonce, sealed: (path, nonce, b""),
        )
    ):
        refused(
            "Param", add_sealed, w.mail, "broken", change(*session.seal(secret(), counter=10 * (counter + 1)))
        )
    equal(w.mail.search(generic(Account="broken")), [])


@row(
    "H10", "another connection's session", "add with it, read with it, close it", "NoSession; it still works"
)
def h10(w):
    theirs = Open(w.mail).session
    sealed = theirs.seal(secret(), counter=1)
    refused("NoSession", add_sealed, w.calendar, "stolen", sealed)
    refused(
        "NoSession", w.calendar.raw_call, OBJECT, ITEMS, "Read", "a{sv}o", (encode(generic()), theirs.path)
    )
    refused(("NoSession", *UNKNOWN), w.calendar.raw_call, theirs.path, SESSION, "Close", None, ())
    add_sealed(w.mail, "mine", sealed)


@row("H11", "a dictionary with a key twice, with 200 keys, with deep variants", "Search", "refused")
def h11(w):
    twice = [("Class", ("s", "generic-password")), ("Class", ("s", "internet-password"))]
    refused("Param", w.mail.raw_call, OBJECT, ITEMS, "Search", "a{sv}", (twice,))
    many = {f"Key{number}": ("s", "x") for number in range(200)}
    refused(
        ("TooLarge", "NoSuchAttribute"),
        w.mail.raw_call,
        OBJECT,
        ITEMS,
        "Search",
        "a{sv}",
        (many,),
    )
    deep = ("s", "x")
    for _ in range(50):
        deep = ("v", deep)
    refused(
        ("Param", INVALID),
        w.mail.raw_call,
        OBJECT,
        ITEMS,
        "Search",
        "a{sv}",
        ({"Class": ("s", "generic-password"), "Service": deep},),
    )


@row(
    "H12",
    "an attribute of 64 KiB and a byte; attributes of more than 256 KiB",
    "Add",
    "TooLarge; nothing stored",
)
def h12(w):
    refused("TooLarge", w.mail.add, generic(Label=b"x" * ((64 << 10) + 1)), secret())
    large = {key: b"x" * (60 << 10) for key in ("Label", "Description", "Comment", "Generic", "Account")}
    refused("TooLarge", w.mail.add, generic(**large), secret())
    equal(w.mail.search({"Class": "generic-password"}), [])
