"""A world with existing programs in it: copies of the interpreter that speak org.freedesktop.secrets and nothing else."""

import os

from connection import BrokerError
from expect import equal
from harness import World
from puppets import PuppetLost, copy_interpreter
from secret_words import LOGIN, NAME

LEFT, RIGHT, SHARED, UNIDENTIFIED = "org.test.left", "org.test.right", "org.test.shared", "unidentified"
GROUPS = (LEFT, RIGHT, SHARED, UNIDENTIFIED, "org.test.browser")
NEVER = LOGIN + "/" + "0" * 32

# Two applications that have nothing in common, a keyring browser, and two programs that are in no policy.
IDENTITIES = ("left", "right", "browser", "loner", "other")

POLICY = """[Application org.test.Left]
Executable={folder}/left
AccessGroups={left}
{more}
[Application org.test.Right]
Executable={folder}/right
AccessGroups={right}

[Application org.test.Browser]
Executable={folder}/browser
AccessGroups=org.test.browser

[AccessGroup org.test.left]
RequireTrust=user

[AccessGroup org.test.right]
RequireTrust=user

[AccessGroup org.test.browser]
RequireTrust=user

[AccessGroup org.test.shared]
RequireTrust=user
{sections}
[SecretService]
{rules}
"""


class Keyring:
    """A program; every method of `SecretClient` can be called on it."""

    def __init__(self, puppet, address):
        self.puppet, self.address = puppet, address

    def __getattr__(self, method):
        return lambda *args, **options: self.puppet.of_secret_service(self.address, method, *args, **options)


class SecretStage:
    """Emptied before each row. `left`, `right`, `browser`, `loner` and `other` are its programs."""

    def __init__(self, **options):
        self.options = options
        self._begin()

    def _begin(self):
        self.world = World(**self.options).__enter__()
        self.folder = os.path.join(self.world.folder, "keyrings")
        os.mkdir(self.folder)
        for name in IDENTITIES:
            copy_interpreter(self.path(name))
        self.keyrings = {}
        self.world.watch.bus_call(
            "AddMatch", "s", (f"type='signal',member='NameOwnerChanged',arg0='{NAME}'",)
        )
        self._await_front()
        self.policy()

    def _await_front(self):
        """The broker asks for its own name first, and is ready in the harness's sense when it has that."""
        while not self.world.watch.bus_call("NameHasOwner", "s", (NAME,))[0]:
            self.world.watch.next_signal()

    def path(self, name):
        return os.path.join(self.folder, name)

    def policy(self, *, left=LEFT, right=RIGHT, rules="", more="", sections=""):
        """Puts another policy in force, for every call from here on."""
        text = POLICY.format(
            folder=self.folder, left=left, right=right, more=more, rules=rules, sections=sections
        )
        with open(os.path.join(self.world.folder, "policy", "60-secret-service.conf"), "w") as file:
            file.write(text)
        return self.world.admin.reload_policy()

    def __getattr__(self, identity):
        if identity not in IDENTITIES:
            raise AttributeError(identity)
        if identity not in self.keyrings:
            self.keyrings[identity] = self.another(identity)
        return self.keyrings[identity]

    def another(self, identity, wrap=None):
        """Another process of that program, which goes with the world."""
        puppet = self.world.program(self.path(identity), wrap)
        self.world.puppets[f"{identity} {len(self.world.puppets)}"] = puppet
        return Keyring(puppet, self.world.address)

    def emptied(self):
        try:
            self.world.revive()
            self._await_front()
            self._empty()
        except (BrokerError, PuppetLost, OSError):
            self.world.close()
            self._begin()
        return self

    def _empty(self):
        self.policy()
        self.open()
        for group in GROUPS:
            self.world.admin.force_logout(group)
        for keyring in self.keyrings.values():
            keyring.forget_session()
            keyring.heard()

    def open(self):
        """As the person does with the passcode: everything that is closed is open."""
        if self.world.passcode:
            self.world.user.unlock(self.world.passcode)

    def restart(self, *, by_power_cut=False):
        """Another broker on the same store."""
        self.world.kill() if by_power_cut else self.world.stop()
        self.world.start()
        self._await_front()
        for keyring in self.keyrings.values():
            keyring.forget_session()

    def close(self):
        self.world.close()


def play(report, table):
    """Every row of a table on one stage."""
    stage = SecretStage()
    try:
        for row in table.rows:
            report.play(row, lambda row=row: row.play(stage.emptied()))
    finally:
        stage.close()


def attributes(name, **more):
    """Lookup attributes of a test's item."""
    return {"xdg:schema": "org.test.Schema", "name": name} | more


def members(signals):
    return sorted({member for member, _, _ in signals})


def sees_nothing(keyring, what="what it finds"):
    """No item in any list of the keyring's."""
    equal(keyring.search({}), ([], []), what)
    for collection in keyring.collections():
        equal(keyring.items(collection), [], f"Items of {collection}")


def unharmed(s, keyring):
    """Another program works, and nothing in the store is damaged."""
    path = keyring.create("beside", attributes("beside"), b"beside")
    equal(keyring.secret(path) == b"beside", True, "whether another program reads what it stored")
    keyring.delete(path)
    equal(s.world.damaged_rows(), 0, "damaged rows")
