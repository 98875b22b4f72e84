"""The field's failures of sessions, prompts and signals of the Secret Service."""

import os
import re

from expect import Table, equal, holds, refused, same_secret, secret
from secret_stage import attributes
from secret_words import (
    DEFAULT,
    ENCRYPTED,
    GROUP,
    IS_LOCKED,
    ITEM,
    LOGIN,
    NO_OBJECT,
    NO_SESSION,
    PLAIN,
    ROOT,
    SERVICE,
    SESSION,
)

TABLE = Table()
row = TABLE.row
PATH = re.compile(re.escape(ROOT) + r"/collection/[A-Za-z0-9_]+")


@row("B108", "a plain session, one that is nonsense", "OpenSession", "an empty text and a path; NotSupported")
def b108(s):
    output, path = s.left.call(ROOT, SERVICE, "OpenSession", "sv", (PLAIN, ("s", "")), "vo")
    equal(output, ("s", ""))
    holds(path.startswith(ROOT + "/session/"), "the path of a session")
    for nonsense in ("nonsense", "", "PLAIN", ENCRYPTED + "x"):
        body = (nonsense, ("s", ""))
        error = refused(
            "org.freedesktop.DBus.Error.NotSupported", s.left.call, ROOT, SERVICE, "OpenSession", "sv", body
        )
        holds(error.text, "a text")


@row(
    "B109",
    "a session, an item by the alias path",
    "another connection's use; use after Close",
    "NoSession, with a text",
)
def b109(s):
    item = s.left.create("l", attributes("l"), secret("l"), DEFAULT)
    session = s.left.session_path()
    mine = s.right.create("r", attributes("r"), secret("r"))
    holds(refused(NO_SESSION, s.right.call, mine, ITEM, "GetSecret", "o", (session,)).text, "a text")
    s.left.call(session, SESSION, "Close", returns="")
    holds(refused(NO_SESSION, s.left.secret, item).text, "a text")
    refused(
        (NO_SESSION, NO_OBJECT, "org.freedesktop.DBus.Error.UnknownMethod"),
        s.left.call,
        session,
        SESSION,
        "Close",
    )
    s.left.forget_session()
    same_secret(s.left.secret(item), secret("l"))


@row("B110", "sessions whose shared number begins with zeros", "read over each", "the secret, over every one")
def b110(s):
    item = s.left.create("l", attributes("l"), secret("l"))
    equal(s.left.padded_sessions(3, item), [secret("l")] * 3)
    # A public key with zeros before it is the same number.
    body = (ENCRYPTED, ("ay", bytes(100) + pow(2, 65537, GROUP).to_bytes(128, "big")[100:]))
    holds(s.left.call(ROOT, SERVICE, "OpenSession", "sv", body, "vo")[1], "a session")


@row("B072", "what is open", "Unlock", "at once, without a prompt that could be missed")
def b072(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    equal(s.left.unlock(LOGIN, path), ([LOGIN, path], "/"))


@row(
    "B067",
    "locked, and nobody who could ask",
    "Unlock, start the broker, Unlock",
    "IsLocked at once; it lives on",
)
def b067(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    s.left.lock(LOGIN)
    holds("chatelaine unlock" in refused(IS_LOCKED, s.left.unlock, LOGIN).text, "the text says what opens it")
    s.restart(by_power_cut=True)
    holds(
        "chatelaine unlock" in refused(IS_LOCKED, s.left.unlock, LOGIN, path).text,
        "the text says what opens it",
    )
    s.open()
    equal(s.left.unlock(LOGIN, path), ([LOGIN, path], "/"))
    same_secret(s.left.secret(path), secret("l"))


@row(
    "B082-front",
    "500 clients that open a session and drop",
    "just after a start",
    "alive; the others are served",
)
def b082(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    s.restart()
    s.other.come_and_go(s.world.address, 500)
    s.open()
    same_secret(s.left.secret(path), secret("l"))
    equal(s.world.process.poll(), None, "whether the broker has ended")
    equal(os.path.isdir(f"/proc/{s.world.process.pid}"), True)


@row("B145-front", "400 items, two listeners", "lock, unlock", "a handful of signals each")
def b145(s):
    stored, error = s.left.fill(LOGIN, 400, secret())
    equal((stored, error), (400, ""))
    second = s.another("left")
    second.search({})
    for change in (lambda: s.left.lock(LOGIN), s.open):
        for keyring in (s.left, second):
            keyring.heard()
        change()
        for keyring in (s.left, second):
            told = keyring.heard()
            holds(0 < len(told) <= 8, f"how many signals: {len(told)}")
            holds(any(at == LOGIN for _, at, _ in told), "the collection is told of")


@row(
    "B167-front",
    "a client that searches while the broker starts",
    "from the first moment on",
    "IsLocked, or it; never 'nothing'",
)
def b167(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    s.world.stop()
    s.left.puppet.start("of_secret_service", s.world.address, "search_when_owned", attributes("l"))
    s.world.start()
    holds(s.left.puppet.finish() == IS_LOCKED, "with a passcode it is told to wait")
    s.world.user.unlock(s.world.passcode)
    s.world.remove_passcode()
    try:
        for _ in range(5):
            s.world.stop()
            s.left.puppet.start("of_secret_service", s.world.address, "search_when_owned", attributes("l"))
            s.world.start()
            equal(s.left.puppet.finish(), ([path], []), "without one it finds its item")
    finally:
        s.world.set_passcode()
