"""`chatelaine import secret-service` from a real gnome-keyring: what its programs stored, other programs find here."""

import contextlib
import json
import os
import shutil
import sys

from expect import NotHere, Table, equal, holds, same_secret
from fake_keyring import FakeKeyring
from import_stage import Command, OtherKeyring
from monitor import Monitor
from portal_client import PortalClient
from private_bus import PrivateBus
from secret_stage import LEFT, RIGHT, SecretStage, attributes
from secret_words import COLLECTION, ENCRYPTED, ITEM, LOGIN, NAME

TABLE = Table()
row = TABLE.row
APP, PORTAL_GROUP = "org.example.App", "org.test.portal"
PORTAL_POLICY = f"""[Application org.test.Portal]
Executable={os.path.realpath(sys.executable)}
AccessGroups={PORTAL_GROUP}
"""
BYTES = bytes(range(256))
PLAIN_KEYRING = """[keyring]
display-name=Login
ctime=1700000000
mtime=1700000000
lock-on-idle=false
lock-after=false

[1]
item-type=0
display-name=plain
secret=first line\\nsecond line
mtime=1700000000
ctime=1700000000

[1:attribute0]
name=name
type=string
value=plain
"""


class Stage:
    """The programs of `SecretStage` at the broker; another keyring for a row that asks for one."""

    def __init__(self):
        self.broker = SecretStage()
        self._install()

    def _install(self):
        self.world = self.broker.world
        self.command = Command(self.world)

    def emptied(self):
        self.broker.emptied()
        if self.broker.world is not self.world:
            self._install()
        self.world.admin.force_logout(PORTAL_GROUP)
        self.broker.policy(more=PORTAL_POLICY, rules="Portal=org.test.Portal")
        return self

    @contextlib.contextmanager
    def other(self, **options):
        keyring = OtherKeyring(self.world.folder, self.world.environment, **options)
        try:
            self.keyring = keyring
            yield keyring.client
        finally:
            keyring.close()

    @contextlib.contextmanager
    def fake(self, items, **options):
        """A keyring of the test's own, in the place of gnome-keyring's on a bus of its own."""
        bus = PrivateBus(self.world.folder, f"unix:path={self.world.folder}/own-bus")
        with bus as self.keyring, FakeKeyring(self.keyring.address, items, **options) as fake:
            yield fake

    def bring(self, *arguments, **options):
        return self.command.bring(
            "secret-service", *arguments, DBUS_SESSION_BUS_ADDRESS=self.keyring.address, **options
        )

    def chatelaine(self, *arguments):
        return self.command.chatelaine(
            "import", "secret-service", *arguments, DBUS_SESSION_BUS_ADDRESS=self.keyring.address
        )

    def close(self):
        self.broker.close()


def found(keyring, **wanted):
    """The secrets of what a program finds, sorted."""
    return sorted(keyring.secret(path) for path in keyring.search(wanted)[0])


def counts(told, *keys):
    return tuple(told[key] for key in keys)


@row("IK01", "three items in another keyring", "import without --apply", "counted; no content shown, nothing changed")
def plan(s):
    with s.other() as old:
        for name in ("alice", "bob"):
            old.create(f"label of {name}", attributes(name), b"secret-of-" + name.encode())
        old.create("a third", {"xdg:schema": "org.test.Other", "user": "carol"}, b"secret-of-carol")
        ended = s.chatelaine()
        equal(ended.status, 0)
        for word in ("alice", "carol", "label of", "third", "secret-of", "user"):
            holds(word not in ended.output.decode() + ended.errors, f"'{word}' is not shown")
        for word in ("org.test.Schema", "org.test.Other", "Login", "gnome-keyring"):
            holds(word in ended.output.decode(), f"'{word}' is shown")
        equal(counts(s.bring(), "New", "There", "Copied", "Groups"), (3, 0, 0, ["unidentified"]))
        equal(s.broker.loner.search({}), ([], []), "what is found here")
        equal(len(old.items(LOGIN)), 3, "the items there")


