"""The field's failures of the Secret Service: what other providers did to the programs that speak it."""

import re

from expect import Table, equal, holds, refused, same_secret, secret
from secret_stage import attributes
from secret_words import (
    COLLECTION,
    DEFAULT,
    ITEM,
    LOGIN,
    NO_OBJECT,
    PROPERTIES,
    ROOT,
    SESSION_COLLECTION,
)
from traces import files_with

TABLE = Table()
row = TABLE.row
PATH = re.compile(re.escape(ROOT) + r"/collection/[A-Za-z0-9_]+")


@row(
    "B101",
    "a fresh store",
    "everything by the alias path; again after lock and unlock",
    "as by the real path",
)
def b101(s):
    for _ in range(2):
        for name in ("Label", "Locked", "Created", "Modified", "Items"):
            equal(s.left.get(DEFAULT, COLLECTION, name), s.left.get(LOGIN, COLLECTION, name), name)
        path = s.left.create("l", attributes("l"), secret("l"), DEFAULT)
        holds(path.startswith(LOGIN + "/"), "the path that comes back is the real one")
        equal(s.left.search_in(DEFAULT, attributes("l")), [path])
        same_secret(s.left.secret(path.replace(LOGIN, DEFAULT)), secret("l"))
        s.left.set(DEFAULT, COLLECTION, "Label", "s", "renamed")
        s.left.delete(path)
        s.left.lock(DEFAULT)
        equal(s.left.get(DEFAULT, COLLECTION, "Locked"), True)
        s.open()


@row("B103", "names of all kinds", "ReadAlias", "what there is; / for the others, and no error")
def b103(s):
    told = [s.left.read_alias(name) for name in ("default", "login", "session", "nope", "", "../x", "é")]
    equal(told, [LOGIN, LOGIN, SESSION_COLLECTION, "/", "/", "/", "/"])


@row(
    "B104",
    "the fixed path of login, the alias path",
    "Lock, Unlock, SetAlias",
    "the paths that were asked for",
)
def b104(s):
    equal(s.left.unlock(DEFAULT, LOGIN), ([DEFAULT, LOGIN], "/"))
    equal(s.left.lock(DEFAULT), ([DEFAULT], "/"))
    s.open()
    s.left.set_alias("work", DEFAULT)
    equal(s.left.read_alias("work"), LOGIN)
    holds(
        s.left.create("l", attributes("l"), secret(), ROOT + "/aliases/work").startswith(LOGIN),
        "the alias works",
    )
    refused(NO_OBJECT, s.left.get, ROOT + "/collection/Login", COLLECTION, "Label")


@row(
    "B114",
    "names that other stores keep for themselves",
    "search for them",
    "attributes like any other; {} is all",
)
def b114(s):
    path = s.left.create("the label", attributes("l"), secret("abc"))
    s.right.create("the label", attributes("l"), secret("abc"))
    for name in ("Password", "password", "label", "Label", "Title", "secret", "Path", "uuid", "gkr:compat:x"):
        for value in ("abc", "the label", ""):
            equal(s.left.search({name: value}), ([], []), name)
    equal(s.left.search({}), ([path], []), "an empty query")
    named = s.left.create("n", {"Password": "abc"}, secret())
    equal(s.left.search({"Password": "abc"}), ([named], []))


@row(
    "B115",
    "an alias in use, an alias that is new",
    "CreateCollection many times at once",
    "one collection each",
)
def b115(s):
    equal(s.left.create_at_once("x", "default", 2), [LOGIN, LOGIN])
    made = s.left.create_at_once("x", "fresh", 8)
    equal(len(set(made)), 1, "how many collections there are")
    equal((s.left.read_alias("fresh"), len(s.left.collections())), (made[0], 3))


@row(
    "B117",
    "labels of every kind",
    "create, rename, start",
    "the label exactly; a path of plain letters that stays",
)
def b117(s):
    labels = ("Žluť 🔑", "a/b", "..", "", "x" * 255, "Default keyring", "login")
    made = [s.left.create_collection(label) for label in labels]
    equal(len(set(made)), len(labels), "the paths")
    for label, path in zip(labels, made):
        holds(PATH.fullmatch(path), "the path is of A-Z a-z 0-9 _")
        equal(s.left.get(path, COLLECTION, "Label"), label)
    s.left.set(made[0], COLLECTION, "Label", "s", "another")
    s.restart(by_power_cut=True)
    s.open()
    equal([s.left.get(path, COLLECTION, "Label") for path in made], ["another", *labels[1:]])


@row(
    "B118",
    "a path where nothing is, a good one beside",
    "its properties; GetSecrets of both",
    "NoSuchObject; the good",
)
def b118(s):
    good, bad = s.left.create("l", attributes("l"), secret("l")), LOGIN + "/999999"
    for name in ("Label", "Attributes", "Locked"):
        refused(NO_OBJECT, s.left.get, bad, ITEM, name)
    refused(NO_OBJECT, s.left.call, bad, PROPERTIES, "GetAll", "s", (ITEM,))
    refused(NO_OBJECT, s.left.secret, bad)
    equal(s.left.secrets([good, bad]), {good: secret("l")})


@row(
    "B119",
    "a label with a space, Login and login",
    "create on each run, by alias",
    "one collection; a label is no name",
)
def b119(s):
    made = [s.left.create_collection("Default keyring", "mine") for _ in range(3)]
    equal(len(set(made)), 1, "by its alias it is the same on each run")
    s.left.set(made[0], COLLECTION, "Label", "s", "Login")
    equal(s.left.create_collection("Default keyring", "mine"), made[0], "whatever its label")
    refused(NO_OBJECT, s.left.items, ROOT + "/collection/Login")
    equal(s.left.get(LOGIN, COLLECTION, "Label"), "Login", "the collection at the fixed path")


@row(
    "B121",
    "three of one label in two collections",
    "search by attributes",
    "the exact match alone, wherever it is",
)
def b121(s):
    label, schema = "Chromium Safe Storage", "chrome_libsecret_os_crypt_password_v2"
    made = s.left.create_collection("other")
    wanted = {"application": "chromium", "xdg:schema": schema}
    s.left.create(label, {"application": "chromium-dummy", "xdg:schema": schema}, secret("dummy"))
    right = s.left.create(label, wanted, secret("right"), made)
    old = s.left.create(label, {"application": "chromium", "xdg:schema": "v1"}, secret("old"))
    equal(s.left.search(wanted), ([right], []))
    equal(s.left.search({"application": "chromium"}), ([old, right], []))
    same_secret(s.left.secret(right), secret("right"))


@row(
    "B018-front", "a label and attributes", "delete the item, look into the files", "no word of them is left"
)
def b018(s):
    label, value = b"delete-me-7781", b"delete-me-too"
    path = s.left.create(label.decode(), {"service": value.decode()}, secret("delete"))
    equal(files_with(s.world.state, [label, value]), {}, "in clear while it is there")
    s.left.delete(path)
    s.world.stop()
    equal(files_with(s.world.state, [label, value, path.rsplit("/", 1)[1].encode()]), {}, "afterwards")
    s.world.start()
