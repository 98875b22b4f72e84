"""Items of org.freedesktop.secrets whose secret alone is of the foreground: found while locked, read when unlocked."""

import os
import subprocess

from connection import BrokerError
from existing import TOOL, copy
from expect import NotHere, Table, equal, holds, refused, same_secret, secret
from harness import PASSCODE, World
from person import WAIT_SECONDS
from policy import ONE
from prompt_stage import COLLECTION, LOGIN, PROPERTIES, ROOT, SERVICE, Stage

TABLE = Table()
row = TABLE.row
ITEM = "org.freedesktop.Secret.Item"
LOCKED = "org.freedesktop.Secret.Error.IsLocked"
WANTED = {"user": "me", "server": "example.org"}
BANK = {"user": "me", "xdg:schema": "org.example.Bank.Card"}


def property_of(program, path, name):
    return program.secret_service(path, PROPERTIES, "Get", "ss", (ITEM, name))[0][1]


def keep(program, session, text, attributes=None):
    properties = {
        ITEM + ".Label": ("s", "kept"),
        ITEM + ".Attributes": ("a{ss}", attributes or WANTED),
    }
    body = (properties, (session, b"", text, "text/plain"), True)
    return program.secret_service(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", body)[0]


def session_of(program):
    return program.secret_service(ROOT, SERVICE, "OpenSession", "sv", ("plain", ("s", "")))[1]


def secret_of(program, path, session):
    return bytes(program.secret_service(path, ITEM, "GetSecret", "o", (session,))[0][2])


def set_secret(program, path, session, text):
    program.secret_service(path, ITEM, "SetSecret", "(oayays)", ((session, b"", text, "text/plain"),))


def set_attributes(program, path, attributes):
    body = (ITEM, "Attributes", ("a{ss}", attributes))
    program.secret_service(path, PROPERTIES, "Set", "ssv", body)


def search(program, attributes):
    unlocked, locked = program.secret_service(ROOT, SERVICE, "SearchItems", "a{ss}", (attributes,))
    return list(unlocked), list(locked)


class Reader:
    """One program that stores and reads, over one session."""

    def __init__(self, program):
        self.program, self.session = program, session_of(program)

    def keep(self, text, attributes):
        return keep(self.program, self.session, secret(text), attributes)

    def reads(self, path, wanted):
        """`wanted` is a secret's name, or None for one that is locked."""
        try:
            got = secret_of(self.program, path, self.session)
        except BrokerError as error:
            equal((error.name, wanted), (LOCKED, None), "the error, and the secret that is expected")
            equal(property_of(self.program, path, "Locked"), True, "Locked")
            return
        holds(wanted is not None, "it is locked")
        same_secret(got, secret(wanted))
        equal(property_of(self.program, path, "Locked"), False, "Locked")


@row(
    "SG01",
    "a group whose first class is when-unlocked, the device locked",
    "search, read, change, Unlock with the passcode",
    "found and locked with its label; IsLocked for the secret; open after the prompt",
)
def locked(stage, mail):
    session = session_of(mail)
    path = keep(mail, session, secret("kept"))
    equal(search(mail, {"user": "me"}), ([path], []), "what is found while unlocked")
    same_secret(secret_of(mail, path, session), secret("kept"))
    stage.world.lock()
    for attributes in ({"user": "me"}, {"server": "example.org"}, WANTED, {}):
        equal(search(mail, attributes), ([], [path]), f"what is found by {sorted(attributes)}")
    equal(search(mail, {"user": "you"}), ([], []), "what nobody stored")
    equal(property_of(mail, path, "Label"), "kept")
    equal(property_of(mail, path, "Attributes"), WANTED)
    equal(property_of(mail, path, "Locked"), True, "Locked")
    refused(LOCKED, secret_of, mail, path, session)
    refused(LOCKED, keep, mail, session, secret("other"))
    refused(LOCKED, keep, mail, session, secret("other"), {"user": "other"})
    refused(LOCKED, set_secret, mail, path, session, secret("changed"))
    equal(mail.secret_service(ROOT, SERVICE, "GetSecrets", "aoo", ([path], session)), ({},))

    prompt = stage.ask(mail, paths=(path,))
    stage.person.dialog().type(PASSCODE)
    path_of_prompt, _, (dismissed, (_, result)) = mail.signals_until("Completed")[-1]
    equal((path_of_prompt, dismissed, list(result)), (prompt, False, [path]), "the prompt's end")
    equal(property_of(mail, path, "Locked"), False, "Locked after the prompt")
    same_secret(secret_of(mail, path, session), secret("kept"))
    mail.secret_service(path, ITEM, "Delete")
    equal(search(mail, {}), ([], []), "what is left of a deleted item")


@row(
    "SG02",
    "the same, a restart",
    "search and read before the first unlock, and after it",
    "IsLocked; the item with its secret",
)
def restarted(stage, mail):
    path = keep(mail, session_of(mail), secret("kept"))
    stage.restart_broker()
    refused(LOCKED, search, mail, WANTED)
    stage.world.unlock()
    equal(search(mail, WANTED), ([path], []))
    same_secret(secret_of(mail, path, session_of(mail)), secret("kept"))
    holds(not stage.world.damaged_rows(), "no row is damaged")


def unlock(program):
    opened, prompt = program.secret_service(ROOT, SERVICE, "Unlock", "ao", ([LOGIN],))
    return list(opened), prompt


@row(
    "SG10",
    "a program that could not store, since the device is locked",
    "Unlock of the collection, as clients do then; the passcode; store",
    "a prompt; stored. No prompt for whom nothing was refused, nor a second time",
)
def asked(stage, mail):
    world, other = stage.world, stage.world.stranger
    named, reader = Reader(mail), Reader(other)
    old = reader.keep("old", WANTED)
    world.lock()
    for program in (mail, other):
        equal(unlock(program), ([LOGIN], "/"), "what is open")
    refused(LOCKED, named.keep, "new", WANTED)
    equal(unlock(other), ([LOGIN], "/"), "what is open for another")
    prompt = stage.ask(mail)
    stage.person.dialog().type(PASSCODE)
    path, _, (dismissed, (_, result)) = mail.signals_until("Completed")[-1]
    equal((path, dismissed, list(result)), (prompt, False, [LOGIN]), "the prompt's end")
    named.reads(named.keep("new", WANTED), "new")
    world.lock()
    equal(unlock(mail), ([LOGIN], "/"), "what is open after another lock")
    with world.policy_file("[SecretService]\nWhenUnlockedSchema=org.example.Bank.*\n"):
        refused(LOCKED, set_attributes, other, old, BANK)
        stage.prompt(other)
        world.unlock()
        equal(unlock(other), ([LOGIN], "/"), "what is open when unlocked")


TOOL_POLICY = """[Application org.test.Tool]
Executable={path}
AccessGroups=org.test.tool
[AccessGroup org.test.tool]
RequireTrust=user
[SecretService]
WhenUnlocked=org.test.Tool
"""


@row("SG11", "secret-tool, which WhenUnlocked= names, the device locked", "store; the person types", "stored")
def real_program(stage, _):
    world = stage.world
    if not os.path.exists(TOOL):
        raise NotHere("secret-tool is missing (Debian: libsecret-tools)")
    path = os.path.join(world.folder, "bin", "tool")
    copy(TOOL, path)
    words, env = ("user", "me"), world.environment
    with world.policy_file(TOOL_POLICY.format(path=path)):
        world.lock()
        tool = subprocess.Popen([path, "store", "--label=l", *words], stdin=subprocess.PIPE, env=env, text=True)
        tool.stdin.write("a password")
        tool.stdin.close()
        stage.person.dialog().type(PASSCODE)
        equal(tool.wait(WAIT_SECONDS), 0, "its status")
        found = subprocess.run([path, "lookup", *words], env=env, capture_output=True, text=True)
        equal(found.stdout, "a password")


def allow_foreground(world):
    """The programs' first group takes items of the foreground from now on."""
    path = os.path.join(world.folder, "policy", "50-test.conf")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace(f"[AccessGroup {ONE}]", f"[AccessGroup {ONE}]\nAccessible=when-unlocked"))
    world.admin.reload_policy()


def run(report):
    with World(passcode=True) as world:
        allow_foreground(world)
        stage = Stage(world)
        for one in TABLE.rows:
            report.play(one, lambda one=one: one.play(stage, world.mail))
        stage.close()
