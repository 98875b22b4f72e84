"""Real programs on org.freedesktop.secrets: each stores, the broker dies and starts, it reads back; another reads nothing."""

from existing import Existing
from expect import Table, equal, holds

TABLE = Table()
row = TABLE.row

STORAGE = """
import secretstorage, sys
bus = secretstorage.dbus_init()
collection = secretstorage.get_default_collection(bus)
verb, value = sys.argv[1:]
found = list(collection.search_items({"application": "storage"}))
if verb == "store":
    item = collection.create_item("label", {"application": "storage"}, value.encode(), replace=True)
    found = [item]
elif verb == "delete":
    for item in found:
        item.delete()
    found = list(collection.search_items({"application": "storage"}))
print(len(found), [item.get_label() for item in found], [item.get_secret().decode() for item in found])
"""


def answered(ended, output):
    holds((ended.status, ended.output.decode().rstrip("\n")) == (0, output), f"the program's answer: {ended}")


def found_nothing(ended):
    holds(ended.status != 0 and ended.output == b"", f"the program finds nothing: {ended}")


@row(
    "RP01",
    "secret-tool, twice",
    "store, a power cut, lookup, search, clear",
    "one reads its own, the other nothing",
)
def secret_tool(e):
    words = ("service", "mail", "user", "a")
    equal(e.tool("one", "store", "--label=A label", *words, given="the password").status, 0)
    e.power_cut()
    answered(e.tool("one", "lookup", *words), "the password")
    searched = e.tool("one", "search", "--all", "service", "mail")
    holds("label = A label" in searched.output.decode(), "search prints the label")
    found_nothing(e.tool("two", "lookup", *words))
    equal(e.tool("two", "search", "--all", "service", "mail").output, b"", "what the other's search prints")
    e.tool("two", "clear", *words)
    answered(e.tool("one", "lookup", *words), "the password")
    equal(e.tool("two", "store", "--label=Another", *words, given="another").status, 0)
    answered(e.tool("one", "lookup", *words), "the password")
    answered(e.tool("two", "lookup", *words), "another")
    e.tool("one", "clear", *words)
    found_nothing(e.tool("one", "lookup", *words))
    answered(e.tool("two", "lookup", *words), "another")


@row("RP02", "Python's keyring, twice", "set, a power cut, get, del", "one reads its own, the other nothing")
def keyring(e):
    def run(name, *arguments, given=""):
        return e.python(name, "keyring", "-m", "keyring", *arguments, given=given)

    equal(run("one", "set", "mail", "a", given="the password\n").status, 0)
    e.power_cut()
    answered(run("one", "get", "mail", "a"), "the password")
    found_nothing(run("two", "get", "mail", "a"))
    holds(run("two", "del", "mail", "a").status != 0, "the other has nothing to delete")
    answered(run("one", "get", "mail", "a"), "the password")
    equal(run("one", "set", "mail", "a", given="changed\n").status, 0)
    answered(run("one", "get", "mail", "a"), "changed")
    equal(run("one", "del", "mail", "a").status, 0)
    found_nothing(run("one", "get", "mail", "a"))


@row(
    "RP03",
    "SecretStorage, twice",
    "create, a power cut, search, delete",
    "one reads its own, the other nothing",
)
def storage(e):
    def run(name, verb, value=""):
        return e.python(name, "secretstorage", "-c", STORAGE, verb, value)

    answered(run("one", "store", "the password"), "1 ['label'] ['the password']")
    e.power_cut()
    answered(run("one", "search"), "1 ['label'] ['the password']")
    for verb in ("search", "delete"):
        answered(run("two", verb), "0 [] []")
    answered(run("one", "store", "changed"), "1 ['label'] ['changed']")
    answered(run("one", "search"), "1 ['label'] ['changed']")
    answered(run("one", "delete"), "0 [] []")


@row(
    "RP04",
    "git-credential-libsecret, twice",
    "approve, a power cut, fill, reject",
    "one fills, the other does not",
)
def git(e):
    host = "protocol=https\nhost=h.example\nusername=alice\n"
    whole = host + "password=the password\n\n"
    equal(e.git("one", "approve", whole).status, 0)
    e.power_cut()
    holds(
        "password=the password" in e.git("one", "fill", host + "\n").output.decode(), "git has the password"
    )
    found_nothing(e.git("two", "fill", host + "\n"))
    e.git("two", "reject", whole)
    holds("password=the password" in e.git("one", "fill", host + "\n").output.decode(), "and has it still")
    e.git("one", "reject", whole)
    found_nothing(e.git("one", "fill", host + "\n"))


@row(
    "RP05",
    "two programs of one application",
    "one stores, the other reads",
    "they share what the application has",
)
def one_application(e):
    equal(e.python("one", "keyring", "-m", "keyring", "set", "mail", "a", given="the password\n").status, 0)
    answered(e.tool("one", "lookup", "service", "mail", "username", "a"), "the password")
    found_nothing(e.tool("two", "lookup", "service", "mail", "username", "a"))


@row(
    "RP06",
    "programs that are in no policy",
    "store, a power cut, lookup",
    "they share among themselves alone",
)
def loose(e):
    words = ("service", "loose")
    equal(e.tool("loose", "store", "--label=L", *words, given="the password").status, 0)
    e.power_cut()
    answered(e.tool("other", "lookup", *words), "the password")
    found_nothing(e.tool("one", "lookup", *words))
    equal(e.tool("one", "store", "--label=O", *words, given="its own").status, 0)
    answered(e.tool("loose", "lookup", *words), "the password")


def run(report):
    existing = Existing()
    try:
        for one in TABLE.rows:
            report.play(one, lambda one=one: one.play(existing.emptied()))
    finally:
        existing.close()
