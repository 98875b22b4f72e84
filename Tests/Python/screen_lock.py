"""The session locks, the vault locks: what logind and screen savers say, and what others say in their names."""

import contextlib
import os

import keys_in_memory
from chatelaine_client import MANAGER, OBJECT, Client
from connection import Connection
from expect import NotHere, Table, equal, holds, refused, same_secret, secret
from harness import PASSCODE, World
from logind_stage import (
    FOLLOWS,
    FOREGROUND,
    FakeLogind,
    Screens,
    active_changed,
    brokers,
    forgeries,
    send,
)
from private_bus import PrivateBus

TABLE, ALONE = Table(), Table()
row, alone = TABLE.row, ALONE.row
OTHER, UNLOCKS = 65_533, 8


@row("LS01", "a session", "logind has it lock", "the foreground is shut at once; the word to unlock opens nothing")
def ls01(w):
    w.logind.signal("1", "Lock")
    w.is_locked()
    equal(w.lines("session-lock"), 1)
    w.logind.signal("1", "Lock")
    w.logind.signal("1", "Unlock")
    w.stays("locked")
    equal(w.lines("session-lock"), 1)


@row("LS02", "a session", "its desktop says that it is locked, and that it is not", "shut; and nothing opens")
def ls02(w):
    w.logind.lock_hint("1", True)
    w.is_locked()
    w.logind.lock_hint("1", False)
    w.stays("locked")
    w.opens()
    w.logind.invalidate("1", {"LockedHint": True})
    w.is_locked()


@row("LS03", "two sessions", "the one over the network is locked, or a new one that is", "shut")
def ls03(w):
    w.logind.session("2", w.user_id)
    w.logind.lock_hint("2", True)
    w.is_locked()
    w.opens()
    w.logind.session("3", w.user_id, LockedHint=True)
    w.is_locked()


@row("LS04", "sessions of another user, and of no person", "they lock, end, and are looked at", "nothing")
def ls04(w):
    w.logind.session("2", OTHER)
    w.logind.session("3", w.user_id, Class="manager")
    w.logind.session("4", w.user_id, Class="greeter")
    for number in ("2", "3", "4"):
        w.logind.signal(number, "Lock")
        w.logind.lock_hint(number, True)
        w.logind.remove(number)
    w.stays()


@row("LS05", "a program, on the system's bus", "it sends to all and to the broker what logind would", "nothing")
def ls05(w):
    forger = Connection(w.address)
    try:
        for destination in (None, *brokers(w)):
            for path, interface, member, signature, body in forgeries():
                send(forger, path, interface, member, signature, body, destination)
        bus = ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss")
        own = forger.bus_call("GetNameOwner", "s", ("org.freedesktop.login1",))[0]
        for destination in brokers(w):
            send(forger, *bus, ("org.freedesktop.login1", own, ""), destination)
        forger.ping()
    finally:
        forger.close()
    w.stays()
    w.logind.signal("1", "Lock")
    w.is_locked()


@row("LS06", "a machine that goes to sleep", "logind says so; it wakes", "shut before it sleeps; held up anew")
def ls06(w):
    held, taken = w.logind.held()
    equal(held, 1)
    w.logind.sleep(True)
    w.logind.await_released()
    equal(w.user.property("State"), "locked")
    w.is_locked()
    equal(w.lines("sleep"), 1)
    w.logind.sleep(False)
    w.logind.await_taken(taken + 1)
    equal(w.logind.held(), [1, taken + 1])
    w.opens()


@row("LS07", "an unlock under way", "a lock, a sleep, an end of the session", "the lock wins each time")
def ls07(w):
    w.lock()
    w.is_told("locked")
    for happen in (
        lambda: w.logind.signal("1", "Lock"),
        lambda: w.logind.lock_hint("1", True),
        lambda: w.logind.sleep(True),
        lambda: w.logind.remove("1"),
    ):
        overtake(w, happen)
        equal(w.user.property("State"), "locked")


def overtake(w, happen):
    """Something happens while unlocks are under way, one behind the other, so that it comes before the last one."""
    client = Client(w.client_address)
    for _ in range(UNLOCKS):
        serial = client.connection.send(OBJECT, MANAGER, "Unlock", "(oayay)", (client.session.seal(PASSCODE),))
    client.connection.ping()
    happen()
    w.logind.barrier()
    refused("InteractionNotAllowed", client.connection.reply, serial)
    client.close()


