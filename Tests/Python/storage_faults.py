"""Kills, full and read-only disks, damaged files: what was acknowledged is there, nothing is made up."""

import os
import random
import sqlite3

import faults
from chatelaine_client import Client
from connection import BrokerError
from expect import Row, Table, equal, generic, holds, refused, same_secret, secret
from harness import World
from store_file import TABLES, StoreFile
from storm import content, query

TABLE = Table()
row = TABLE.row
WRITERS = ("mail", "calendar", "mail")
UNREADABLE = ("NotAvailable", "IO", "Decode")
AFTER = "after-first-unlock"


# Kills in the middle of writes


class KillStorm:
    """Rounds: writers write, the broker is killed at a moment of chance, every promise is looked at."""

    def __init__(self, world, seed):
        self.world, self.random = world, random.Random(seed)
        self.writers = [world.puppet(identity) for identity in WRITERS]
        self.watcher = world.puppet("mail")
        self.promised = {}
        self.acknowledged = 0

    def round(self, number):
        self.watcher.subscribe()
        outcomes = self._write_until_killed(number)
        self.world.start()
        for client in (*self.writers, self.watcher):
            client.forget_session()
        pending = {}
        for outcome in outcomes:
            self.promised.update(outcome["acknowledged"])
            self.acknowledged += len(outcome["acknowledged"])
            pending.update(outcome["pending"])
        for account in sorted({*self.promised, *pending}):
            self.promised[account] = self._look(account, self.promised.get(account), pending.get(account))
        equal(self.world.damaged_rows(), 0, "the number of damaged rows")

    def _write_until_killed(self, number):
        for index, writer in enumerate(self.writers):
            writer.start("storm", f"writer{index}", number)
        for _ in range(self.random.randint(1, 150)):
            self.watcher.next_signal()
        self.world.kill()
        return [writer.finish() for writer in self.writers]

    def _look(self, account, promised, pending):
        """The write that is there now: the promised one, or the one that was under way, whole."""
        found = self.watcher.find(query(account))
        old = promised[0] if promised and promised[1] is not None else None
        allowed = {old} | ({pending[0] if pending[1] == "store" else None} if pending else set())
        if found is None:
            holds(None in allowed, f"{account}: an acknowledged write is there")
            return [0, None]
        number = int(found.attributes["Comment"])
        holds(number in allowed, f"{account}: write {number} is the acknowledged or the pending one")
        same_secret(found.secret, content(account, number), f"{account}: the secret of write {number}")
        if promised and number == promised[0]:
            equal(found.attributes["Revision"], promised[1], f"{account}: the revision of write {number}")
        return [number, found.attributes["Revision"]]

    def was_a_storm(self, rounds):
        """A kill right after the first commit may come before any reply; kills in general must not."""
        holds(self.acknowledged > rounds, f"{self.acknowledged} writes were acknowledged in {rounds} rounds")

    def close(self):
        for puppet in (*self.writers, self.watcher):
            puppet.close()


def kill_storm(report, rounds):
    with World(passcode=False) as world:
        storm = KillStorm(world, seed=rounds)
        try:
            for number in range(1, rounds + 1):
                report.play(
                    Row(
                        f"F-kill-{number}",
                        "three writers",
                        "kill -9 amid their writes, start anew",
                        "every acknowledged write whole, each other one old or new",
                        None,
                    ),
                    lambda: storm.round(number),
                )
            report.play(
                Row("F-kill", "all rounds", "count the acknowledged writes", "more than one a round", None),
                lambda: storm.was_a_storm(rounds),
            )
        finally:
            storm.close()


# Disks


@row("F-full", "a disk without room", "Store, then make room", "IO, nothing changed; then stored")
def full():
    with faults.small_disk() as disk, World(passcode=False, state=disk.state) as world:
        world.mail.add(generic(), secret("old"))
        disk.fill()
        failed = 0
        for number in range(40):
            # What fits into the store's own free pages may still succeed; a megabyte does not.
            error = refused("IO", world.mail.store, generic(Account="large"), bytes([number]) * (1 << 20))
            failed += error.code == -36
        equal(failed, 40, "the number of IO errors")
        equal(world.mail.search(generic(Account="large")), [])
        same_secret(world.mail.read(generic()).secret, secret("old"))
        disk.free()
        world.mail.store(generic(), secret("new"))
        world.restart()
        same_secret(world.mail.read(generic()).secret, secret("new"))


