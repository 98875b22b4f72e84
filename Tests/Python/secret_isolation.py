"""What one program stores another does not see: every call, list and property of org.freedesktop.secrets."""

from connection import BrokerError
from expect import Table, equal, holds, refused, same_secret, secret
from secret_stage import LEFT, NEVER, SHARED, attributes, members, sees_nothing
from secret_words import (
    COLLECTION,
    DEFAULT,
    ITEM,
    LOGIN,
    NO_OBJECT,
    NO_SESSION,
    ROOT,
    SERVICE,
    SESSION_COLLECTION,
)

TABLE = Table()
row = TABLE.row
INTROSPECTED = (
    ROOT,
    ROOT + "/collection",
    LOGIN,
    SESSION_COLLECTION,
    ROOT + "/aliases",
    DEFAULT,
    ROOT + "/session",
)


def answer(function, *args):
    """What a caller can learn of a call: the answer, or the error's name and text."""
    try:
        return function(*args)
    except BrokerError as error:
        return (error.name, error.text)


def someone_s_things(s):
    """Items of `left` in each kind of collection, and the collection it made."""
    made = s.left.create_collection("left's own", "left_alias")
    items = [
        s.left.create("left", attributes("mine"), secret("left"), collection)
        for collection in (DEFAULT, made, SESSION_COLLECTION)
    ]
    return made, items


@row("SE01", "items of another", "SearchItems, Items, Collections, everywhere", "none, and none counted")
def lists(s):
    before = [answer(s.right.items, LOGIN), s.right.collections()]
    made, items = someone_s_things(s)
    equal(sorted(s.left.search({})[0]), sorted(items), "what its owner finds")
    equal([answer(s.right.items, LOGIN), s.right.collections()], before, "the lists of another")
    sees_nothing(s.right)
    equal(s.right.search(attributes("mine")), ([], []), "an exact search")
    for collection in (LOGIN, DEFAULT, SESSION_COLLECTION):
        equal(s.right.search_in(collection, {}), [], f"a search in {collection}")
    holds(made not in s.right.collections(), "the collection is in no list")
    own = s.right.create("right", attributes("mine"), secret("right"))
    equal((s.right.search({}), s.right.items()), (([own], []), [own]), "what it finds when it has one")
    equal(len(s.left.items()), 1, "what the first counts in login")


@row("SE02", "paths of another's items", "every call by path", "as of a path that never was, to the letter")
def by_path(s):
    _, items = someone_s_things(s)
    calls = (
        lambda path: s.right.secret(path),
        lambda path: s.right.get(path, ITEM, "Attributes"),
        lambda path: s.right.get(path, ITEM, "Label"),
        lambda path: s.right.get(path, ITEM, "Locked"),
        lambda path: s.right.get(path, ITEM, "Modified"),
        lambda path: s.right.call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", (ITEM,)),
        lambda path: s.right.set(path, ITEM, "Label", "s", "taken"),
        lambda path: s.right.set(path, ITEM, "Attributes", "a{ss}", {}),
        lambda path: s.right.set_secret(path, secret("taken")),
        lambda path: s.right.delete(path),
        lambda path: s.right.secrets([path]).get(path),
        lambda path: s.right.lock(path),
        lambda path: s.right.unlock(path),
        lambda path: s.right.introspect(path).replace(path, ""),
    )
    for path in items:
        never = path.rsplit("/", 1)[0] + "/" + "0" * 32
        for number, call in enumerate(calls):
            equal(answer(call, path), answer(call, never), f"call {number} on {path}")
        refused(NO_OBJECT, s.right.secret, path)
        same_secret(s.left.secret(path), secret("left"))
        equal(
            (s.left.get(path, ITEM, "Label"), s.left.get(path, ITEM, "Attributes")),
            ("left", attributes("mine")),
        )
    through = items[0].replace(LOGIN, DEFAULT)
    refused(NO_OBJECT, s.right.secret, through)
    same_secret(s.left.secret(through), secret("left"), "by the alias")


@row("SE03", "a collection of another's", "every call on it and by its alias", "as of one that never was")
def collections(s):
    made, _ = someone_s_things(s)
    never = ROOT + "/collection/" + "0" * 32
    calls = (
        lambda path: s.right.items(path),
        lambda path: s.right.get(path, COLLECTION, "Label"),
        lambda path: s.right.get(path, COLLECTION, "Locked"),
        lambda path: s.right.call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", (COLLECTION,)),
        lambda path: s.right.search_in(path, {}),
        lambda path: s.right.create("r", attributes("r"), secret(), path),
        lambda path: s.right.set(path, COLLECTION, "Label", "s", "taken"),
        lambda path: s.right.set_alias("taken", path),
        lambda path: s.right.delete(path, COLLECTION),
        lambda path: s.right.lock(path),
        lambda path: s.right.unlock(path),
        lambda path: s.right.introspect(path).replace(path, ""),
    )
    for number, call in enumerate(calls):
        equal(answer(call, made), answer(call, never), f"call {number}")
    equal((s.left.read_alias("left_alias"), s.right.read_alias("left_alias")), (made, "/"), "the alias")
    alias = ROOT + "/aliases/left_alias"
    equal(answer(s.right.items, alias), answer(s.right.items, ROOT + "/aliases/nobodys"), "the alias's path")
    equal(s.left.get(made, COLLECTION, "Locked"), False, "whether another closed it")
    # The name is free: whoever takes it gets one of its own, and the first keeps its own.
    own = s.right.create_collection("right's own", "left_alias")
    equal(
        (s.left.read_alias("left_alias"), s.right.read_alias("left_alias")),
        (made, own),
        "one alias, two groups",
    )


