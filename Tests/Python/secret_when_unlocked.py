"""Items of org.freedesktop.secrets whose secret [SecretService] has read while unlocked alone."""

import os

import secret_portal
from expect import Table, equal, holds, refused, same_secret, secret
from harness import World
from policy import FOREIGN
from prompt_stage import LOGIN
from secret_foreground import BANK, LOCKED, WANTED, Reader, property_of, search, set_attributes, set_secret

TABLE = Table()
row = TABLE.row
POLICY = """[SecretService]
WhenUnlocked=org.test.Stranger
WhenUnlockedSchema=org.example.Bank.* org.example.Pin
"""


@row(
    "SG03",
    "an application that WhenUnlocked= names, and another",
    "store, lock, read",
    "IsLocked; the secret",
)
def by_application(world):
    with world.policy_file(POLICY):
        named, other = Reader(world.stranger), Reader(world.mail)
        own, others = named.keep("own", WANTED), other.keep("other", WANTED)
        world.lock()
        named.reads(own, None)
        equal(search(world.stranger, WANTED), ([], [own]), "what is found while locked")
        equal(property_of(world.stranger, own, "Attributes"), WANTED)
        refused(LOCKED, named.keep, "new", {"a": "b"})
        other.reads(others, "other")
        other.reads(other.keep("new", {"a": "b"}), "new")
        world.unlock()
        named.reads(own, "own")


@row(
    "SG04",
    "items of schemas that WhenUnlockedSchema= names, and of others",
    "lock, read",
    "by their schema",
)
def by_schema(world):
    with world.policy_file(POLICY):
        mail = Reader(world.mail)
        schemas = {"org.example.Bank.Card": False, "org.example.Pin": False, "org.example.Bank": True}
        schemas |= {"org.example.bank.Card": True, "org.example.Pin2": True, "": True}
        kept = {schema: mail.keep(schema, {"schema-test": "1", "xdg:schema": schema}) for schema in schemas}
        without = mail.keep("without", {"schema-test": "1"})
        world.lock()
        for schema, stays in schemas.items():
            mail.reads(kept[schema], schema if stays else None)
        mail.reads(without, "without")
        found, locked = search(world.mail, {"schema-test": "1"})
        equal(sorted(locked), sorted(kept[schema] for schema in schemas if not schemas[schema]))
        equal(len(found), 5, "the number of those that are found open")
        equal(search(world.mail, {"xdg:schema": "org.example.Pin"})[1], [kept["org.example.Pin"]])
        world.unlock()
        for schema in schemas:
            mail.reads(kept[schema], schema)


@row(
    "SG05",
    "an item that is older than the policy",
    "lock and read; write it, lock and read; the policy goes",
    "as it was written last",
)
def older(world):
    mail = Reader(world.mail)
    path = mail.keep("old", BANK)
    with world.policy_file(POLICY):
        world.lock()
        mail.reads(path, "old")
        refused(LOCKED, set_secret, world.mail, path, mail.session, secret("new"))
        mail.reads(path, "old")
        world.unlock()
        set_secret(world.mail, path, mail.session, secret("new"))
        mail.reads(path, "new")
        world.lock()
        mail.reads(path, None)
    mail.reads(path, None)
    set_secret(world.mail, path, mail.session, secret("newest"))
    mail.reads(path, "newest")
    world.unlock()
    # A replacing CreateItem is a write too.
    with world.policy_file(POLICY):
        equal(mail.keep("replaced", BANK), path, "the item that is replaced")
        world.lock()
        mail.reads(path, None)
        world.unlock()
        mail.reads(path, "replaced")
    holds(not world.damaged_rows(), "no row is damaged")


@row(
    "SG06",
    "an item whose xdg:schema changes",
    "to one that is named, locked and not; and back",
    "IsLocked; locked from then on",
)
def rescheme(world):
    with world.policy_file(POLICY):
        mail = Reader(world.mail)
        before = {"user": "rescheme"}
        path = mail.keep("it", before)
        world.lock()
        refused(LOCKED, set_attributes, world.mail, path, BANK)
        equal(property_of(world.mail, path, "Attributes"), before, "the attributes after the refusal")
        mail.reads(path, "it")
        world.unlock()
        set_attributes(world.mail, path, BANK)
        mail.reads(path, "it")
        set_attributes(world.mail, path, before)
        world.lock()
        mail.reads(path, None)
        world.unlock()
        set_secret(world.mail, path, mail.session, secret("again"))
        world.lock()
        mail.reads(path, "again")
        world.unlock()


@row("SG07", "items of both kinds", "lock and unlock the device", "each item's Locked is told as it is")
def told(world):
    with world.policy_file(POLICY):
        named = Reader(world.calendar)
        bank, plain = named.keep("bank", BANK), named.keep("plain", {"user": "me"})
        for change, is_locked in ((world.lock, True), (world.unlock, False)):
            world.calendar.signals_so_far()
            change()
            told = world.calendar.locked_told()
            wanted = {bank: is_locked, plain: False, LOGIN: False}
            equal({path: told.get(path) for path in wanted}, wanted, "what is told")
            for path in set(told) - set(wanted):
                holds("/login/" not in path or property_of(world.calendar, path, "Locked") == told[path], path)


@row(
    "SG08",
    "the portal's secrets by their schema",
    "ask while locked, with nobody to ask; unlocked",
    "IsLocked; the same",
)
def of_the_portal(world):
    text = secret_portal.policy() + "WhenUnlockedSchema=org.freedesktop.portal.Secret\n"
    with world.policy_file(text):
        portal = secret_portal.PortalClient(world.address)
        _, first = portal.retrieve("org.example.App")
        world.lock()
        for app in ("org.example.App", "org.example.Unborn"):
            refused(LOCKED, portal.retrieve, app)
        world.unlock()
        same_secret(portal.retrieve("org.example.App")[1], first)
        equal(portal.search({"app_id": "org.example.Unborn"}), [], "what was made while locked")
        portal.close()


@row(
    "SG09",
    "mistakes in the section; Explain",
    "reload; ask",
    "refused with file:line, the old one stays; the line that decides",
)
def explained(world):
    with world.policy_file(POLICY):
        path = os.path.join(world.folder, "policy", "70-wrong.conf")
        for line, text in (
            ("[SecretService]\nWhenUnlocked=a", "70-wrong.conf:1: [SecretService] stands already"),
            ("[Application a.b]\nWhenUnlocked=a", "70-wrong.conf:2: [Application] has no key 'WhenUnlocked'"),
        ):
            with open(path, "w") as file:
                file.write(line + "\n")
            holds(text in refused("PolicyInvalid", world.admin.reload_policy).text, f"it says {text}")
        os.unlink(path)
        named = Reader(world.stranger)
        kept = named.keep("kept", WANTED)
        world.lock()
        named.reads(kept, None)
        world.unlock()
        connection = world.stranger.connect(world.address)
        reasons = world.admin.explain(connection, FOREIGN)["Reasons"]
        line = f"{world.folder}/policy/60-test.conf:2"
        holds(any(f"WhenUnlocked= ({line})" in one for one in reasons), f"the line: {reasons}")
    with world.policy_file("[SecretService]\nWhenUnlocked=org.test.Strange\n"):
        warned = f"{line}: WhenUnlocked=: there is no [Application org.test.Strange]"
        holds(any(one.startswith(warned) for one in world.warnings), f"the warning: {world.warnings}")


def run(report):
    with World(passcode=True) as world:
        for one in TABLE.rows:
            report.play(one, lambda one=one: one.play(world))
