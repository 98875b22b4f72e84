"""Passcodes and keys: no attempt that fails changes anything."""

import os
import random
import select
import shutil

import faults
from chatelaine_client import MANAGER, OBJECT
from connection import BrokerError
from expect import Table, equal, generic, holds, refused, same_secret, secret
from harness import PASSCODE, World
from store_file import StoreFile
from traces import files

TABLE = Table()
row = TABLE.row


@row(
    "B176",
    "a passcode change",
    "kill -9 in the middle of it",
    "the old one or the new one works, and all items",
)
def b176():
    chance = random.Random(176)
    with World() as world:
        world.mail.add(generic(), secret("foreground"))
        world.mail.add(generic(Account="b", Accessible="after-first-unlock"), secret("background"))
        for number in range(6):
            old, new = world.passcode, f"passcode {number}".encode()
            client, connection = world.user, world.user.connection
            body = (client.session.seal(old), client.session.seal(new))
            serial = connection.send(OBJECT, MANAGER, "SetPasscode", "(oayay)(oayay)", body)
            select.select([connection.socket], [], [], chance.uniform(0, 0.4))
            world.kill()
            try:
                connection.reply(serial)
                is_acknowledged = True
            except BrokerError:
                is_acknowledged = False
            world.start()
            world.passcode = one_that_works(world, (new, old))
            holds(world.passcode == new or not is_acknowledged, "an acknowledged change holds")
            same_secret(world.mail.read(generic()).secret, secret("foreground"))
            same_secret(world.mail.read(generic(Account="b")).secret, secret("background"))


def one_that_works(world, passcodes):
    for passcode in passcodes:
        try:
            world.user.unlock(passcode)
            return passcode
        except BrokerError as error:
            equal(error.name, "AuthFailed")
    raise AssertionError("neither the old nor the new passcode unlocks")


@row(
    "B178",
    "wrong passcodes",
    "Unlock, SetPasscode, RemovePasscode",
    "AuthFailed; nothing on the disk changes",
)
def b178():
    with World() as world:
        world.mail.add(generic(), secret())
        world.restart()
        before = files(world.state)
        refused("AuthFailed", world.user.unlock, b"hunter1")
        refused("AuthFailed", world.user.set_passcode, b"hunter1", b"hunter2")
        refused("AuthFailed", world.user.set_passcode, b"", b"hunter2")
        refused("AuthFailed", world.user.remove_passcode, b"hunter1")
        equal(changed(before, files(world.state)), [], "the files that changed")
        world.unlock()
        same_secret(world.mail.read(generic()).secret, secret())


def changed(before, after):
    """The files whose content differs; SQLite's shared memory is no content."""
    names = sorted(before.keys() | after.keys())
    return [
        os.path.basename(name)
        for name in names
        if not name.endswith("-shm") and before.get(name, b"") != after.get(name, b"")
    ]


@row(
    "B179",
    "a store without its device key",
    "start, read, list, store",
    "NotAvailable, a condition; nothing made",
)
def b179():
    with World() as world:
        world.mail.add(generic(), secret())
        with StoreFile.stopped(world) as path:
            key = os.path.join(world.folder, "device.key")
            shutil.move(key, key + ".away")
            before = faults.content(path)
        for call in (world.mail.read, world.mail.search, world.mail.delete):
            refused("NotAvailable", call, generic())
        refused("NotAvailable", world.mail.store, generic(), secret("new"))
        refused("NotAvailable", world.user.unlock, PASSCODE)
        holds(
            "device-key-missing" in world.user.property("Conditions"),
            "Conditions says that the key is missing",
        )
        equal(os.path.exists(key), False, "that there is a new key")
        equal(faults.content(path) == before, True, "that the store's bytes are as they were")
        world.stop()
        with open(key, "wb") as file:
            file.write(os.urandom(32))
        os.chmod(key, 0o600)
        world.start()
        refused("NotAvailable", world.mail.read, generic())
        equal(faults.content(path) == before, True, "that with another key the bytes are as they were")
        world.stop()
        shutil.move(key + ".away", key)
        world.start()
        world.unlock()
        same_secret(world.mail.read(generic()).secret, secret())
