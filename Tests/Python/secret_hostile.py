"""Clients of org.freedesktop.secrets that mean harm, or do not know better: a clear error, and nobody else is harmed."""

import os
import secrets

from connection import BrokerError
from expect import Table, equal, holds, refused, secret
from leaks import journal
from puppets import PuppetLost
from secret_stage import NEVER, attributes, unharmed
from secret_words import (
    COLLECTION,
    DEFAULT,
    INVALID,
    ITEM,
    LOGIN,
    NO_OBJECT,
    PROPERTIES,
    ROOT,
    SERVICE,
)
from traces import found_in

TABLE = Table()
row = TABLE.row
MIB = 1 << 20


@row(
    "SH03",
    "values of wrong types, properties that are none",
    "create, set, get",
    "an error each, nothing changed",
)
def types(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    sealed = lambda: (s.left.session_path(), b"", b"", "text/plain")
    s.left.use_plain_session()
    for key, value in (
        (ITEM + ".Label", ("u", 7)),
        (ITEM + ".Label", ("ay", b"l")),
        (ITEM + ".Attributes", ("a{sv}", {})),
        (ITEM + ".Attributes", ("as", ["l"])),
        (ITEM + ".Attributes", ("s", "l")),
    ):
        body = ({key: value}, sealed(), False)
        refused(INVALID, s.left.call, DEFAULT, COLLECTION, "CreateItem", "a{sv}(oayays)b", body)
    for name, signature, value in (
        ("Label", "u", 7),
        ("Attributes", "s", "l"),
        ("Attributes", "a{sv}", {}),
        ("Locked", "b", False),
        ("Created", "t", 1),
        ("Nothing", "s", ""),
    ):
        try:
            s.left.set(path, ITEM, name, signature, value)
        except BrokerError as error:
            holds(error.text, f"the error of {name} has a text")
        else:
            raise AssertionError(f"{name} was set to a {signature}")
    for member, signature, body in (
        ("SearchItems", "s", ("l",)),
        ("SearchItems", None, ()),
        ("GetSecrets", "as", ([],)),
        ("Unlock", "o", (LOGIN,)),
        ("CreateCollection", "s", ("l",)),
        ("OpenSession", "s", ("plain",)),
    ):
        refused(
            (INVALID, "org.freedesktop.DBus.Error.UnknownMethod"),
            s.left.call,
            ROOT,
            SERVICE,
            member,
            signature,
            body,
        )
    equal((s.left.get(path, ITEM, "Label"), s.left.get(path, ITEM, "Attributes")), ("l", attributes("l")))
    unharmed(s, s.right)


@row("SH04", "paths of every kind", "list them to every call that takes paths", "left out, or NoSuchObject")
def paths(s):
    mine = s.left.create("l", attributes("l"), secret("l"))
    odd = [
        "/",
        "/a",
        ROOT,
        ROOT + "/collection",
        ROOT + "/collection/nobodys",
        LOGIN + "/a/b",
        LOGIN + "/login",
        ROOT + "/session/s1",
        ROOT + "/prompt/p1",
        ROOT + "/aliases/nobodys/" + "0" * 32,
        NEVER,
        mine.replace("login", "session"),
        mine + "/a",
        ROOT + "/collection/" + "x" * 5000,
    ]
    equal(s.left.secrets([*odd, mine]), {mine: secret("l")})
    equal(s.left.unlock(*odd, mine), ([mine], "/"))
    equal(s.left.lock(*odd), ([], "/"))
    for path in odd[4:]:
        refused(
            (
                NO_OBJECT,
                "org.freedesktop.DBus.Error.UnknownMethod",
                "org.freedesktop.DBus.Error.UnknownObject",
            ),
            s.left.secret,
            path,
        )
    equal(len(s.left.secrets([mine] * 1000)), 1)
    unharmed(s, s.right)


@row(
    "SH09",
    "texts with a NUL in them",
    "send them in every place",
    "the bus ends that connection, and no other",
)
def nul(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    for call in (
        lambda hostile: hostile.create("a\0b", attributes("l"), secret()),
        lambda hostile: hostile.create("l", {"name": "a\0b"}, secret()),
        lambda hostile: hostile.search({"a\0b": "l"}),
        lambda hostile: hostile.set(path, ITEM, "Label", "s", "a\0b"),
        lambda hostile: hostile.set_alias("a\0b", LOGIN),
    ):
        try:
            call(s.another("left"))
        except PuppetLost:
            continue
        raise AssertionError("a text with a NUL was taken")
    equal((s.left.items(), s.left.get(path, ITEM, "Label")), ([path], "l"))
    unharmed(s, s.right)


@row(
    "SH08", "a life of right and wrong calls", "look through the log", "no secret, label, attribute or alias"
)
def log(s):
    marks = {
        name: "m" + secrets.token_hex(16)
        for name in ("secret", "label", "name", "value", "alias", "type", "window")
    }
    given, value = {marks["name"]: marks["value"]}, marks["secret"].encode()
    texts = []
    path = s.left.create(marks["label"], given, value, DEFAULT, False, marks["type"])
    made = s.left.create_collection(marks["label"], marks["alias"])
    for call in (
        lambda: s.left.search(given),
        lambda: s.left.secret(path),
        lambda: s.right.secret(path),
        lambda: s.right.search(given),
        lambda: s.left.create(marks["label"], given, value + os.urandom(MIB)),
        lambda: s.left.create(marks["label"] * 50_000, given, value),
        lambda: s.left.set(path, ITEM, "Attributes", "a{ss}", {marks["name"]: marks["value"] * 50_000}),
        lambda: s.left.set(path, ITEM, marks["name"], "s", marks["value"]),
        lambda: s.left.set(path, ITEM, "Label", "ay", value),
        lambda: s.left.call(path, PROPERTIES, "Get", "ss", (marks["name"], marks["value"])),
        lambda: s.left.call(ROOT, SERVICE, marks["name"], "a{ss}", (given,)),
        lambda: s.left.call(ROOT, SERVICE, "OpenSession", "sv", (marks["name"], ("s", marks["value"]))),
        lambda: s.left.set_alias(marks["alias"], made + "0"),
        lambda: s.left.call(
            DEFAULT, COLLECTION, "CreateItem", "a{sv}(oayays)b", ({}, ("/", b"", value, marks["type"]), False)
        ),
        lambda: s.left.secret(f"{LOGIN}/{marks['name']}"),
        lambda: s.left.lock(LOGIN),
        lambda: s.left.set_secret(path, value),
        lambda: s.left.set(path, ITEM, "Label", "s", marks["label"]),
    ):
        try:
            call()
        except BrokerError as error:
            texts.append(error.text)
    holds(len(texts) >= 12, f"how many were refused: {len(texts)}")
    s.open()
    s.left.delete(made, COLLECTION)
    s.left.delete(path)
    # A name that sd-bus does not know is in its own answer to who asked, as it was asked.
    said = "\n".join(text for text in texts if "Unknown" not in text).encode()
    values = {name: value.encode() for name, value in marks.items()}
    hidden = {name: value for name, value in values.items() if name != "name"}
    equal(found_in(said, hidden), {}, "what the errors' texts have")
    written = s.world.log().encode() + journal(s.world)
    holds(b"org.test.left" in written, "the log has lines of what this program did")
    equal(found_in(written, values), {}, "what the log has")
