"""The recovery key: made, used on this device and on another, guessed at, and what is lost by it."""

import contextlib
import os
import select
import sqlite3
import sys
import time

import traces
from chatelaine_client import MANAGER, OBJECT
from connection import BrokerError
from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from field_keys import changed
from harness import PASSCODE, World
from lock_matrix import CLASSES
from programs import Programs
from store_file import StoreFile
from terminal import Terminal

TABLE = Table()
row = TABLE.row
HERE = os.path.dirname(os.path.abspath(__file__))
MIGRATABLE, OTHERS = ("ak", "ck"), ("aku", "akpu", "cku")
NEW = b"a new passcode"
ALPHABET = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def named(item_class):
    return generic(Account=item_class, Accessible=CLASSES[item_class])


@contextlib.contextmanager
def recoverable(**options):
    """A world with an item of each class, and its recovery key."""
    with World(**options) as world:
        for item_class in CLASSES:
            if world.passcode or item_class != "akpu":
                world.mail.add(named(item_class), secret(item_class))
        yield world, world.user.create_recovery_key(world.passcode)


def new_device(world):
    """The broker again, with another device key."""
    world.stop()
    replace_device_key(world)
    world.start()


def replace_device_key(world, key=None):
    path = os.path.join(world.folder, "device.key")
    with open(path, "wb") as file:
        file.write(key or os.urandom(32))
    os.chmod(path, 0o600)


def device_key(world):
    with open(os.path.join(world.folder, "device.key"), "rb") as file:
        return file.read()


def only_migratable(world):
    for item_class in CLASSES:
        query = generic(Account=item_class)
        if item_class in MIGRATABLE:
            same_secret(world.mail.read(query).secret, secret(item_class), item_class)
        else:
            refused("ItemNotFound", world.mail.read, query)
    equal(world.damaged_rows(), 0, "damaged rows")


def conditions(world):
    return set(world.user.property("Conditions")) - {"memory-not-locked"}


@row("RK01", "a keychain with a passcode", "CreateRecoveryKey", "seven groups of five; the property says so")
def made():
    with recoverable() as (world, key):
        groups = key.split(b"-")
        equal([len(group) for group in groups], [5] * 7, "the groups' lengths")
        holds(all(byte in ALPHABET for group in groups for byte in group), "letters and digits of the alphabet")
        equal(world.user.property("RecoveryKeySet"), True)
        second = world.user.create_recovery_key(PASSCODE)
        holds(second != key, "each is a new one")
        world.user.remove_recovery_key(PASSCODE)
        equal(world.user.property("RecoveryKeySet"), False)
        for call in (lambda: world.user.recover(second, NEW, 99), world.user.preview_recovery):
            refused("NotAvailable", call)


@row("RK02", "the passcode is forgotten", "restart, Recover", "migratable items whole, the others gone; none damaged")
def forgotten():
    with recoverable() as (world, key):
        world.restart()
        equal(world.user.preview_recovery(), (2, 3))
        equal(world.user.recover(key, NEW, 3), (2, 3))
        equal(world.user.property("State"), "unlocked")
        only_migratable(world)
        for item_class in OTHERS:
            world.mail.add(named(item_class), secret("again"))
        world.restart()
        refused("AuthFailed", world.user.unlock, PASSCODE)
        world.user.unlock(NEW)
        same_secret(world.mail.read(generic(Account="akpu")).secret, secret("again"))