@row("IK02", "items, a second collection, all bytes", "--apply, and again", "label, attributes, bytes, collection; none doubled")
def copies(s):
    loner = s.broker.loner
    with s.other(prompter=True) as old:
        s.keyring.answers("default")
        work = create_collection(old, "Wörk")
        old.create("lábel", attributes("a", ключ="välue"), BYTES)
        old.create("", {}, b"")
        old.create("w", attributes("w"), b"line\nline", collection=work)
        old.create("gone with the session", attributes("s"), b"s", collection=LOGIN.replace("login", "session"))
        loner.search({})
        loner.heard()
        told = s.bring("--apply")
        equal(counts(told, "New", "There", "Copied", "Verified", "Removed"), (0, 3, 3, 3, 0), "the counts")
        holds(any("session" in text for text in told["Left"]), "it says that the session's item is left")
        heard = [member for member, _, _ in loner.heard()]
        equal((heard.count("ItemCreated"), heard.count("CollectionCreated")), (3, 1), "what a program hears")
        (path,) = loner.search(attributes("a"))[0]
        equal(loner.get(path, ITEM, "Attributes"), attributes("a", ключ="välue"))
        equal((loner.get(path, ITEM, "Label"), loner.secret_and_type(path)[1]), ("lábel", "text/plain"))
        same_secret(loner.secret(path), BYTES)
        (path,) = loner.search(attributes("w"))[0]
        same_secret(loner.secret(path), b"line\nline")
        collection = path.rsplit("/", 1)[0]
        equal(loner.get(collection, COLLECTION, "Label"), "Wörk", "the collection's label")
        equal(len(loner.items(LOGIN)), 2, "the items in login")
        told = s.bring("--apply")
        equal(counts(told, "New", "There", "Copied"), (0, 3, 0), "the second time")
        equal((len(loner.search({})[0]), len(loner.collections())), (3, 3), "items and collections")
        equal(len(old.items(LOGIN)) + len(old.items(work)), 3, "the items there")
        for other in (s.broker.left, s.broker.right):
            equal(other.search({}), ([], []), "what a program of the policy finds of it")
    s.broker.restart()
    s.broker.open()
    same_secret(s.broker.loner.secret(s.broker.loner.search(attributes("a"))[0][0]), BYTES)


def create_collection(client, label):
    """With the prompt that gnome-keyring asks for, which the scripted person answers."""
    body = ({COLLECTION + ".Label": ("s", label)}, "")
    _, prompt = client.call(
        "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "CreateCollection", "a{sv}s", body, "oo"
    )
    client.call(prompt, "org.freedesktop.Secret.Prompt", "Prompt", "s", ("",), "")
    while True:
        message = client.connection.next_signal()
        if message.header.fields[3] == "Completed":
            dismissed, (_, path) = message.body
            equal(dismissed, False, "whether the question was dismissed")
            return path


@row("IK03", "items of two programs", "--schema with --group, then all the rest", "each program has its own; one copy each")
def groups(s):
    with s.other() as old:
        for program in ("Left", "Right"):
            old.create(program, {"xdg:schema": f"org.test.{program}"}, program.encode())
        old.create("rest", attributes("rest"), b"rest")
        told = s.bring("--schema", "org.test.Left", "--group", LEFT, "--apply")
        equal(counts(told, "Copied", "Groups"), (1, [LEFT]))
        told = s.bring("--schema", "org.test.Right", "--schema", "org.test.None", "--group", RIGHT, "--apply")
        equal(counts(told, "Copied", "Groups"), (1, [RIGHT]))
        told = s.bring("--apply")
        equal(counts(told, "There", "Copied", "Groups"), (3, 1, [LEFT, RIGHT, "unidentified"]))
        for keyring, wanted in ((s.broker.left, b"Left"), (s.broker.right, b"Right"), (s.broker.loner, b"rest")):
            equal(found(keyring) == [wanted], True, f"whether there is {wanted} alone")


