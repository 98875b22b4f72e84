"""The field's failures of values and of locks, played through the Secret Service: bytes as they came, locked as locked."""

import os

from expect import Table, equal, holds, refused, same_secret, secret
from secret_stage import NEVER, attributes
from secret_words import DEFAULT, IS_LOCKED, ITEM, LOGIN, NO_OBJECT, ROOT

TABLE = Table()
row = TABLE.row
PEM = (
    b'{"key":"-----BEGIN KEY-----\n'
    + b"\n".join([b"A" * 120] * 19)
    + b'\n-----END KEY-----\n","r":"\\n\\u0000"}'
)


@row("B001-front", "no passcode, a secret of many lines, an unrelated item", "restart", "both, to the byte")
def b001(s):
    s.world.remove_passcode()
    try:
        paths = [
            s.left.create("pem", attributes("pem"), PEM),
            s.left.create("other", attributes("o"), secret("o")),
        ]
        s.restart()
        equal(sorted(s.left.items()), sorted(paths))
        same_secret(s.left.secret(paths[0]), PEM)
        same_secret(s.left.secret(paths[1]), secret("o"))
    finally:
        s.world.set_passcode()


@row(
    "B003-front",
    "bytes that are no text, said to be text",
    "store, read, restart, read",
    "the bytes that came",
)
def b003(s):
    values = [b"\x7f\x80\x81" + os.urandom(29), bytes(range(256)), b"\0", b"\xff\xfe", b""]
    paths = [s.left.create("l", attributes(str(n)), value) for n, value in enumerate(values)]
    for _ in range(2):
        for path, value in zip(paths, values):
            same_secret(s.left.secret(path), value)
        s.restart()
        s.open()


@row("B004-front", "one value under two content types", "read", "the bytes and the type that was given")
def b004(s):
    for kind in ("text/plain", "application/octet-stream", "text/plain; charset=utf8", ""):
        path = s.left.create("l", attributes(kind), b"a\0b\0", DEFAULT, False, kind)
        equal(s.left.secret_and_type(path), (b"a\0b\0", kind))


@row("B007-front", "backslashes and percent signs", "store and read", "not a character is taken for another")
def b007(s):
    for text in ("\\u0142u\\u017c", "%41%00", "&lt;&#0;", "'; DROP TABLE", "\\", "\r\n", "$HOME `id`"):
        path = s.left.create(text, {"text": text, text: ""}, text.encode())
        equal((s.left.secret(path), s.left.get(path, ITEM, "Label")), (text.encode(), text))
        equal(s.left.get(path, ITEM, "Attributes"), {"text": text, text: ""})
        equal(s.left.search({"text": text}), ([path], []))


@row("B010-front", "secrets around the usual limits", "store and read", "the exact bytes, never fewer")
def b010(s):
    for size in (1995, 1996, 1997, 2068, 4096, 4097, 65_535, 65_536, 65_537):
        value = (bytes(range(256)) * (size // 256 + 1))[:size]
        same_secret(s.left.secret(s.left.create("l", attributes(str(size)), value)), value)


@row("B019-front", "two accounts", "ask for one that is not there", "nothing; no nearest match")
def b019(s):
    for name in ("username", "test"):
        s.left.create("l", {"service": "test1", "username": name}, secret(name))
    for name in ("user", "usernam", "username2", "USERNAME", "username ", "*", "%", ""):
        equal(s.left.search({"service": "test1", "username": name}), ([], []), name)


@row(
    "B025-front",
    "an empty user name, another, none",
    "search, replace, delete",
    "empty is a value, and not the same as none",
)
def b025(s):
    given = ({"service": "s", "username": ""}, {"service": "s", "username": "alice"}, {"service": "s"})
    items = [s.left.create(str(n), one, secret(str(n))) for n, one in enumerate(given)]
    for _ in range(2):
        equal(s.left.search(given[0]), ([items[0]], []))
        equal(sorted(s.left.search(given[2])[0]), sorted(items))
        s.restart()
        s.open()
    equal(s.left.create("new", given[0], secret("new"), DEFAULT, True), items[0])
    for path, name in zip(items, ("new", "1", "2")):
        same_secret(s.left.secret(path), secret(name))
    s.left.delete(items[0])
    equal(sorted(s.left.search({"service": "s"})[0]), sorted(items[1:]))


@row(
    "B038-front",
    "a program without an entitlement",
    "SearchItems, GetSecrets of paths it guessed",
    "as if they were not there",
)
def b038(s):
    paths = [s.left.create("l", attributes("l"), secret("l")) for _ in range(3)]
    for keyring in (s.right, s.loner):
        equal(keyring.search(attributes("l")), ([], []))
        equal(keyring.secrets([*paths, NEVER]), {})
        texts = [refused(NO_OBJECT, keyring.secret, path).text for path in (*paths, NEVER)]
        equal(len(set(texts)), 1, "how many different answers")


@row(
    "B053-front",
    "an item, locked",
    "search it, read it, write another",
    "in the locked list; IsLocked with a text",
)
def b053(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    s.left.lock(LOGIN)
    equal(s.left.search(attributes("l")), ([], [path]))
    for call in (lambda: s.left.secret(path), lambda: s.left.create("n", attributes("n"), secret())):
        holds("locked" in refused(IS_LOCKED, call).text, "the text says what is the matter")
    equal(s.left.search(attributes("absent")), ([], []), "what is not there is not locked either")
    s.open()
    equal(s.left.search({}), ([path], []), "what the refused calls left")


@row(
    "B056-front",
    "a stored password, locked",
    "a client reads, and deletes what it takes for wrong",
    "IsLocked; still there",
)
def b056(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    for close in (lambda: s.left.lock(LOGIN), s.restart):
        close()
        refused(IS_LOCKED, s.left.secret, path)
        refused(IS_LOCKED, s.left.delete, path)
        s.open()
        same_secret(s.left.secret(path), secret("l"))


@row(
    "B060-front",
    "two labels, restarted",
    "read them; unlock; read them",
    "IsLocked; the labels: never blanks",
)
def b060(s):
    paths = [s.left.create(name, attributes(name), secret()) for name in ("one", "two")]
    s.restart()
    for path in paths:
        refused(IS_LOCKED, s.left.get, path, ITEM, "Label")
        refused(IS_LOCKED, s.left.get, path, ITEM, "Attributes")
    s.open()
    equal([s.left.get(path, ITEM, "Label") for path in paths], ["one", "two"])


@row(
    "B063-front",
    "the path of an item",
    "lock, unlock, another passcode, a restart",
    "the same path, at every step",
)
def b063(s):
    path = s.left.create("l", attributes("l"), secret("l"))

    def new_passcode():
        s.world.set_passcode(b"another passcode of the test")
        s.world.set_passcode()

    for step in (lambda: s.left.lock(LOGIN), s.world.lock, new_passcode, s.restart):
        step()
        s.open()
        same_secret(s.left.secret(path), secret("l"))
        equal(s.left.search({}), ([path], []))


@row(
    "B155-front",
    "no display, before the first unlock",
    "store, search, unlock",
    "IsLocked at once, and the command to run",
)
def b155(s):
    s.restart()
    for call in (
        lambda: s.left.create("l", attributes("l"), secret()),
        lambda: s.left.search({}),
        lambda: s.left.unlock(DEFAULT),
        lambda: s.left.unlock(ROOT + "/collection/login"),
    ):
        holds("chatelaine unlock" in refused(IS_LOCKED, call).text, "the text says how to unlock")