@row(
    "RK03",
    "another device key: another machine, a cleared TPM",
    "every call, then Recover",
    "a clear state, nothing changed; then as on a new device, with the same recovery key once more",
)
def another_device():
    with recoverable() as (world, key):
        new_device(world)
        equal(world.user.property("State"), "before-first-unlock")
        holds("device-key-missing" in conditions(world), "the condition")
        equal(world.user.property("RecoveryKeySet"), True)
        before = traces.files(world.state)
        text = refused("NotAvailable", world.mail.read, generic()).text
        holds("recovery" in text, "the text says what to do")
        refused("NotAvailable", world.mail.add, generic(Account="new"), secret())
        refused("NotAvailable", world.user.unlock, PASSCODE)
        refused("NotAvailable", world.user.set_passcode, PASSCODE, NEW)
        refused("NotAvailable", world.user.create_recovery_key, PASSCODE)
        equal(world.user.preview_recovery(), (2, 3))
        equal(changed(before, traces.files(world.state)), [], "the files that changed")
        equal(world.user.recover(key, NEW, 3), (2, 3))
        equal(conditions(world), set())
        only_migratable(world)
        new_device(world)
        world.user.recover(key, b"a third one", 0)
        only_migratable(world)


@row(
    "RK04",
    "the device key is gone",
    "start, Recover",
    "the broker starts, makes no key, says so; with a new key the recovery key opens, with the old one the passcode",
)
def missing_device_key():
    with recoverable() as (world, key):
        old = device_key(world)
        world.stop()
        os.unlink(os.path.join(world.folder, "device.key"))
        world.start()
        holds("device-key-missing" in conditions(world), "the condition")
        equal(world.user.property("RecoveryKeySet"), True)
        equal(world.user.preview_recovery(), (2, 3))
        refused("NotAvailable", world.user.recover, key, NEW, 3)
        refused("NotAvailable", world.mail.read, generic())
        equal(os.path.exists(os.path.join(world.folder, "device.key")), False, "that a key was made")
        world.stop()
        replace_device_key(world, old)
        world.start()
        world.unlock()
        same_secret(world.mail.read(generic(Account="cku")).secret, secret("cku"))
        new_device(world)
        equal(world.user.recover(key, NEW, 3), (2, 3))
        only_migratable(world)


@row("RK05", "unlocked, and locked after a use", "Recover", "what is in memory is kept")
def in_memory():
    for state, kept in (("unlocked", tuple(CLASSES)), ("locked", MIGRATABLE + ("cku",))):
        with recoverable() as (world, key):
            if state == "locked":
                world.lock()
            equal(world.user.preview_recovery(), (len(kept), 5 - len(kept)), state)
            equal(world.user.recover(key, NEW, 5 - len(kept)), (len(kept), 5 - len(kept)), state)
            for item_class in kept:
                same_secret(world.mail.read(generic(Account=item_class)).secret, secret(item_class), state)
            world.restart()
            world.user.unlock(NEW)
            for item_class in kept:
                same_secret(world.mail.read(generic(Account=item_class)).secret, secret(item_class), state)
            equal(world.damaged_rows(), 0, "damaged rows")


@row("RK06", "fewer items are agreed to than would be lost", "Recover", "Param with the number; nothing is lost")
def agreement():
    with recoverable() as (world, key):
        world.restart()
        text = refused("Param", world.user.recover, key, NEW, 2).text
        holds(text.startswith("3 items"), "the text has the number")
        world.unlock()
        for item_class in CLASSES:
            same_secret(world.mail.read(generic(Account=item_class)).secret, secret(item_class))


@row("RK07", "SetPasscode, RemovePasscode", "then another device", "the same recovery key opens what there is")
def passcode_changes():
    with recoverable() as (world, key):
        world.set_passcode(b"second")
        world.remove_passcode()
        equal(world.user.property("RecoveryKeySet"), True)
        world.mail.add(generic(Account="later"), secret("later"))
        new_device(world)
        equal(world.user.recover(key, NEW, 2), (3, 2))
        same_secret(world.mail.read(generic(Account="later")).secret, secret("later"))
        same_secret(world.mail.read(generic(Account="ak")).secret, secret("ak"))


@row("RK08", "no passcode", "another device, Recover without a passcode", "open, and without a passcode again")
def without_passcode():
    with recoverable(passcode=False) as (world, key):
        new_device(world)
        equal(world.user.property("State"), "before-first-unlock")
        equal(world.user.recover(key, b"", 2), (2, 2))
        equal((world.user.property("State"), world.user.property("PasscodeSet")), ("unlocked", False))
        world.restart()
        same_secret(world.mail.read(generic(Account="ak")).secret, secret("ak"))