def change_later(client, path, secret, seconds):
    """The keyring's times are whole seconds, and what is stored again unchanged has its old one."""
    while client.get(path, ITEM, "Modified") <= seconds:
        client.set_secret(path, b"for a moment")
        client.set_secret(path, secret)


@row("IK04", "another secret is there, older or newer", "--apply, --replace=newer, --replace", "told; the newer; the old place's")
def conflicts(s):
    loner = s.broker.loner
    with s.other() as old:
        path = old.create("x", attributes("x"), b"first")
        s.bring("--apply")
        (own,) = loner.search(attributes("x"))[0]
        loner.set_secret(own, b"mine")
        told = s.bring("--apply", "--replace=newer", "--remove-old", status=5)
        equal(counts(told, "Different", "Copied", "Removed"), ([path], 0, 0), "what was not replaced")
        holds("which is the newer" in s.chatelaine().output.decode(), "it says which is the newer one")
        same_secret(loner.secret(own), b"mine")
        change_later(old, path, b"second", loner.get(own, ITEM, "Modified"))
        told = s.bring("--apply", status=5)
        equal(counts(told, "Different", "Copied"), ([path], 0))
        told = s.bring("--apply", "--replace=newer")
        equal(counts(told, "There", "Copied", "Verified"), (1, 1, 1))
        same_secret(loner.secret(own), b"second")
        loner.set_secret(own, b"mine again")
        equal(counts(s.bring("--apply", "--replace"), "Copied"), (1,))
        same_secret(loner.secret(own), b"second")
        equal(loner.search({}), ([own], []), "the items")


@row("IK05", "a person at a terminal; a program changes and adds items", "yes, yes", "what changed or came stays in the old place")
def removes(s):
    with s.other() as old:
        paths = [old.create(name, attributes(name), name.encode()) for name in "abc"]
        with s.command.at_terminal("secret-service", DBUS_SESSION_BUS_ADDRESS=s.keyring.address) as terminal:
            terminal.until(b"Copy 3? [y/N] ")
            terminal.type(b"y")
            terminal.until(b"Remove 3 from the old place")
            old.set_secret(paths[1], b"changed")
            later = old.create("later", attributes("later"), b"later")
            terminal.type(b"y")
            equal((terminal.status(), b"Removed 2 from" in terminal.seen), (0, True))
        equal(sorted(old.items(LOGIN)), sorted([paths[1], later]), "what is left there")
        equal(found(s.broker.loner), [b"a", b"b", b"c"], "what is here")
        told = s.bring("--apply", "--remove-old", status=5)
        equal(counts(told, "Different", "Copied", "Removed"), ([paths[1]], 1, 1))
        equal(old.items(LOGIN), [paths[1]], "what is left there then")


@row("IK06", "a locked keyring, a person", "plan; no; yes", "not asked, and said; left; opened by its own question")
def locked(s):
    with s.other(prompter=True) as old:
        old.create("x", attributes("x"), b"x")
        s.keyring.restart(unlocked=False)
        told = s.bring()
        equal((told["New"], "is locked; items left in it: 1" in told["Left"][0]), (0, True), "the plan")
        s.keyring.answers("cancel")
        told = s.bring("--apply", status=5)
        equal((told["Copied"], "is locked" in told["Left"][0]), (0, True), "after a no")
        equal(s.keyring.client.get(LOGIN, COLLECTION, "Locked"), True, "whether it is locked")
        s.keyring.answers("default")
        equal(counts(s.bring("--apply"), "Copied", "Left"), (1, []))
        equal(found(s.broker.loner), [b"x"])


@row("IK07", "no other keyring: the broker itself has the name; nobody", "import", "refused, with what to do")
def itself(s):
    ended = s.command.chatelaine("import", "secret-service", "--apply", "--remove-old")
    equal((ended.status, "Chatelaine's own" in ended.errors), (2, True))
    with s.other():
        s.keyring.daemon.terminate()
        while s.keyring.watch.bus_call("NameHasOwner", "s", (NAME,))[0]:
            s.keyring.watch.next_signal()
        ended = s.chatelaine("--apply")
        equal((ended.status, "nobody has" in ended.errors), (1, True))