@row("F-full-start", "a disk without room", "start the broker; make room", "never absent; then stored")
def full_start():
    with faults.small_disk() as disk, World(passcode=False, state=disk.state) as world:
        world.mail.add(generic(), secret("old"))
        world.stop()
        disk.fill()
        world.start()
        try:
            readable_or_refused(world, secret("old"), ("NotAvailable", "IO"))
        finally:
            disk.free()
        world.mail.store(generic(), secret("new"))
        same_secret(world.mail.read(generic()).secret, secret("new"))


@row(
    "F-read-only",
    "a read-only disk",
    "each write; Read; writable again",
    "ReadOnly; never absent; then stored",
)
def read_only():
    with faults.small_disk() as disk, World(passcode=False, state=disk.state) as world:
        world.mail.add(generic(), secret("old"))
        world.stop()
        disk.remount("ro")
        world.start()
        refused("ReadOnly", world.mail.add, generic(Account="b"), secret())
        refused("ReadOnly", world.mail.store, generic(), secret("new"))
        refused("ReadOnly", world.mail.update, generic(), {"Comment": "c"})
        refused("ReadOnly", world.mail.delete, generic())
        readable_or_refused(world, secret("old"), ("NotAvailable", "ReadOnly"))
        world.stop()
        disk.remount("rw")
        world.start()
        world.mail.store(generic(), secret("new"))
        same_secret(world.mail.read(generic()).secret, secret("new"))


def readable_or_refused(world, wanted, names):
    """What is stored is read whole, or the trouble is named; it never looks absent."""
    try:
        same_secret(world.mail.read(generic()).secret, wanted)
    except BrokerError as error:
        holds(error.name in names, f"Read is refused with {' or '.join(names)} (it was {error.name})")


# Files


def with_damaged_file(damage, *, unchanged=True):
    """Damages the stopped store, looks at the answers, puts the good file back and looks again."""
    with World(passcode=False) as world:
        for number in range(60):
            world.mail.add(
                generic(Account=str(number), Accessible=AFTER, Comment="c" * 500), secret(str(number))
            )
        with StoreFile.stopped(world) as path:
            good = faults.content(path)
            damage(path)
            damaged = faults.content(path)
        client = Client(world.address)
        refused(UNREADABLE, world.mail.read, generic(Account="59"))
        refused(UNREADABLE, world.mail.add, generic(Account="new"), secret())
        equal(client.property("State") != "", True, "that the broker still tells its state, and that")
        client.close()
        world.stop()
        if unchanged:
            holds(faults.content(path) == damaged, "the damaged file's bytes are as they were")
        restore(path, good)
        world.start()
        for number in range(60):
            same_secret(world.mail.read(generic(Account=str(number))).secret, secret(str(number)))
        world.mail.add(generic(Account="new"), secret())


def restore(path, data):
    with open(path, "r+b") as file:
        file.truncate(0)
        file.write(data)
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)


@row("F-page", "a damaged page of the store", "Read, Add; the good file again", "refused; as before")
def damaged_page():
    with_damaged_file(scribble_tables, unchanged=False)


def scribble_tables(path):
    """Overwrites the root page of each item table."""
    database = sqlite3.connect(path)
    (size,) = database.execute("PRAGMA page_size").fetchone()
    marks = ", ".join("?" for _ in TABLES)
    pages = database.execute(
        f"SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name IN ({marks})", tuple(TABLES)
    ).fetchall()
    database.close()
    equal(len(pages), len(TABLES), "the number of item tables")
    for (page,) in pages:
        faults.overwrite(path, os.urandom(size), (page - 1) * size)


@row("F-truncated", "a store cut in half", "Read, Add; the good file again", "refused, left alone; as before")
def truncated():
    with_damaged_file(lambda path: os.truncate(path, os.path.getsize(path) // 2))


@row(
    "F-header",
    "a store with a damaged header",
    "Read, Add; the good file again",
    "refused, left alone; as before",
)
def header():
    with_damaged_file(lambda path: faults.overwrite(path, bytes(100)))


@row(
    "F-newer", "a store of a newer schema", "Read, Add; the good file again", "refused, left alone; as before"
)
def newer_schema():
    def raise_version(path):
        database = sqlite3.connect(path)
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA user_version = 9999")
        database.execute("PRAGMA journal_mode = WAL")
        database.close()

    with_damaged_file(raise_version)


def run(report, rounds=20):
    kill_storm(report, rounds)
    for row in TABLE.rows:
        report.play(row, row.play)