@row("RK09", "kill -9 while it recovers", "start again", "the old keychain or the new one, whole")
def killed():
    with recoverable() as (world, key):
        for number in range(4):
            world.restart()
            connection = world.user.connection
            _, lost = world.user.preview_recovery()
            serial = start_recovery(world, key, lost)
            select.select([connection.socket], [], [], 0.05 + 0.1 * number)
            world.kill()
            with contextlib.suppress(BrokerError):
                connection.reply(serial)
            world.start()
            unlocked_by_either(world)
            kept = [c for c in CLASSES if world.mail.search(generic(Account=c))]
            holds(set(kept) in (set(CLASSES), set(MIGRATABLE)), "all of them or the migratable ones")
            for item_class in kept:
                same_secret(world.mail.read(generic(Account=item_class)).secret, secret(item_class))
            equal(world.damaged_rows(), 0, "damaged rows")


def start_recovery(world, key, accepted):
    session = world.user.session
    body = (session.seal(key), session.seal(NEW), accepted)
    return world.user.connection.send(OBJECT, MANAGER, "Recover", "(oayay)(oayay)u", body)


def unlocked_by_either(world):
    for passcode in (NEW, PASSCODE):
        with contextlib.suppress(BrokerError):
            return world.user.unlock(passcode)
    raise AssertionError("neither the old nor the new passcode unlocks")


# Attacks


@row("RK20", "a mistyped key", "Recover, many times", "Param names the group; no attempt is counted or held back")
def mistyped():
    with recoverable() as (world, key):
        world.restart()
        wrong = bytearray(key)
        wrong[13] = ALPHABET[(ALPHABET.index(wrong[13]) + 1) % 32]
        for _ in range(40):
            text = refused("Param", world.user.recover, bytes(wrong), NEW, 99).text
        holds(text.startswith("Group 3 "), "the text names the group")
        for other in (b"", key[:-1], key + b"0", b"x" * 1000, key.replace(b"-", b"\xff"), bytes(35)):
            refused("Param", world.user.recover, other, NEW, 99)
        # Forty pauses that double would be hours.
        equal(world.user.recover(key.lower().replace(b"-", b" "), NEW, 3), (2, 3))


@row("RK21", "well-formed keys that are not it", "Recover", "AuthFailed, each held back longer, beside Unlock's own")
def guessed():
    with recoverable() as (world, key), recoverable() as (other, foreign):
        world.restart()
        before = traces.files(world.state)
        refused("AuthFailed", world.user.recover, foreign, NEW, 99)
        refused("AuthFailed", world.user.unlock, b"guess")
        connection, begun = world.user.connection, time.monotonic()
        serial = start_recovery(world, foreign, 99)
        reads = []
        while not select.select([connection.socket], [], [], 0)[0] and time.monotonic() < begun + 30:
            refused("InteractionNotAllowed", world.mail.read, generic())
            reads.append(time.monotonic())
        ended = time.monotonic()
        refused("AuthFailed", connection.reply, serial)
        # It is the third wrong one, of whichever kind the others were: a quarter of a second, doubled twice.
        holds(ended - begun >= 1, "the third guess is held back for a second")
        # Not only while the key is derived, which comes before: one that waited for the pause is answered with it.
        holds(any(0.1 < ended - one < 0.9 for one in reads), "others' calls are answered in its pause")
        equal(changed(before, traces.files(world.state)), [], "the files that changed")
        equal(world.user.recover(key, NEW, 3), (2, 3))
        equal(other.user.property("State"), "unlocked")