@row("IK08", "another keyring has the name on the broker's own bus", "--apply; the broker takes the name", "it is there")
def beside(s):
    world = s.world
    world.stop()
    with s.other(address=world.address) as old:
        world.start()
        world.unlock()
        old.create("x", attributes("x"), b"x")
        equal(counts(s.bring("--apply"), "Copied", "Verified"), (1, 1))
    s.broker.restart()
    s.broker.open()
    equal(found(s.broker.loner), [b"x"])


@row("IK09", "notes, which no attribute tells apart", "--apply, twice", "each note, once")
def notes(s):
    schema = {"xdg:schema": "org.gnome.keyring.Note"}
    with s.other() as old:
        for name in "abc":
            old.create(name, schema, name.encode())
        for copied in (3, 0):
            equal(counts(s.bring("--apply"), "There", "Copied"), (3, copied))
        equal(found(s.broker.loner), [b"a", b"b", b"c"])


@row("IK10", "a program that is no manager", "imports, and guesses a secret by the contract's calls", "AccessDenied")
def no_manager(s):
    with s.other() as old:
        old.create("x", attributes("x"), b"x")
        s.bring("--apply")
        copy = s.command.install("chatelaine", "impostor")
        ended = s.command.run_command(
            [copy, "--address", s.world.address, "import", "secret-service", "--apply", "--replace", "--remove-old"],
            DBUS_SESSION_BUS_ADDRESS=s.keyring.address,
        )
        equal((ended.status, "AccessDenied" in ended.errors), (3, True), "the refusal")
        equal((len(old.items(LOGIN)), found(s.broker.loner)), (1, [b"x"]))


@row("IK11", "a collection that a program closed", "--apply", "status 4, nothing copied")
def closed(s):
    with s.other() as old:
        old.create("x", attributes("x"), b"x")
        s.broker.loner.lock(LOGIN)
        equal(s.chatelaine("--apply").status, 4)
        s.broker.open()
        equal(counts(s.bring("--apply"), "Copied"), (1,))


@row("IK12", "a monitor on both buses", "--apply --remove-old", "no secret in either, nor in the log")
def silence(s):
    secret = b"not-for-any-bus-4711"
    with s.other() as old:
        old.create("x", attributes("user-of-x"), secret)
        with Monitor(s.world.address) as one, Monitor(s.keyring.address) as other:
            equal(counts(s.bring("--apply", "--remove-old"), "Copied", "Removed"), (1, 1))
            heard = one.seen() + other.seen()
        holds(secret not in heard, "no secret was on a bus")
        holds("4711" not in s.world.log() and "user-of-x" not in s.world.log(), "nothing of it is in the log")


@row("IK13", "a policy that closes what all unidentified programs share", "--apply; with --group", "said; done")
def refused(s):
    s.broker.policy(rules="Unidentified=refuse")
    with s.other() as old:
        old.create("x", attributes("x"), b"x")
        ended = s.chatelaine("--apply")
        equal((ended.status, "name the group of a program" in ended.errors), (3, True))
        equal(counts(s.bring("--apply", "--group", LEFT), "Copied"), (1,))
        equal(found(s.broker.left), [b"x"])


@row("IK14", "a person at a terminal; the keyring ends, another takes its name", "yes", "fails; nothing is taken from the other")
def another(s):
    with s.other() as old:
        old.create("x", attributes("x"), b"x")
        with s.command.at_terminal("secret-service", DBUS_SESSION_BUS_ADDRESS=s.keyring.address) as terminal:
            terminal.until(b"Copy 1?")
            s.keyring.restart()
            terminal.type(b"y")
            equal((terminal.status(), b"the other keyring cannot be read" in terminal.seen), (5, True))
        equal(s.broker.loner.search({}), ([], []), "what is here")
        equal(counts(s.bring("--apply"), "Copied"), (1,))


STARTED = """gnome-keyring-daemon --foreground --components=secrets --control-directory="$(mktemp -d)" &
gdbus wait --session --timeout 30 org.freedesktop.secrets
chatelaine --json import secret-service --apply
kill $!
"""


