"""Data fidelity: what was stored comes back, byte for byte, and no other item's in its place."""

import os

from expect import Table, equal, generic, holds, internet, refused, same_secret, secret, without
from store_file import StoreFile
from traces import files_with

TABLE = Table()
row = TABLE.row

PEM = "\n".join(["-----BEGIN KEY-----", *("QUJD" * 30 for _ in range(17)), "-----END KEY-----", ""])
MULTI_LINE = ('{"token": "' + PEM + '"}').encode()
ABOVE_ASCII = bytes([0x7F, 0x80, 0x81]) + bytes(range(0xE3, 0x100))
ODD = {
    "empty": b"",
    "one-nul": b"\0",
    "nuls": bytes(4097),
    "nul-inside": b"a\0b\0",
    "every-byte": bytes(range(256)),
    "above-ascii": bytes(range(0x80, 0x100)),
    "broken-utf8": b"\xc3\x28\xff\xfe\xed\xa0\x80",
    "byte-order-mark": b"\xef\xbb\xbftext",
    "spaces": b"  pa ss\t  ",
    "line-ends": b"\r\n\n\r \v\f",
    "escapes": rb"\u0142u\u017c %41 &amp; \x00 \0 ${HOME} $(id) `id` '\"",
    "json": b'{"a": null}',
    "looks-encoded": b"0x00ff c2VjcmV0Cg==",
}


def every_client_reads(w, query, wanted, what):
    for puppet in (w.mail, w.calendar):
        same_secret(puppet.read(query).secret, wanted, what)


def round_trip(w, values):
    """Each value by its name: stored, read by two programs, and read again after a restart."""
    for name, value in values.items():
        w.mail.store(generic(Account=name), value)
        every_client_reads(w, generic(Account=name), value, name)
    w.restart()
    w.unlock()
    for name, value in values.items():
        every_client_reads(w, generic(Account=name), value, f"{name} after a restart")


@row("B001", "no passcode", "a secret of many lines, another item, restart", "both byte-exact")
def b001(w):
    w.remove_passcode()
    line_ends = {"unix": MULTI_LINE, "windows": MULTI_LINE.replace(b"\n", b"\r\n"), "bare": b"\n" * 19}
    w.mail.add(generic(Account="unrelated"), secret("unrelated"))
    round_trip(w, line_ends)
    every_client_reads(w, generic(Account="unrelated"), secret("unrelated"), "the unrelated item")


@row("B003", "an empty store", "secrets of bytes from 80 up", "the same length and bytes")
def b003(w):
    round_trip(w, {"random": ABOVE_ASCII, "others": os.urandom(32) + bytes(range(0x80, 0x100))} | ODD)


@row("B004", "an empty store", "61 00 62 00 and its neighbours", "no cut at a zero byte")
def b004(w):
    values = (b"a\0b\0", b"\0a", b"a\0", b"\0\0", b"a" * 15 + b"\0", bytes(16))
    round_trip(w, {str(number): value for number, value in enumerate(values)})


@row("B005", "a secret in UTF-16", "two programs read it", "the same 8 bytes, no transcoding")
def b005(w):
    little, big = "test".encode("utf-16-le"), "test".encode("utf-16")
    round_trip(w, {"little": little, "with-mark": big})
    equal(len(w.calendar.read(generic(Account="little")).secret), 8, "the length")


@row("B006", "a secret of zero bytes", "Search, Read; Read what is absent", "found, 0 bytes; ItemNotFound")
def b006(w):
    round_trip(w, {"blank": b""})
    equal(len(w.mail.search(generic(Account="blank"))), 1)
    refused("ItemNotFound", w.mail.read, generic(Account="never stored"))
    w.mail.update(generic(Account="blank"), {}, b"x")
    w.mail.update(generic(Account="blank"), {}, b"")
    every_client_reads(w, generic(Account="blank"), b"", "emptied again")


@row("B007", "a secret with backslashes and other escapes", "Read", "as it was given, nothing unescaped")
def b007(w):
    round_trip(w, {"escaped": rb"\u0142u\u017c", "others": ODD["escapes"]})
    w.mail.add(generic(Account=rb"\u0142", Label="%41\\n"), secret())
    found = w.mail.read(generic(Account=rb"\u0142")).attributes
    equal((found["Account"], found["Label"]), (rb"\u0142", "%41\\n"))


