"""Logging in, by the helper that PAM starts: the passcode comes with the password, and nothing else happens."""

import contextlib
import os
import random
import select
import time

from chatelaine_client import MANAGER, OBJECT
from connection import BrokerError
from expect import Table, equal, generic, holds, refused, same_secret, secret
from harness import PASSCODE
from pam_stage import BACKGROUND, FOREGROUND, NOT_FOR_US, OUT_OF_STEP, REFUSED, Logins
from secret_words import COLLECTION, LOGIN, PROPERTIES
from traces import files

TABLE = Table()
row = TABLE.row


def is_locked(client):
    """What a client that is polite reads first."""
    return client.secret_service(LOGIN, PROPERTIES, "Get", "ss", (COLLECTION, "Locked"))[0][1]


def main_files(folder):
    return {name for name in files(folder) if not name.endswith(("-wal", "-shm"))}


@row("B062", "a log-in by password, and nobody calls Unlock", "read Locked, a signal, an item", "unlocked, told, read")
def b062():
    with Logins() as w:
        w.fill()
        w.restart()
        equal(is_locked(w.mail), True)
        w.log_in(PASSCODE)
        equal(is_locked(w.mail), False)
        equal([name for _, name, _ in w.mail.signals_until("PropertiesChanged")][-1], "PropertiesChanged")
        same_secret(w.mail.read(FOREGROUND).secret, secret("f"))


@row("B069-login", "a log-in without a password: a finger, nobody", "PAM starts the helper", "as before; nothing is made")
def b069_login():
    with Logins() as w:
        w.fill()
        w.restart()
        before = main_files(w.state)
        w.log_in(b"", NOT_FOR_US)
        equal((w.state_word, is_locked(w.mail), w.conditions), ("before-first-unlock", True, set()))
        refused("InteractionNotAllowed", w.mail.read, BACKGROUND)
        equal(main_files(w.state), before, "the files of the store")


@row("B161-login", "PAM and the user's manager, 5 ms apart", "either first", "open; one broker, one store")
def b161_login():
    with Logins() as w:
        w.fill()
        before = main_files(w.state)
        for number in range(4):
            w.stop()
            if number % 2:
                w.process = w.launch()
                select.select([], [], [], 0.005)
            helper = w.start_helper()
            helper.stdin.write(PASSCODE)
            helper.stdin.close()
            if not number % 2:
                select.select([], [], [], 0.005)
                w.process = w.launch()
            equal(helper.wait(30), 0, "how the hand-over ended")
            w.await_owner(True)
            equal(w.state_word, "unlocked")
            same_secret(w.mail.read(FOREGROUND).secret, secret("f"))
            equal(main_files(w.state), before, "the files of the store")


@row("B176-login", "a change of the login's password", "kill -9 in the middle of it", "the old or the new one works; all items")
def b176_login():
    chance = random.Random(1762)
    with Logins() as w:
        w.fill()
        for number in range(5):
            old, new = w.passcode, f"login {number}".encode()
            with w.root() as root, contextlib.suppress(BrokerError, OSError):
                connection = root.connection
                serial = connection.send(
                    OBJECT, MANAGER, "FollowPasscode", "(oayay)", (root.session.seal(new),)
                )
                select.select([connection.socket], [], [], chance.uniform(0, 0.3))
                w.kill()
                connection.reply(serial)
            w.start()
            for w.passcode in (new, old):
                with contextlib.suppress(BrokerError):
                    w.unlock()
                    break
            equal(w.state_word, "unlocked", "one of the two")
            same_secret(w.mail.read(FOREGROUND).secret, secret("f"))
            same_secret(w.mail.read(BACKGROUND).secret, secret("b"))


@row("B178-login", "PAM brings the mistyped password, then the right one", "log in", "said, and nothing on the disk changes")
def b178_login():
    with Logins() as w:
        w.fill()
        w.restart()
        before = files(w.state)
        begun = time.monotonic()
        w.log_in(b"hunter1", REFUSED)
        equal(w.conditions, {OUT_OF_STEP})
        w.log_in(PASSCODE)
        holds(time.monotonic() - begun < 10, "no delay that lasts")
        equal((w.state_word, w.conditions), ("unlocked", set()))
        equal(keybag(before), keybag(files(w.state)), "the keybag")
        w.await_log("the login's password is not the passcode", 1)


def keybag(found):
    """The store itself, which the log of the first unlock has not come to."""
    return {os.path.basename(path): data for path, data in found.items() if path.endswith("keychain.db")}