@row(
    "SE04",
    "the collection that everybody has",
    "give it a label, an alias",
    "what one calls it is its own affair",
)
def login(s):
    before = s.right.get(LOGIN, COLLECTION, "Label")
    s.left.set(LOGIN, COLLECTION, "Label", "s", "left's")
    s.left.set_alias("work", LOGIN)
    made = s.left.create_collection("left's default")
    s.left.set_alias("default", made)
    equal((s.left.get(LOGIN, COLLECTION, "Label"), s.left.read_alias("work")), ("left's", LOGIN))
    equal((s.right.get(LOGIN, COLLECTION, "Label"), s.right.read_alias("work")), (before, "/"))
    equal(
        (s.left.read_alias("default"), s.right.read_alias("default")), (made, LOGIN), "the default collection"
    )
    refused(NO_OBJECT, s.right.delete, made, COLLECTION)


@row(
    "SE05",
    "a program beside",
    "create, change, delete items and collections",
    "it hears nothing; the owner does",
)
def signals(s):
    s.right.create("right", attributes("r"), secret())
    s.right.heard()
    item = s.left.create("left", attributes("l"), secret())
    s.left.set(item, ITEM, "Label", "s", "changed")
    s.left.set_secret(item, secret("new"))
    passing = s.left.create("left", attributes("l"), secret(), SESSION_COLLECTION)
    for path in (item, passing):
        s.left.delete(path)
    made = s.left.create_collection("left's", "alias")
    s.left.create("left", attributes("l"), secret(), made)
    s.left.set(made, COLLECTION, "Label", "s", "renamed")
    s.left.set(LOGIN, COLLECTION, "Label", "s", "renamed")
    s.left.set_alias("default", made)
    s.left.delete(made, COLLECTION)
    equal(s.right.heard(), [], "what a program beside has heard")
    told = "CollectionChanged CollectionCreated CollectionDeleted ItemChanged ItemCreated ItemDeleted PropertiesChanged"
    equal(members(s.left.heard()), told.split(), "what its own connection has heard")


@row("SE06", "a listener that never called, matching all", "all of it", "no signal is broadcast")
def listener(s):
    s.other.name()
    s.loner.create("loner", attributes("l"), secret())
    item = s.left.create("left", attributes("l"), secret())
    s.left.delete(s.left.create_collection("left's"), COLLECTION)
    s.left.delete(item)
    equal(s.other.heard(), [], "what one has heard that has not asked")


@row("SE07", "objects of another's", "Introspect every level", "not a node of them, and nobody's sessions")
def introspection(s):
    made, items = someone_s_things(s)
    session = s.left.session_path()
    s.right.collections()
    texts = [s.right.introspect(path) for path in INTROSPECTED]
    for path in (made, *items, session):
        name = path.rsplit("/", 1)[1]
        holds(
            not any(f'"{name}"' in text or path in text for text in texts), f"{path} is in no introspection"
        )
    holds(made.rsplit("/", 1)[1] in s.left.introspect(ROOT + "/collection"), "its owner is shown it")


@row("SE08", "another's session", "use it, close it", "NoSession, and it goes on working")
def sessions(s):
    item = s.left.create("left", attributes("l"), secret())
    mine = s.right.create("right", attributes("r"), secret())
    session = s.left.session_path()
    refused(NO_SESSION, s.right.call, mine, ITEM, "GetSecret", "o", (session,))
    refused(NO_SESSION, s.right.call, ROOT, SERVICE, "GetSecrets", "aoo", ([mine], session))
    refused(NO_SESSION, s.right.call, session, "org.freedesktop.Secret.Session", "Close")
    body = ({}, (session, b"", b"x", "text/plain"), False)
    refused(NO_SESSION, s.right.call, LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", body)
    same_secret(s.left.secret(item), secret())


@row(
    "SE09",
    "the same programs, with a group in common",
    "all of it",
    "each sees, changes and hears the other's",
)
def shared(s):
    s.policy(left=SHARED, right=f"{SHARED} org.test.right")
    made, items = someone_s_things(s)
    s.right.heard()
    equal(sorted(s.right.search(attributes("mine"))[0]), sorted(items), "what the other finds")
    holds(made in s.right.collections(), "the collection is there for both")
    equal(s.right.read_alias("left_alias"), made)
    for path in items:
        same_secret(s.right.secret(path), secret("left"))
        s.right.set_secret(path, secret("right"))
        same_secret(s.left.secret(path), secret("right"))
    s.right.delete(items[0])
    refused(NO_OBJECT, s.left.secret, items[0])
    holds(any(member == "ItemDeleted" for member, _, _ in s.left.heard()), "the other hears of it")
    new = s.right.create("right", attributes("r"), secret(), made)
    holds(("ItemCreated", made, (new,)) in s.left.heard(), "what goes into a shared collection is told")
    # A group that only one of them has is its own still.
    s.policy(left=LEFT, right=f"{SHARED} org.test.right")
    equal(s.left.search({}), ([], []), "what one sees that has lost the group")
    refused(NO_OBJECT, s.left.secret, new)
    refused(NO_OBJECT, s.left.secret, NEVER)