@row("B010", "secrets of many lengths", "Read", "exact, or TooLarge before anything changes")
def b010(w):
    edges = [1 << power for power in range(4, 17)] + [2068, 4096 * 3, 65_537, (1 << 20) - 1]
    lengths = sorted({length + step for length in edges for step in (-1, 0, 1)} - {(1 << 20) + 1})
    pattern = bytes(range(256)) * 4097
    for length in lengths:
        w.mail.store(generic(), pattern[:length])
        same_secret(w.calendar.read(generic()).secret, pattern[:length], f"{length} bytes")
    w.mail.store(generic(), pattern[: 1 << 20])
    for length in ((1 << 20) + 1, (1 << 20) + 4096):
        refused("TooLarge", w.mail.store, generic(), pattern[:length])
        refused("TooLarge", w.mail.update, generic(), {}, pattern[:length])
    same_secret(w.calendar.read(generic()).secret, pattern[: 1 << 20], "what was there before")


@row("B013", "a secret with white space at its ends", "Store over it; a Store that fails", "exact; kept")
def b013(w):
    for value in (b"  pa ss\t  ", b"\n", b" ", b"\t\0 ", b"pw\r\n"):
        w.mail.store(generic(), value)
        same_secret(w.calendar.read(generic()).secret, value)
    refused("TooLarge", w.mail.store, generic(), bytes((1 << 20) + 1))
    refused("NoSuchAttribute", w.mail.store, generic(Colour="red"), secret())
    same_secret(w.calendar.read(generic()).secret, b"pw\r\n", "after the Stores that failed")


@row("B014", "two accounts of a service, of one label", "Read either", "its own secret: a label is no key")
def b014(w):
    for name in "AB":
        w.mail.store(generic(Account=name, Label="same"), secret(name))
    for name in "AB":
        every_client_reads(w, generic(Account=name), secret(name), name)
    equal(len(w.mail.search(generic(Label="same", Account="A"))), 1)


@row("B015", "items of two accounts", "Store the service without an account", "three items")
def b015(w):
    for name in ("alice", "bob"):
        w.mail.add(generic(Account=name), secret(name))
    equal(w.mail.store(without(generic(), "Account"), secret("none"))[2], True, "created")
    equal(len(w.mail.search(without(generic(), "Account"))), 3)
    for name in ("alice", "bob"):
        every_client_reads(w, generic(Account=name), secret(name), name)


@row("B017", "an item of many attributes", "Search some of them, each, all, one that differs", "found; not")
def b017(w):
    given = internet(Protocol="https", Path="/x", Port=8443, SecurityDomain=b"\xffd", Label="l", Comment="")
    reference, _ = w.mail.add(given, secret())
    for key in given:
        found = w.mail.search({"Class": given["Class"], key: given[key]})
        equal([one["Reference"] for one in found], [reference], key)
        equal(len(w.mail.search(without(given, key) | {"Class": given["Class"]})), 1)
    for key, other in (("Path", "/y"), ("Port", 8444), ("Label", "L"), ("SecurityDomain", b"\xffD")):
        equal(w.mail.search(given | {key: other}), [])


@row("B018", "a deleted item", "look into the files of the store", "its ciphertext and its tokens are gone")
def b018(w):
    reference, _ = w.mail.add(generic(Account="delete-me", Label="delete-me-7781"), secret("x" * 300))
    w.mail.add(generic(Account="kept"), secret("kept"))
    with StoreFile.of(w) as store:
        pieces = store.pieces(reference)
    holds(len(pieces) > 3, "the row has sealed parts and tokens to look for")
    holds(files_with(w.state, pieces), "before the delete they are there")
    w.mail.delete(generic(Account="delete-me"))
    StoreFile.await_checkpoint(w)
    equal(files_with(w.state, pieces), {}, "what of it is in which file")
    with StoreFile.of(w) as store:
        equal(store.pieces(reference), [], "what tables still have of it")
    every_client_reads(w, generic(Account="kept"), secret("kept"), "the other item")


