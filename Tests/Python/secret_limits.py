"""How much a client of org.freedesktop.secrets may have: a clear error beyond it, and nobody else is harmed."""

import os

from expect import Table, equal, holds, refused, same_secret, secret
from secret_stage import LEFT, attributes, unharmed
from secret_words import (
    COLLECTION,
    DEFAULT,
    INVALID,
    ITEM,
    LIMIT,
    LOGIN,
    SESSION_COLLECTION,
)

TABLE = Table()
row = TABLE.row
MIB = 1 << 20


@row(
    "SH01",
    "attributes of 10,000 pairs, of 1 MiB; such a label",
    "store, set, search",
    "LimitsExceeded or InvalidArgs",
)
def large(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    many = {f"name {number}": "value" for number in range(10_000)}
    for given in (many, {"name": "x" * MIB}, {"x" * MIB: "value"}, {str(n): "x" * 4096 for n in range(100)}):
        for call in (
            lambda: s.left.create("m", given, secret()),
            lambda: s.left.create("m", given, secret(), DEFAULT, True),
            lambda: s.left.set(path, ITEM, "Attributes", "a{ss}", given),
        ):
            holds(refused((LIMIT, INVALID), call).text, "a text")
        in_session = lambda: s.left.create("m", given, secret(), SESSION_COLLECTION)
        holds(refused((LIMIT, INVALID), in_session).text, "a text")
    for call in (
        lambda: s.left.create("x" * MIB, attributes("m"), secret()),
        lambda: s.left.set(path, ITEM, "Label", "s", "x" * MIB),
        lambda: s.left.set(LOGIN, COLLECTION, "Label", "s", "x" * MIB),
        lambda: s.left.create_collection("x" * MIB),
        lambda: s.left.create_collection("x", "y" * MIB),
        lambda: s.left.set_alias("y" * MIB, LOGIN),
        lambda: s.left.create("l", attributes("m"), secret(), DEFAULT, False, "t" * MIB),
    ):
        holds(refused((LIMIT, INVALID), call).text, "a text")
    equal((s.left.search(many), s.left.search({"name": "x" * MIB})), (([], []), ([], [])))
    equal((s.left.items(), s.left.get(path, ITEM, "Attributes")), ([path], attributes("l")), "what there was")
    equal(s.left.collections(), [LOGIN, SESSION_COLLECTION])
    unharmed(s, s.right)


@row(
    "SH02",
    "secrets of 1 MiB and one byte more",
    "store, set, in both kinds of session",
    "kept; LimitsExceeded",
)
def sizes(s):
    for use in (lambda: None, s.left.use_plain_session):
        use()
        whole = os.urandom(MIB)
        path = s.left.create("l", attributes("l"), whole)
        same_secret(s.left.secret(path), whole)
        refused(LIMIT, s.left.create, "m", attributes("m"), whole + b"x")
        refused(LIMIT, s.left.set_secret, path, whole + b"x")
        same_secret(s.left.secret(path), whole, "after the refusal")
        s.left.delete(path)
    equal(s.left.items(), [])
    unharmed(s, s.right)


@row("SH05", "a connection that opens 300 sessions", "open them", "a limit; others open theirs")
def many_sessions(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    opened, error = s.left.open_sessions(300)
    holds(200 <= opened < 300, f"how many it got: {opened}")
    equal(error, LIMIT, "what it was refused with")
    same_secret(s.left.secret(path), secret("l"), "over the session that it has")
    unharmed(s, s.right)


@row(
    "SH06",
    "a group with a quota",
    "CreateItem in a loop",
    "LimitsExceeded; what there was is kept; others go on",
)
def quota(s):
    few = "org.test.few"
    s.policy(sections=f"\n[AccessGroup {few}]\nRequireTrust=user\nMaxItems=20\n", left=f"{few} {LEFT}")
    made = s.left.create_collection("left's")
    stored, error = s.left.fill(made, 40, secret("kept"))
    equal((stored, error), (19, LIMIT), "items beside the collection, and what it was refused with")
    items = s.left.items(made)
    equal(len(items), 19)
    equal(s.left.secrets(items), dict.fromkeys(items, secret("kept")))
    refused(LIMIT, s.left.create_collection, "one more")
    refused(LIMIT, s.left.set, LOGIN, COLLECTION, "Label", "s", "needs a row")
    equal(
        s.left.create("again", {"number": "0"}, secret("new"), made, True) in items, True, "a change has room"
    )
    unharmed(s, s.right)
    s.left.delete(items[0])
    s.left.create("one", attributes("one"), secret(), made)
    s.world.admin.force_logout(few)


@row(
    "SH07",
    "the collection session",
    "CreateItem in a loop",
    "LimitsExceeded; each group has a room of its own",
)
def full_session(s):
    stored, error = s.left.fill(SESSION_COLLECTION, 400, secret())
    holds(0 < stored < 400, f"how many it got: {stored}")
    equal((error, len(s.left.items(SESSION_COLLECTION))), (LIMIT, stored))
    path = s.right.create("r", attributes("r"), secret("r"), SESSION_COLLECTION)
    same_secret(s.right.secret(path), secret("r"))
    for item in s.left.items(SESSION_COLLECTION):
        s.left.delete(item)
    path = s.left.create("l", attributes("l"), os.urandom(500_000), SESSION_COLLECTION)
    refused(LIMIT, s.left.create, "m", attributes("m"), os.urandom(600_000), SESSION_COLLECTION)
    equal(s.left.items(SESSION_COLLECTION), [path])
    unharmed(s, s.right)