@row("LS08", "two sessions", "they end, one after the other", "shut when the last one has; a greeter is none")
def ls08(w):
    w.logind.session("2", w.user_id)
    w.logind.session("g", w.user_id, Class="greeter")
    w.logind.remove("1")
    w.stays()
    w.logind.remove("2")
    w.is_locked()
    equal(w.lines("session-end"), 1)


@row("LS09", "two users at one seat", "the other one's session comes to the front", "shut; one's own is not")
def ls09(w):
    w.logind.session("2", w.user_id, Seat="seat0")
    w.logind.session("3", OTHER, Seat="seat1")
    w.logind.session("4", OTHER, Seat="seat0", Active=False)
    w.stays()
    w.logind.change("2", {"Active": False})
    w.logind.change("4", {"Active": True})
    w.is_locked()
    equal(w.lines("seat-switch"), 1)
    w.opens()
    w.logind.change("4", {"Active": False})
    w.logind.change("2", {"Active": True})
    w.stays()
    w.logind.session("5", OTHER, Seat="seat0", Class="greeter")
    w.is_locked()


@row("LS10", "a screen saver", "it begins, ends; another program says that it began", "shut; opens nothing; nothing")
def ls10(w):
    with w.saver() as saver:
        forger = Connection(w.address)
        for destination in (None, *brokers(w)):
            active_changed(forger, True, destination)
        forger.ping()
        forger.close()
        active_changed(saver, False)
        saver.ping()
        w.stays()
        active_changed(saver, True)
        w.is_locked()
        equal(w.lines("screen-saver"), 1)
        active_changed(saver, False)
        saver.ping()
        w.stays("locked")


@row("LS11", "a desktop that tells logind when it locks", "its screen saver begins", "the hint alone counts")
def ls11(w):
    w.logind.lock_hint("1", True)
    w.is_locked()
    w.logind.lock_hint("1", False)
    w.opens()
    with w.saver() as saver:
        active_changed(saver, True)
        saver.ping()
        w.stays()


@row("LS19", "the broker's memory, as root reads it", "lock, sleep, overtake an unlock; unlock", "no foreground key")
def ls19(w):
    with open(os.path.join(w.folder, "device.key"), "rb") as file, open("/etc/machine-id", "rb") as machine:
        given = (file.read(), machine.read().strip(), w.passcode)
    keys = keys_in_memory.class_keys(os.path.join(w.state, "keychain.db"), *given)
    if os.geteuid() != 0:
        raise NotHere("another process's memory is root's to read")

    def there():
        return keys_in_memory.classes_found(keys, lambda values: keys_in_memory.found(w.process.pid, values))

    every, background = {*keys_in_memory.PURPOSES}, {*keys_in_memory.BACKGROUND}
    equal(there(), every)
    w.logind.signal("1", "Lock")
    w.is_told("locked")
    equal(there(), background)
    w.opens()
    equal(there(), every)
    w.logind.sleep(True)
    w.logind.await_released()
    equal(there(), background)
    overtake(w, lambda: w.logind.lock_hint("1", True))
    equal(there(), background)


CAUSES = {
    "session-lock": lambda w: w.logind.signal("1", "Lock"),
    "sleep": lambda w: (w.logind.sleep(True), w.logind.sleep(False)),
    "session-end": lambda w: w.logind.remove("1"),
    "seat-switch": lambda w: w.logind.session("other", OTHER, Seat="seat0"),
    "screen-saver": lambda w: began(w),
}


def began(w):
    with w.saver() as saver:
        active_changed(saver, True)
        saver.ping()


def again(w):
    """The session at its seat, and nobody else's."""
    listed = w.logind.listed()
    if "other" in listed:
        w.logind.remove("other")
    if "1" not in listed:
        w.logind.session("1", w.user_id, Seat="seat0")
    w.logind.barrier()


@row("LS12", "LockOn= with each word alone, none, and all", "each thing happens", "what is named locks, nothing else")
def ls12(w):
    w.logind.change("1", {"Active": False})
    w.logind.session("2", w.user_id, Seat="seat0")
    w.logind.remove("1")
    w.logind.session("1", w.user_id, Seat="seat0")
    w.logind.remove("2")
    for words in (*CAUSES, "none", " ".join(CAUSES)):
        w.configure(f"LockOn={words}")
        for cause, happen in CAUSES.items():
            again(w)
            happen(w)
            if cause in words.split():
                w.is_locked()
                w.opens()
            else:
                w.stays()
        equal(w.logind.held()[0], 1 if "sleep" in words.split() else 0, f"inhibitors with {words}")


