"""What must stay inside: secrets, passcodes and attributes, looked for where each could come out.

Every look has its counterpart: something of the same kind that the same look does find.
"""

import os
import secrets
import subprocess

import leaks_process
from connection import BrokerError
from expect import NotHere, Table, equal, generic, holds, refused, same_secret
from harness import World
from leaks_job import Marks, job
from monitor import Monitor
from policy import ONE
from store_file import StoreFile
from traces import files, files_with, found_in

TABLE = Table()
row = TABLE.row
PLAIN_ALLOWED = "[Broker]\nAllowPlain=yes\n"
BUSCTL = "/usr/bin/busctl"
OBJECT = "org.chatelaine.Broker1 /org/chatelaine/Broker1 org.chatelaine.Broker1."


@row(
    "X01",
    "a monitor on the bus",
    "the whole main job, passcodes too",
    "no secret in any form; attributes in clear",
)
def x01():
    marks = Marks()
    with World(passcode=False) as world, Monitor(world.address) as monitor:
        job(world, marks)
        world.remove_passcode()
        captured = monitor.seen()
        equal(found_in(captured, marks.secrets), {}, "the secrets that the monitor saw")
        equal(found_in(captured, Marks.inner(marks.secrets)), {}, "the middles of secrets that it saw")
        missing = [name for name, value in marks.attributes.items() if value not in captured]
        equal(missing, [], "the attributes that the monitor did not see")


@row("X02", "plain sessions allowed", "one busctl call carries a secret", "it works, and the monitor sees it")
def x02():
    if not os.access(BUSCTL, os.X_OK):
        raise NotHere("busctl is missing")
    policy = f"[Application org.test.Busctl]\nExecutable={BUSCTL}\nAccessGroups={ONE}\n"
    value = secrets.token_bytes(8)
    with World(passcode=False, configuration=PLAIN_ALLOWED) as world, Monitor(world.address) as monitor:
        with world.policy_file(policy):
            key = "Class s generic-password Service s busctl Account s a"
            given = f"{key} / 0 {len(value)} {' '.join(map(str, value))}"
            busctl(world, "Items", "Store", "a{sv}(oayay)", "3", *given.split())
            answer = busctl(world, "Items", "Read", "a{sv}o", "3", *key.split(), "/")
            holds(f'"/" 0 {len(value)} {" ".join(map(str, value))}' in answer, "busctl reads what it stored")
            found = world.mail.read(generic(Service="busctl"))
            same_secret(found.secret, value, "over an encrypted session beside it")
        holds(value in monitor.seen(), "this is what a monitor would see of a secret in clear")


def busctl(world, interface, member, signature, *arguments):
    command = [BUSCTL, "--user", "call", *(OBJECT + interface).split(), member, signature, *arguments]
    done = subprocess.run(command, env=world.environment, capture_output=True, text=True, timeout=60)
    equal((done.returncode, done.stderr), (0, ""), "busctl's exit status and errors")
    return done.stdout


@row(
    "X03", "the session bus", "OpenSession plain, the session /", "EncryptionRequired, unless AllowPlain=yes"
)
def x03():
    for configuration, is_allowed in (
        ("", False),
        ("[Broker]\nAllowPlain=no\n", False),
        (PLAIN_ALLOWED, True),
    ):
        with World(passcode=False, configuration=configuration) as world:
            for path in (None, "/"):
                if is_allowed:
                    world.mail.store_plainly(path, generic(), b"a secret")
                    same_secret(world.calendar.read(generic()).secret, b"a secret")
                else:
                    refused("EncryptionRequired", world.mail.store_plainly, path, generic(), b"a secret")


@row(
    "X04",
    "the files of the store",
    "look at each step of a life",
    "no secret, account or other value in any form",
)
def x04():
    marks = Marks()
    with World(passcode=False) as world:

        def look(when):
            data = b"".join(files(world.state).values())
            values = marks.secrets | marks.attributes | Marks.inner(marks.secrets)
            equal(found_in(data, values), {}, f"what is in the files ({when})")
            holds(ONE.encode() in data, f"a group's name, which is not sealed, is found ({when})")

        job(world, marks, look)
        StoreFile.await_checkpoint(world)
        look("after the checkpoint")
        world.remove_passcode()
        look("without a passcode")


@row(
    "X05",
    "items that are deleted in each way",
    "look for their bytes",
    "ciphertext and tokens are gone from all files",
)
def x05():
    with World() as world:
        ways = {
            "delete": lambda given: world.mail.delete(given),
            "logout": lambda given: world.mail.logout(ONE, given["Service"], ""),
            "forced": lambda given: world.admin.force_logout(ONE, given["Service"], ""),
            "locked": lambda given: (world.lock(), world.mail.delete(given), world.unlock()),
        }
        classes = ("when-unlocked", "after-first-unlock")
        given = {
            (way, accessible): generic(Service=way, Account=accessible)
            for way in ways
            for accessible in classes
        }
        references = {
            key: world.mail.add(
                item | {"Accessible": key[1], "Comment": "c" * 900}, secrets.token_bytes(5000)
            )[0]
            for key, item in given.items()
        }
        world.mail.add(generic(Service="kept"), secrets.token_bytes(5000))
        with StoreFile.of(world) as store:
            pieces = {key: store.pieces(reference) for key, reference in references.items()}
        for key, item in given.items():
            holds(files_with(world.state, pieces[key]), f"{key} is there before")
            if key[0] in ("delete", "locked") or key[1] == classes[0]:
                ways[key[0]](item)
        StoreFile.await_checkpoint(world)
        for key in given:
            equal(files_with(world.state, pieces[key]), {}, f"what is left of {key}")


