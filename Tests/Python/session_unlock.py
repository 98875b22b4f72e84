"""UnlockWithSession=: what the session locked it opens again, and nothing that anything else has locked."""

import os

from connection import Connection
from expect import Table, equal, generic, holds, refused, same_secret, secret
from harness import PASSCODE
from logind_stage import FOREGROUND, Screens, brokers, forgeries, send
from secret_client import SecretClient
from secret_words import COLLECTION, LOGIN

TABLE = Table()
row = TABLE.row
YES = "[Broker]\nUnlockWithSession=yes\n"
OTHER = 65_533


def screens(configuration=YES):
    """The passcode has opened it since it is allowed."""
    return Screens(configuration=configuration)


def lock_session(w):
    w.logind.lock_hint("1", True)
    w.is_locked()


def follows(w):
    """The session's unlock opens it."""
    w.logind.lock_hint("1", False)
    w.is_told("unlocked")
    same_secret(w.mail.read(FOREGROUND).secret, secret("f"))


def needs_passcode(w):
    """It does not; the passcode does."""
    w.logind.signal("1", "Unlock")
    w.stays("locked")
    w.logind.lock_hint("1", True)
    w.logind.lock_hint("1", False)
    w.logind.signal("1", "Unlock")
    w.stays("locked")
    refused("InteractionNotAllowed", w.mail.read, FOREGROUND)
    w.opens()


@row("SU01", "allowed", "the session locks and unlocks, by signal and by hint", "shut, and open again, each time")
def su01():
    with screens() as w:
        for _ in range(3):
            w.logind.signal("1", "Lock")
            w.is_locked()
            w.logind.signal("1", "Unlock")
            w.is_told("unlocked")
            same_secret(w.mail.read(FOREGROUND).secret, secret("f"))
        for _ in range(3):
            lock_session(w)
            follows(w)


@row("SU12", "allowed, and a collection that a client has locked", "the session locks and unlocks", "it stays locked")
def su12():
    with screens() as w:
        client = SecretClient(w.address)
        equal(client.lock(LOGIN), ([LOGIN], "/"))
        lock_session(w)
        follows(w)
        equal(client.get(LOGIN, COLLECTION, "Locked"), True)
        w.logind.lock_hint("1", True)
        w.is_locked()
        w.opens()
        equal(client.get(LOGIN, COLLECTION, "Locked"), False)
        client.close()


@row("SU02", "not allowed, as by default", "a program of the user has logind say that it is unlocked", "nothing opens")
def su02():
    for configuration in ("", "[Broker]\nUnlockWithSession=no\n"):
        with screens(configuration) as w:
            lock_session(w)
            needs_passcode(w)


@row("SU03", "allowed", "somebody calls Lock, before or after the session's; it unlocks", "shut until the passcode")
def su03():
    with screens() as w:
        w.lock()
        w.is_locked()
        needs_passcode(w)
        lock_session(w)
        w.lock()
        needs_passcode(w)
        lock_session(w)
        follows(w)


@row("SU04", "allowed", "a sleep, the last session's end; then a session that unlocks", "shut until the passcode")
def su04():
    with screens() as w:
        lock_session(w)
        w.logind.sleep(True)
        w.logind.await_released()
        w.logind.sleep(False)
        needs_passcode(w)
        w.logind.remove("1")
        w.is_locked()
        w.logind.session("1", w.user_id, LockedHint=True)
        needs_passcode(w)


@row("SU05", "allowed", "a reload says no, and one says yes", "wiped; it counts from the next passcode on")
def su05():
    with screens() as w:
        lock_session(w)
        w.configure("UnlockWithSession=no")
        w.configure("UnlockWithSession=yes")
        needs_passcode(w)
        lock_session(w)
        follows(w)
        w.configure("UnlockWithSession=no")
        lock_session(w)
        needs_passcode(w)


@row("SU06", "allowed", "the broker is started anew; the session unlocks", "before the first unlock, and stays so")
def su06():
    with screens() as w:
        lock_session(w)
        w.restart()
        w.logind.signal("1", "Unlock")
        w.logind.lock_hint("1", False)
        w.stays("before-first-unlock")
        refused("InteractionNotAllowed", w.mail.read, FOREGROUND)


@row("SU07", "allowed", "another than logind says so; another user's session unlocks", "nothing opens")
def su07():
    with screens() as w:
        lock_session(w)
        forger = Connection(w.address)
        try:
            for destination in (None, *brokers(w)):
                for path, interface, member, signature, body in forgeries():
                    send(forger, path, interface, member, signature, body, destination)
            forger.ping()
        finally:
            forger.close()
        w.logind.session("2", OTHER, LockedHint=True)
        w.logind.session("3", w.user_id, Class="greeter")
        w.logind.signal("2", "Unlock")
        w.logind.lock_hint("2", False)
        w.logind.signal("3", "Unlock")
        w.stays("locked")
        follows(w)


@row("SU08", "allowed", "the user's own configuration says so", "refused: it is the administrator's to say")
def su08():
    with screens("") as w:
        folder = os.path.join(w.folder, "config", "chatelaine")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "chatelained.conf"), "w") as file:
            file.write(YES)
        text = refused("PolicyInvalid", w.admin.reload_policy).text
        holds("administrator" in text, text)
        lock_session(w)
        needs_passcode(w)


@row("SU09", "a lease of a foreground item", "the session locks, the holder completes, it unlocks", "the new token is there")
def su09():
    with screens() as w:
        revision = w.mail.store(FOREGROUND, secret("old"))[1]
        w.calendar.next_signal()
        _, fence, _ = w.mail.begin(FOREGROUND, revision, 0)
        lock_session(w)
        w.mail.complete(fence, {}, secret("new"))
        w.logind.lock_hint("1", False)
        while w.calendar.next_signal().arguments[1:] != ("unlocked", True):
            pass
        same_secret(w.mail.read(FOREGROUND).secret, secret("new"))


@row("SU10", "allowed", "unlock and lock in one breath, many times", "the lock wins")
def su10():
    with screens() as w:
        lock_session(w)
        for _ in range(20):
            w.logind.lock_hint("1", False)
            w.logind.lock_hint("1", True)
        w.logind.barrier()
        equal(w.user.property("State"), "locked")
        refused("InteractionNotAllowed", w.mail.read, FOREGROUND)


@row("SU11", "allowed, and the passcode changed, removed, set again", "the session locks and unlocks", "open each time")
def su11():
    with screens() as w:
        lock_session(w)
        w.user.set_passcode(PASSCODE, b"second")
        w.passcode = b"second"
        follows(w)
        w.remove_passcode()
        w.set_passcode(b"third")
        w.mail.store(generic(Account="later"), secret("later"))
        w.logind.lock_hint("1", True)
        w.stays("locked")
        w.logind.lock_hint("1", False)
        w.stays("unlocked")
        same_secret(w.mail.read(generic(Account="later")).secret, secret("later"))


def run(report):
    for entry in TABLE.rows:
        report.play(entry, entry.play)
