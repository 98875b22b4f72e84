"""Items of org.freedesktop.secrets whose secret alone is of the foreground: found while locked, read when unlocked."""

import os

from expect import Table, equal, holds, refused, same_secret, secret
from harness import PASSCODE, World
from policy import ONE
from prompt_stage import COLLECTION, LOGIN, PROPERTIES, ROOT, SERVICE, Stage

TABLE = Table()
row = TABLE.row
ITEM = "org.freedesktop.Secret.Item"
LOCKED = "org.freedesktop.Secret.Error.IsLocked"
WANTED = {"user": "me", "server": "example.org"}


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