@row("LS13", "LockOn= with a word that there is not", "read it anew", "refused, with file and line; as it was")
def ls13(w):
    text = refused("PolicyInvalid", w.configure, "LockOn=sleep screensaver").text
    holds("chatelained.conf:2: LockOn= is none, or of session-lock, sleep," in text, text)
    w.logind.signal("1", "Lock")
    w.is_locked()


@row("LS14", "logind", "it is started anew, and meanwhile the session was locked", "shut; the sleep is held up anew")
def ls14(w):
    for count, session, lock in (
        (1, ("1", w.user_id, {"LockedHint": True}), "session-lock"),
        (2, ("2", OTHER, {}), "session-end"),
    ):
        w.logind.close()
        w.await_log("no logind on the system's bus", count)
        w.start_logind(session)
        w.await_following()
        w.is_locked()
        equal(w.lines(lock), 1)
        w.logind.await_taken(1)
        w.opens()


@alone("LS15", "no passcode", "the session locks", "nothing: the keychain is always open")
def ls15():
    with Screens(passcode=False) as w:
        w.logind.signal("1", "Lock")
        w.logind.sleep(True)
        w.stays()
        same_secret(w.mail.read(FOREGROUND).secret, secret("f"))
        equal(w.log().count("locked by"), 0)
        w.logind.await_released()


@alone("LS16", "a broker that starts behind a locked screen", "the passcode comes", "it opens; the next lock shuts it")
def ls16():
    with Screens() as w:
        w.logind.change("1", {"LockedHint": True}, False)
        w.restart()
        equal(w.user.property("State"), "before-first-unlock")
        w.calendar.subscribe()
        w.opens()
        w.logind.signal("1", "Lock")
        w.is_locked()


@alone("LS17", "no system bus", "start; one comes; it goes and comes again", "served all along; then followed")
def ls17():
    with World() as w:
        w.await_log("no system bus can be reached", 1)
        w.mail.add(FOREGROUND, secret())
        w.calendar.subscribe()
        for count in (1, 2):
            with PrivateBus(w.folder, w.system_bus), contextlib.closing(FakeLogind(w.system_bus)) as logind:
                logind.own()
                w.await_log(FOLLOWS, count)
                # The session that it knew has ended where nobody told of it.
                if count == 2:
                    locks_and_opens(w)
                logind.session("1", os.geteuid())
                logind.signal("1", "Lock")
                locks_and_opens(w)
        same_secret(w.mail.read(FOREGROUND).secret, secret())


def locks_and_opens(w):
    equal(w.calendar.next_signal().arguments[1:], ("locked", False))
    w.unlock()
    equal(w.calendar.next_signal().arguments[1:], ("unlocked", True))


@alone("LS20", "a user's own bus in the broker's environment, with a logind", "start; it locks", "it is neither asked nor heard")
def ls20():
    with Screens() as w:
        address = f"unix:path={w.folder}/forged-bus"
        with PrivateBus(w.folder, address), contextlib.closing(FakeLogind(address)) as forger:
            forger.session("9", w.user_id)
            forger.own()
            w.stop()
            w.process = w.launch(DBUS_SYSTEM_BUS_ADDRESS=address)
            w.await_owner(True)
            w.await_following()
            w.calendar.subscribe()
            w.opens()
            forger.lock_hint("9", True)
            forger.signal("9", "Lock")
            w.stays()
            equal(forger.held(), [0, 0], "the inhibitors that it was asked for")
        w.logind.signal("1", "Lock")
        w.is_locked()


@alone("LS18", "LockOn= with a mistake, or in the user's own file", "start", "78, with file and line")
def ls18():
    with World(passcode=False) as w:
        w.stop()
        os.makedirs(os.path.join(w.folder, "config/chatelaine"))
        own = os.path.join(w.folder, "config/chatelaine/chatelained.conf")
        named = os.path.join(w.folder, "chatelained.conf")
        for file, line, text in (
            (named, "LockOn=suspend", "LockOn= is none, or of"),
            (own, "LockOn=none", "LockOn= is the administrator's to say"),
        ):
            with open(file, "w") as opened:
                opened.write(f"[Broker]\n# a line\n{line}\n")
            equal(w.launch().wait(30), 78, "the exit status")
            holds(f"{file}:3: {text}" in w.log_tail(1), w.log_tail(1))
            os.unlink(file)
            if file == named:
                open(file, "w").close()
        w.start()


def run(report):
    for one in TABLE.rows:
        report.play(one, lambda one=one: play(one))
    for one in ALONE.rows:
        report.play(one, one.play)


def play(one):
    with Screens() as w:
        one.play(w)