@row("B019", "items of other names", "Read a name that nearly fits", "ItemNotFound: no nearest match")
def b019(w):
    w.mail.add(generic(Service="test1", Account="username"), secret("one"))
    w.mail.add(generic(Service="test1", Account="test"), secret("two"))
    w.mail.add(generic(Service="test1", Account=b"user\0"), secret("three"))
    for account in ("user", "usernam", "Username", "username ", " username", "username\0", "%", "user*", ""):
        # As bytes, since a D-Bus string holds no zero byte.
        refused("ItemNotFound", w.mail.read, generic(Service="test1", Account=account.encode()))


@row("B022", "a when-unlocked item", "Store it as after-first-unlock", "one item, new value, new class")
def b022(w):
    classes = ("when-unlocked", "after-first-unlock", "when-passcode-set-this-device-only")
    for accessible in (*classes, *reversed(classes)):
        w.mail.store(generic(Accessible=accessible), secret(accessible))
        (found,) = w.mail.read_all(generic())
        same_secret(found.secret, secret(accessible), accessible)
        equal(found.attributes["Accessible"], accessible)


@row("B023", "an item", "Store the very same again, 50 times", "one reference, no growth")
def b023(w):
    given = generic(Label="l", Comment="c")
    reference, revision, _ = w.mail.store(given, secret())
    for _ in range(50):
        again, grown, created = w.mail.store(given, secret())
        equal((again, created), (reference, False))
        holds(grown > revision, "each success raises the revision")
        revision = grown
    equal(len(w.mail.search(generic())), 1)
    equal(sum(sum(counts) for counts in w.admin.list_groups().values()), 1, "the number of items")


@row("B024", "a Git credential with an expiry", "Store a newer one", "one item, the newer secret and expiry")
def b024(w):
    host = internet(Server="h", Protocol="https", Account="alice")
    for expiry, refresh in ((1_900_000_000, "r1"), (1_900_003_600, "r2")):
        text = f"password\npassword_expiry_utc={expiry}\noauth_refresh_token={refresh}\n".encode()
        w.mail.store(host | {"Expires": expiry * 1_000_000}, text)
    (found,) = w.mail.read_all(host)
    same_secret(found.secret, text)
    equal(found.attributes["Expires"], 1_900_003_600_000_000)


@row("B025", "accounts empty, absent and alice", "Search, Store and Delete the empty one", "it alone")
def b025(w):
    # Here an omitted part of the primary key is the empty one; in a query it is no filter.
    w.mail.add(generic(Account=""), secret("empty"))
    w.mail.add(generic(Account="alice"), secret("alice"))
    refused("DuplicateItem", w.mail.add, without(generic(), "Account"), secret())
    for _ in range(2):
        (found,) = w.mail.read_all(generic(Account=""))
        same_secret(found.secret, secret("empty"))
        equal(len(w.mail.search(without(generic(), "Account"))), 2)
        w.restart()
        w.unlock()
    equal(w.mail.store(generic(Account=""), secret("newer"))[2], False, "created")
    every_client_reads(w, generic(Account="alice"), secret("alice"), "alice")
    equal(w.mail.delete(generic(Account="")), 1)
    every_client_reads(w, generic(Account="alice"), secret("alice"), "alice")


ATTRIBUTE_KEYS = ("Service", "Account", "Generic", "Label", "Description", "Comment")


@row("B003-attributes", "attributes of odd bytes", "Search by each, restart", "found, byte-exact")
def attributes(w):
    for name, value in ODD.items():
        given = {"Class": "generic-password"} | dict.fromkeys(ATTRIBUTE_KEYS, value)
        reference, _, _ = w.mail.store(given, secret(name))
        for key in ATTRIBUTE_KEYS:
            found = w.mail.search({"Class": "generic-password", key: value})
            equal([one["Reference"] for one in found], [reference], f"who has {name} as {key}")
            equal([one[key] for one in found], [value], name)
    w.restart()
    w.unlock()
    client = w.calendar
    for name, value in ODD.items():
        same_secret(client.read({"Class": "generic-password", "Comment": value}).secret, secret(name), name)