@row("X06", "an item that was written over", "delete another, wait", "its former ciphertext is gone as well")
def x06():
    with World(passcode=False) as world:
        reference, _ = world.mail.add(generic(Label="old"), secrets.token_bytes(5000))
        world.mail.add(generic(Account="other"), secrets.token_bytes(10))
        with StoreFile.of(world) as store:
            pieces = store.pieces(reference)[-20:]
        holds(files_with(world.state, pieces), "before it is written over it is there")
        world.mail.store(generic(Label="new"), secrets.token_bytes(100))
        world.mail.delete(generic(Account="other"))
        StoreFile.await_checkpoint(world)
        equal(files_with(world.state, pieces), {}, "what is left of the former one")


@row(
    "X07",
    "a passcode that is changed, then removed",
    "look for the keys' old wraps",
    "gone when the call returns",
)
def x07():
    with World() as world:
        protected = "when-passcode-set-this-device-only"
        reference, _ = world.mail.add(generic(Accessible=protected), secrets.token_bytes(5000))
        with StoreFile.of(world) as store:
            wraps, pieces = store.wrapped_keys(), store.pieces(reference)
        equal(len(wraps) > 5, True, "that there are enough wraps to look for")
        holds(files_with(world.state, wraps), "before the change they are there")
        world.set_passcode(b"another passcode")
        equal(files_with(world.state, wraps), {}, "what is left of the old wraps")
        with StoreFile.of(world) as store:
            wraps = store.wrapped_keys()
        world.remove_passcode()
        equal(files_with(world.state, wraps), {}, "what is left of the wraps under the passcode")
        equal(files_with(world.state, pieces), {}, "what is left of the passcode-set item")


@row(
    "X08", "the broker's log and error texts", "a life full of mistakes", "no secret, account or other value"
)
def x08():
    marks, texts = Marks(), []
    with World(passcode=False) as world:
        foreground, background = job(world, marks)
        mistakes(world, marks, foreground, background, texts)
        world.stop()
        log = world.log().encode() + journal(world)
        holds(b"deny" in log and b"allow" in log, "the log has lines of the audit")
        equal(
            found_in(log, marks.secrets | marks.attributes | Marks.inner(marks.secrets)),
            {},
            "what the log has",
        )
        equal(
            found_in("\n".join(texts).encode(), marks.secrets | marks.attributes), {}, "what error texts have"
        )
        holds(len(texts) > 10, "errors were provoked")


def mistakes(world, marks, foreground, background, texts):
    """Refusals of every kind, with values that could stand in their texts."""
    secret, value = marks.secret("mistaken"), marks.text("mistaken")
    calls = (
        lambda: world.mail.add(foreground, secret),
        lambda: world.mail.add({"Class": value}, secret),
        lambda: world.mail.add(generic(Accessible=value), secret),
        lambda: world.mail.add(generic(AccessControl=(value, (value,))), secret),
        lambda: world.mail.add(generic(**{"Account": 7}), secret),
        lambda: world.mail.add(generic(Synchronizable=value), secret),
        lambda: world.mail.read(generic(Account=value)),
        lambda: world.mail.read(foreground | {"Limit": 0}),
        lambda: world.mail.update(foreground, {"IfRevision": 1}, secret),
        lambda: world.mail.update({"Class": "generic-password"}, {"Account": value}),
        lambda: world.mail.store(foreground | {"Expires": 1}, secret),
        lambda: world.mail.add(generic(Label=value * 5000), secret),
        lambda: world.stranger.read(foreground),
        lambda: world.nobody.read(background),
        lambda: world.nobody.add(background, secret),
        lambda: world.mail.force_logout(ONE, marks.attributes["service"].decode(), value),
        lambda: world.mail.logout(ONE, value * 500, ""),
        lambda: world.mail.read({"Reference": value}),
    )
    for call in calls:
        try:
            call()
        except BrokerError as error:
            texts.append(error.text)
    world.admin.force_logout(ONE, marks.attributes["service"].decode(), value)


def journal(world):
    """What the journal has of this broker; nothing where the broker found none."""
    if not os.path.exists("/run/systemd/journal/socket"):
        return b""
    command = ["journalctl", f"_PID={world.process.pid}", "--output=export", "--boot"]
    return subprocess.run(command, capture_output=True).stdout


def run(report):
    for row in TABLE.rows + leaks_process.TABLE.rows:
        report.play(row, row.play)