@row("IK15", "the broker has the name; a keyring is started on a bus of its own", "--apply there", "copied by the direct endpoint")
def started(s):
    for program in ("dbus-run-session", "gdbus", "gnome-keyring-daemon"):
        if shutil.which(program) is None:
            raise NotHere(f"{program} is not on this machine")
    stage = SecretStage(direct=True)
    try:
        data = os.path.join(stage.world.folder, "old-data")
        os.makedirs(os.path.join(data, "keyrings"), 0o700)
        with open(os.path.join(data, "keyrings", "plain.keyring"), "w") as file:
            file.write(PLAIN_KEYRING)
        command = Command(stage.world)
        ended = command.run_command(
            ["dbus-run-session", "--", "sh", "-c", STARTED],
            TMPDIR=stage.world.folder,
            XDG_DATA_HOME=data,
            DBUS_SESSION_BUS_ADDRESS="",
        )
        told = json.loads(ended.output.splitlines()[-1])
        equal((ended.status, *counts(told, "Copied", "Verified")), (0, 1, 1), f"how it ended ({ended})")
        equal(found(stage.loner), [b"first line\nsecond line"])
    finally:
        stage.close()


@row("IK16", "a keyring that offers no encryption", "--apply", "refused, without asking for less")
def plain_only(s):
    with s.fake([("x", attributes("x"), b"x")], encrypts=False) as fake:
        ended = s.chatelaine("--apply")
        equal((ended.status, "NotSupported" in ended.errors, fake.algorithms), (5, True, [ENCRYPTED]))
        equal(s.broker.loner.search({}), ([], []), "what is here")


@row("IK17", "labels that steer a terminal, secrets that do not open", "--apply", "shown harmless; those are told, the rest copied")
def hostile(s):
    steering = "\x1b[2J\nCopied 9"
    items = [(steering, {"xdg:schema": steering, "n": str(number)}, b"secret" * number) for number in range(5)]
    with s.fake(items, label=steering) as fake:
        paths = list(fake.items)
        fake.spoiled = {
            paths[0]: lambda value: ("/org/freedesktop/secrets/session/other", *value[1:]),
            paths[1]: lambda value: (value[0], value[1], value[2][:-1], value[3]),
            paths[2]: lambda value: (value[0], b"short", value[2], value[3]),
        }
        ended = s.chatelaine("--apply", "--remove-old")
        holds(b"\x1b" not in ended.output and b"\nCopied 9" not in ended.output, "nothing steers the terminal")
        equal((ended.status, b"Copied 2, of which 2" in ended.output, list(fake.items)), (5, True, paths[:3]))
        equal(found(s.broker.loner), [b"secret" * 3, b"secret" * 4])
        equal([one["Place"] for one in s.bring("--apply", status=5)["Unusable"]], paths[:3], "what is told")


@row("IK18", "items that are locked each by itself", "plan; --apply with a no and with a yes", "not asked; told; copied")
def each_locked(s):
    with s.fake([("x", attributes("x"), b"x")], agrees=False) as fake:
        fake.locked = set(fake.items)
        equal((len(s.bring()["Unusable"]), fake.prompted), (1, 0), "the plan")
        told = s.bring("--apply", status=5)
        equal((told["Copied"], "IsLocked" in told["Unusable"][0]["Reason"]), (0, True), "after a no")
        fake.agrees = True
        equal(counts(s.bring("--apply"), "Copied", "Verified"), (1, 1), "after a yes")


@row("IK19", "a keyring that asks before it deletes", "--remove-old with a no and with a yes", "told and there; gone")
def asks(s):
    with s.fake([("x", attributes("x"), b"x")], agrees=False) as fake:
        fake.asks_to_delete = True
        told = s.bring("--apply", "--remove-old", status=5)
        equal((told["Copied"], told["Removed"], "was not removed" in told["Left"][0]), (1, 0, True))
        fake.agrees = True
        equal(counts(s.bring("--apply", "--remove-old"), "Removed"), (1,))
        equal(fake.items, {}, "what is left")


