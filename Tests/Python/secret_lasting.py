"""What lasts: paths, labels, attributes, aliases, over a power cut and a rename; what does not: the collection session."""

from expect import Table, equal, holds, refused, same_secret, secret
from secret_stage import attributes
from secret_words import (
    COLLECTION,
    DEFAULT,
    ITEM,
    LOGIN,
    NO_OBJECT,
    NO_SESSION,
    PROPERTIES,
    ROOT,
    SERVICE,
    SESSION_COLLECTION,
)

TABLE = Table()
row = TABLE.row
TEXTS = ("", "plain", "Žluť 🔑", "a/b", "..", "x" * 300, " \t\n", "%s%n\\u0142")


def picture(keyring):
    """All that a program sees: collections, items, their properties and secrets."""
    seen = {}
    for collection in keyring.collections():
        seen[collection] = keyring.call(collection, PROPERTIES, "GetAll", "s", (COLLECTION,))[0]
        for item in keyring.items(collection):
            values = keyring.call(item, PROPERTIES, "GetAll", "s", (ITEM,))[0]
            seen[item] = (values, keyring.secret_and_type(item))
    return seen


@row(
    "SK01",
    "items and collections of every shape",
    "a power cut, a start, unlock",
    "the same, to the byte and the path",
)
def power_cut(s):
    made = [s.left.create_collection(text, f"alias_{number}") for number, text in enumerate(TEXTS)]
    for number, text in enumerate(TEXTS):
        for collection in (DEFAULT, made[number]):
            s.left.create(
                text, {"text": text, text: "value"}, secret(text) + b"\0\n\xff", collection, False, text
            )
    other = s.right.create("right", attributes("r"), secret("r"))
    s.left.set_alias("default", made[1])
    s.left.set(LOGIN, COLLECTION, "Label", "s", "renamed")
    before = picture(s.left)
    s.restart(by_power_cut=True)
    s.open()
    equal(sorted(picture(s.left)), sorted(before), "the paths")
    holds(picture(s.left) == before, "every property and every secret is the same")
    equal([s.left.read_alias(f"alias_{number}") for number in range(len(TEXTS))], made, "the aliases")
    equal((s.left.read_alias("default"), s.right.read_alias("default")), (made[1], LOGIN))
    for text in TEXTS:
        equal(len(s.left.search({text: "value"})[0]), 2, "what a search for it finds")
    same_secret(s.right.secret(other), secret("r"))


@row("SK02", "an item of the session", "a start", "gone, and in no file")
def passing(s):
    path = s.left.create("passing", attributes("passing"), secret("passing"), SESSION_COLLECTION)
    by_alias = s.left.create("passing", attributes("passing"), secret("passing"), ROOT + "/aliases/session")
    holds(by_alias.startswith(SESSION_COLLECTION + "/"), "the alias leads there")
    equal(sorted(s.left.items(SESSION_COLLECTION)), sorted([path, by_alias]))
    s.restart()
    s.open()
    equal((s.left.search({}), s.left.items(SESSION_COLLECTION)), (([], []), []))
    refused(NO_OBJECT, s.left.secret, path)


@row("SK03", "a session", "the broker is started anew", "NoSession, and a new one works")
def sessions(s):
    path, session = s.left.create("l", attributes("l"), secret("l")), s.left.session_path()
    s.restart()
    s.open()
    refused(NO_SESSION, s.left.call, path, ITEM, "GetSecret", "o", (session,))
    same_secret(s.left.secret(path), secret("l"))


@row("SK04", "an item", "changed in every way", "its path is the same, and a path is never given again")
def paths(s):
    path = s.left.create("l", attributes("l"), secret("l"))
    s.left.set(path, ITEM, "Label", "s", "renamed")
    s.left.set(path, ITEM, "Attributes", "a{ss}", attributes("other"))
    s.left.set_secret(path, secret("new"))
    equal(
        s.left.create("again", attributes("other"), secret("newer"), DEFAULT, True), path, "what was replaced"
    )
    same_secret(s.left.secret(path), secret("newer"))
    seen = {path}
    for _ in range(20):
        s.left.delete(path)
        refused(NO_OBJECT, s.left.get, path, ITEM, "Label")
        path = s.left.create("l", attributes("l"), secret("l"))
        holds(path not in seen, "a new path")
        seen.add(path)


@row(
    "SK05",
    "items with more, fewer and other attributes",
    "store with replace",
    "only the same set is replaced",
)
def replacing(s):
    base = attributes("l")
    kept = [
        s.left.create(str(n), given, secret(str(n)))
        for n, given in enumerate((base | {"more": ""}, {"name": "l"}, {}))
    ]
    mine = s.left.create("mine", base, secret("old"))
    theirs = s.right.create("theirs", base, secret("theirs"))
    equal(s.left.create("new", base, secret("new"), DEFAULT, True), mine)
    equal((s.left.get(mine, ITEM, "Label"), len(s.left.items())), ("new", 4))
    for number, path in enumerate(kept):
        same_secret(s.left.secret(path), secret(str(number)))
    same_secret(s.right.secret(theirs), secret("theirs"), "another group's with the same attributes")
    elsewhere = s.left.create_collection("elsewhere")
    holds(
        s.left.create("e", base, secret("e"), elsewhere, True) != mine, "another collection's is not replaced"
    )
    same_secret(s.left.secret(mine), secret("new"))


@row(
    "SK06",
    "several that match",
    "change the first one",
    "the one that was changed last comes first, over a start too",
)
def order(s):
    made = [s.left.create(str(number), attributes("same"), secret()) for number in range(3)]
    equal(s.left.search(attributes("same"))[0], [made[2], made[1], made[0]])
    s.left.set_secret(made[0], secret("new"))
    wanted = [made[0], made[2], made[1]]
    equal(
        (s.left.search(attributes("same"))[0], s.left.search_in(LOGIN, attributes("same"))), (wanted, wanted)
    )
    s.restart()
    s.open()
    equal(s.left.search(attributes("same"))[0], wanted)


@row("SK07", "many items under one collection", "delete it", "each gone, with whatever leads to it")
def deletion(s):
    made = s.left.create_collection("left's", "mine")
    items = [s.left.create(str(number), attributes("l"), secret(), made) for number in range(20)]
    stays = s.left.create("stays", attributes("l"), secret("stays"))
    s.left.delete(made, COLLECTION)
    equal((s.left.search({}), s.left.read_alias("mine")), (([stays], []), "/"))
    equal(s.left.secrets([*items, stays]), {stays: secret("stays")})
    refused(NO_OBJECT, s.left.items, made)
    refused(NO_OBJECT, s.left.create, "n", attributes("n"), secret(), made)
    refused("org.freedesktop.DBus.Error.NotSupported", s.left.delete, LOGIN, COLLECTION)
    equal(s.left.call(ROOT, SERVICE, "Unlock", "ao", ([made],)), ([], "/"))