@row("RK22", "a slot of another store, an older one, an altered header", "Recover", "refused; the passcode still opens")
def swapped():
    changes = (
        "UPDATE keybag_slots SET header = (SELECT header FROM other.keybag_slots WHERE id = 2) WHERE id = 2",
        "UPDATE keybag_slots SET header = X'010300000011' || substr(header, 7) WHERE id = 2",
        "UPDATE keybag_slots SET header = X'0103000000020000' || X'0001' || substr(header, 11) WHERE id = 2",
        "DELETE FROM keybag_keys WHERE slot = 2;"
        "INSERT INTO keybag_keys SELECT * FROM other.keybag_keys WHERE slot = 2;"
        "UPDATE keybag_slots SET header = (SELECT header FROM other.keybag_slots WHERE id = 2) WHERE id = 2",
        "DELETE FROM keybag_keys WHERE slot = 2 AND purpose = 4",
    )
    with recoverable() as (other, _), recoverable() as (world, key):
        with StoreFile.of(other) as store:
            copy = os.path.join(world.folder, "other.db")
            store.database.execute("VACUUM INTO ?", (copy,))
        for change in changes:
            world.stop()
            path = StoreFile.path(world.state)
            kept = traces.content(path)
            database = sqlite3.connect(path, isolation_level=None)
            database.execute("ATTACH ? AS other", (copy,))
            database.executescript(change)
            database.close()
            world.start()
            refused(("AuthFailed", "NotAvailable"), world.user.recover, key, NEW, 99)
            world.unlock()
            for item_class in CLASSES:
                same_secret(world.mail.read(generic(Account=item_class)).secret, secret(item_class))
            world.stop()
            for name in os.listdir(os.path.dirname(path)):
                if name.startswith("keychain.db-"):
                    os.unlink(os.path.join(os.path.dirname(path), name))
            with open(path, "wb") as file:
                file.write(kept)
            world.start()
        equal(world.user.recover(key, NEW, 99), (2, 3))


@row("RK23", "a stranger of the same user", "every call, without passcode or key", "AuthFailed; it learns two counts")
def stranger():
    with recoverable() as (world, key):
        world.restart()
        refused("AuthFailed", world.stranger.create_recovery_key, b"")
        refused("AuthFailed", world.stranger.create_recovery_key, b"guess")
        refused("AuthFailed", world.stranger.remove_recovery_key, b"")
        equal(tuple(world.stranger.preview_recovery()), (2, 3))
        equal(world.user.property("RecoveryKeySet"), True)
        equal(world.user.recover(key, NEW, 3), (2, 3))


@row("RK24", "a sandboxed program", "every call", "AccessDenied")
def sandboxed():
    if os.geteuid() != 0:
        raise NotHere("a mount namespace needs root")
    with recoverable() as (world, key):
        program = world.executable("stranger")
        apart = [sys.executable, os.path.join(HERE, "in_namespace.py"), "mount", program, program]
        with contextlib.closing(world.program(program, apart)) as caged:
            refused("AccessDenied", caged.create_recovery_key, PASSCODE)
            refused("AccessDenied", caged.remove_recovery_key, PASSCODE)
            refused("AccessDenied", caged.preview_recovery)
            refused("AccessDenied", caged.recover, key, NEW, 99)
        equal(world.user.property("RecoveryKeySet"), True)


@row("RK25", "the key in files, in the log", "made, used, removed", "nowhere")
def traces_of_it():
    with recoverable() as (world, key):
        pieces = {"key": key, "symbols": key.replace(b"-", b""), "half": key.replace(b"-", b"")[:18]}
        world.restart()
        world.user.recover(key, NEW, 3)
        logged = {"the log": world.log().encode()}
        for path, data in (traces.files(world.state) | logged).items():
            equal(traces.found_in(data, pieces), {}, os.path.basename(path))


@row("RK26", "the file and the passcode, without the device key", "Recover with the passcode as key", "Param")
def no_short_cut():
    with recoverable() as (world, _):
        new_device(world)
        refused("Param", world.user.recover, PASSCODE, NEW, 99)
        refused("NotAvailable", world.user.remove_recovery_key, PASSCODE)


# The command


@contextlib.contextmanager
def command():
    with recoverable() as (world, _):
        world.user.remove_recovery_key(PASSCODE)
        yield world, Programs(world, "chatelaine")