@row("B003-import", "a secret of bytes that are no text", "import", "byte for byte")
def b003(s):
    value = bytes((0x7F, 0x80, 0x81)) + os.urandom(29)
    with s.other() as old:
        old.create("x", attributes("x"), value)
        equal(counts(s.bring("--apply", "--remove-old"), "Removed"), (1,))
        same_secret(s.broker.loner.secret(s.broker.loner.search({})[0][0]), value)


@row("B014-import", "two accounts of one service under one label", "import", "two items, each with its password")
def b014(s):
    with s.other() as old:
        for account in "AB":
            old.create("same label", attributes("s", account=account), b"pw" + account.encode())
        equal(counts(s.bring("--apply"), "Copied"), (2,))
        equal(found(s.broker.loner, account="A"), [b"pwA"])


@row("B170", "import; back to the other keyring, store there; come again", "import", "merged, conflicts told, source as it was")
def b170(s):
    loner = s.broker.loner
    with s.other() as old:
        kept, changed = (old.create(name, attributes(name), b"1") for name in ("kept", "changed"))
        s.bring("--apply")
        added = old.create("added", attributes("added"), b"1")
        (own,) = loner.search(attributes("changed"))[0]
        change_later(old, changed, b"2", loner.get(own, ITEM, "Modified"))
        told = s.bring("--apply", status=5)
        equal(counts(told, "There", "Copied", "Different"), (2, 1, [changed]))
        equal(counts(s.bring("--apply", "--replace=newer"), "There", "Copied"), (3, 1))
        equal(found(loner), [b"1", b"1", b"2"])
        equal(sorted(old.items(LOGIN)), sorted([kept, changed, added]), "the other keyring's items")


@row("B171", "a keyring of text without a password, a secret of two lines", "import", "imported, whole")
def b171(s):
    with s.other(files={"plain.keyring": PLAIN_KEYRING}) as old:
        old.create("x", attributes("x"), b"first\nsecond\n")
        told = s.bring("--apply")
        equal(counts(told, "Copied", "Verified"), (2, 2))
        equal(found(s.broker.loner), [b"first\nsecond\n", b"first line\nsecond line"])


@row("B173", "a secret that gnome-keyring's portal made", "move in; ask the broker's portal", "the same bytes, for that id alone")
def b173(s):
    with s.other():
        portal = PortalClient(s.keyring.address)
        _, first = portal.retrieve(APP)
        portal.close()
        # Listed and not there: gnome-keyring has what its portal made when it is started anew.
        told = s.bring("--apply", status=5)
        equal(("start that keyring anew" in told["Left"][0], told["Copied"]), (True, 0))
        s.keyring.restart()
        told = s.bring("--apply", "--group", LEFT, "--remove-old")
        equal(counts(told, "Copied", "Removed", "Groups"), (1, 1, [PORTAL_GROUP]))
    portal = PortalClient(s.world.address)
    same_secret(portal.retrieve(APP)[1], first)
    equal(portal.retrieve(APP + "x")[1] == first, False, "whether another application gets the same")
    portal.close()
    equal((s.broker.left.search({}), s.broker.loner.search({})), (([], []), ([], [])), "what other programs find")


@row("B173-late", "an application asked the broker's portal before the move", "import", "told, and not replaced unless asked")
def b173_late(s):
    with s.other():
        portal = PortalClient(s.keyring.address)
        _, first = portal.retrieve(APP)
        portal.close()
        s.keyring.restart()
        portal = PortalClient(s.world.address)
        _, late = portal.retrieve(APP)
        equal((len(s.bring("--apply", status=5)["Different"]), portal.retrieve(APP)[1] == late), (1, True))
        equal(counts(s.bring("--apply", "--replace"), "Copied"), (1,))
        same_secret(portal.retrieve(APP)[1], first)
        portal.close()


def run(report):
    stage = Stage()
    try:
        for row in TABLE.rows:
            report.play(row, lambda row=row: row.play(stage.emptied()))
    finally:
        stage.close()