def at_terminal(programs, *words):
    command = [programs.path("chatelaine"), "--address", programs.world.address, *words]
    return Terminal(command, programs.environment, programs.world.folder)


def chatelaine(programs, *words, given=b""):
    return programs.run("chatelaine", "--address", programs.world.address, *words, given=given)


@row("RK40", "the command", "recovery create, remove", "the key on standard output alone; an old one is kept unless agreed")
def command_create():
    with command() as (world, programs):
        ended = chatelaine(programs, "recovery", "create", given=PASSCODE + b"\n")
        equal((ended.status, ended.errors), (0, ""))
        equal(len(ended.output), 42)
        ended = chatelaine(programs, "recovery", "create", given=PASSCODE + b"\n")
        equal((ended.status, len(ended.output)), (2, 0))
        holds("--discard-old" in ended.errors, "the advice")
        ended = chatelaine(programs, "recovery", "create", "--discard-old", given=PASSCODE + b"\n")
        equal(ended.status, 0)
        equal(chatelaine(programs, "recovery", "remove", given=b"wrong\n").status, 3)
        equal(chatelaine(programs, "recovery", "remove", given=PASSCODE + b"\n").status, 0)
        equal(world.user.property("RecoveryKeySet"), False)
        ended = chatelaine(programs, "recovery", "use", "0" * 35)
        equal(ended.status, 2)
        holds("0" * 35 not in ended.errors, "the arguments are not repeated")


@row("RK41", "the command in a script", "recovery use", "nothing without --lose; then the counts")
def command_use():
    with command() as (world, programs):
        key = chatelaine(programs, "recovery", "create", given=PASSCODE + b"\n").output
        world.restart()
        ended = chatelaine(programs, "recovery", "use", given=key + b"new\n")
        equal((ended.status, ended.output), (2, b""))
        holds("--lose 3" in ended.errors, "the advice")
        wrong = (b"1" if key[:1] == b"0" else b"0") + key[1:]
        ended = chatelaine(programs, "recovery", "use", "--lose", "3", given=wrong + b"new\n")
        equal(ended.status, 2)
        holds("Group 1 " in ended.errors, "the group is named")
        typed = key.lower().replace(b"-", b"  ")
        ended = chatelaine(programs, "--json", "recovery", "use", "--lose", "3", given=typed + b"new\n")
        equal((ended.status, ended.output), (0, b'{"Kept":2,"Lost":3}\n'))
        only_migratable(world)


@row("RK42", "the command at a terminal", "recovery use", "says what is lost and asks; names the wrong group; a no changes nothing")
def command_terminal():
    with command() as (world, programs):
        key = chatelaine(programs, "recovery", "create", given=PASSCODE + b"\n").output.strip()
        world.restart()
        with at_terminal(programs, "recovery", "use") as terminal:
            terminal.until(b"Go on? [y/N] ")
            holds(b"It cannot open 3" in terminal.seen and b"opens 2 items" in terminal.seen, "the counts")
            terminal.type(b"n")
            equal(terminal.status(), 3)
        world.unlock()
        same_secret(world.mail.read(generic(Account="cku")).secret, secret("cku"))
        world.restart()
        with at_terminal(programs, "recovery", "use") as terminal:
            terminal.until(b"Go on? [y/N] ")
            terminal.type(b"y")
            terminal.until(b"Recovery key: ")
            terminal.type(key[:40] + (b"0" if key[40:] != b"0" else b"1"))
            terminal.until(b"Group 7 has a mistake")
            terminal.until(b"Recovery key: ")
            terminal.type(key)
            terminal.until(b"New passcode: ")
            terminal.type(b"new")
            terminal.until(b"again: ")
            terminal.type(b"new")
            equal(terminal.status(), 0)
            holds(key not in terminal.seen, "the key is not shown")
        only_migratable(world)


def run(report):
    for entry in TABLE.rows:
        report.play(entry, entry.play)
