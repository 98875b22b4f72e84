"""Durability: acknowledged is durable, damage stays where it is, and no trouble makes a store look empty."""

import os
import select
import shutil
import stat
import threading

import faults
from connection import BrokerError
from expect import Table, by_reference, equal, generic, holds, refused, same_secret, secret
from harness import World
from storage_faults import KillStorm
from store_file import StoreFile
from traces import files

TABLE = Table()
row = TABLE.row
TROUBLE = ("NotAvailable", "IO")


@row("B087", "a full disk", "Store, lock, stop; make room; start", "IO; the old content is complete")
def b087():
    with faults.small_disk() as disk, World(state=disk.state) as world:
        for number in range(20):
            world.mail.add(generic(Account=str(number)), secret(str(number)))
        disk.fill()
        refused("IO", world.mail.store, generic(Account="0"), bytes(1 << 20))
        world.lock()
        world.stop()
        disk.free()
        world.start()
        world.unlock()
        for number in range(20):
            same_secret(world.mail.read(generic(Account=str(number))).secret, secret(str(number)))
        equal(world.damaged_rows(), 0, "the number of damaged rows")


@row(
    "B089", "a disk whose power is cut", "as each write is acknowledged", "it is there when the power is back"
)
def b089():
    with faults.block_disk() as disk, World(passcode=False, state=disk.state) as world:
        images = []
        for number in range(5):
            world.mail.store(generic(Account=str(number)), secret(str(number)) * (1 + 500 * number))
            images.append(disk.copy())
        world.mail.delete(generic(Account="0"))
        images.append(disk.copy())
        for count, image in enumerate(images):
            world.stop()
            disk.become(image)
            world.start()
            for number in range(min(count + 1, 5)):
                if count == 5 and number == 0:
                    refused("ItemNotFound", world.mail.read, generic(Account="0"))
                    continue
                found = world.mail.read(generic(Account=str(number)))
                same_secret(found.secret, secret(str(number)) * (1 + 500 * number), f"write {number}")
        world.stop()


@row(
    "B089-sync",
    "a disk that fails as it is asked to flush",
    "Store; then it is well again",
    "IO; then stored",
)
def b089_sync():
    with faults.faulty_library() as library, World(passcode=False, preload=library) as world:
        world.mail.store(generic(), secret("old"))
        for fault in ("sync", "write"):
            with faults.fault(world, fault):
                refused("IO", world.mail.store, generic(), secret("new"))
                refused("IO", world.mail.delete, generic())
                same_secret(world.mail.read(generic()).secret, secret("old"), f"the secret ({fault})")
            world.mail.store(generic(), secret("old"))
        world.kill()
        world.start()
        same_secret(world.mail.read(generic()).secret, secret("old"))


@row("B090", "writers", "kill -9 at a moment of chance, five times", "every acknowledged write, whole")
def b090():
    with World(passcode=False) as world:
        storm = KillStorm(world, seed=90)
        try:
            for number in range(1, 6):
                storm.round(number)
        finally:
            storm.close()


@row("B092", "items, and a disk that is busy", "20 restarts", "the same values each time; never a blank one")
def b092():
    lengths = (0, 1, 63, 4096, 65_537)
    values = {str(length): os.urandom(length) for length in lengths}
    with World(passcode=False) as world, busy_disk(world.folder):
        for name, value in values.items():
            world.mail.add(generic(Account=name, Label=name), value)
        for number in range(20):
            (world.kill if number % 2 else world.stop)()
            world.start()
            for name, value in values.items():
                found = world.mail.read(generic(Account=name))
                same_secret(found.secret, value, f"{name} bytes")
                equal(found.attributes["Label"], name)


class busy_disk:
    """Writes and syncs files in the folder without a pause."""

    def __init__(self, folder):
        self.path, self.ended = os.path.join(folder, "load"), threading.Event()
        self.thread = threading.Thread(target=self._write)

    def _write(self):
        while not self.ended.is_set():
            with open(self.path, "wb") as file:
                file.write(bytes(4 << 20))
                os.fsync(file.fileno())

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


@row(
    "B093",
    "ten items",
    "flip a bit of one; read, write, restart",
    "nine and the new one; one is Decode, kept",
)
def b093():
    for column in ("attributes", "secret"):
        with World(passcode=False) as world:
            for number in range(10):
                world.mail.add(generic(Account=str(number)), secret(str(number)))
            (found,) = world.mail.search(generic(Account="4"))
            with StoreFile.of(world) as store:
                store.flip(found["Reference"], column)
            for _ in range(2):
                refused("Decode", world.mail.read, by_reference(found["Reference"]))
                items = world.mail.read_all({"Class": "generic-password"})
                equal(
                    {item.attributes["Account"] for item in items} >= set("012356789"),
                    True,
                    "that all others",
                )
                equal("4" in {item.attributes["Account"] for item in items}, False, "that the damaged one")
                equal(world.damaged_rows(), 1, "the number of damaged rows")
                world.mail.store(generic(Account="new"), secret("new"))
                world.restart()
            with StoreFile.of(world) as store:
                holds(store.has(found["Reference"]), "the damaged row is kept")


@row("B095", "a state folder behind a link", "Store, restart", "the link is kept, its target has the items")
def b095():
    with World(passcode=False) as world:
        world.stop()
        target = os.path.join(world.folder, "elsewhere")
        os.rename(world.state, target)
        os.symlink(target, world.state)
        world.start()
        world.mail.store(generic(), secret())
        world.restart()
        same_secret(world.mail.read(generic()).secret, secret())
        equal(os.readlink(world.state), target)
        StoreFile.path(target)
        # A file of the store that is a link could lead a writer anywhere: that is refused, and not followed.
        world.stop()
        path = StoreFile.path(target)
        os.rename(path, path + ".real")
        os.symlink(path + ".real", path)
        before = faults.content(path + ".real")
        world.start()
        refused(TROUBLE, world.mail.read, generic())
        refused(TROUBLE, world.mail.store, generic(), secret("new"))
        holds(
            os.path.islink(path) and faults.content(path + ".real") == before,
            "link and file are as they were",
        )
        world.stop()
        os.rename(path + ".real", path)
        world.start()
        same_secret(world.mail.read(generic()).secret, secret())


@row(
    "B096",
    "a umask of 022 or 0",
    "look at every file during a storm of writes",
    "0600 and 0700 at every moment",
)
def b096():
    for mask in (0o022, 0):
        with World(passcode=False) as world:
            world.stop()
            shutil.rmtree(world.state)
            os.unlink(os.path.join(world.folder, "device.key"))
            start_with(world, mask)
            world.mail.start("flip", generic(), [b"a" * 40_000, b"b"], 400, "store")
            watched = 0
            while not select.select([world.mail.process.stdout], [], [], 0)[0]:
                watched += 1
                check_modes(world)
            world.mail.finish()
            world.mail.delete(generic())
            holds(watched > 10, "the files were looked at meanwhile")
            world.stop()
            start_with(world, mask)
            check_modes(world)


def start_with(world, mask):
    before = os.umask(mask)
    try:
        world.start()
    finally:
        os.umask(before)


def check_modes(world):
    paths = [world.state, os.path.join(world.folder, "device.key")]
    for base, folders, names in os.walk(world.state):
        paths += [os.path.join(base, name) for name in folders + names]
    for path in paths:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
        equal(oct(stat.S_IMODE(status.st_mode)), oct(wanted), f"the mode of {os.path.basename(path)}")
        equal(status.st_uid, os.geteuid(), f"the owner of {os.path.basename(path)}")


@row(
    "B097",
    "a file system that cannot lock",
    "start",
    "it ends at once with the reason; the store is untouched",
)
def b097():
    with faults.faulty_library() as library, World(passcode=False, preload=library) as world:
        world.mail.add(generic(), secret())
        world.stop()
        before = files(world.state)
        with faults.fault(world, "lock"):
            process = world.launch()
            equal(process.wait(20), 75, "the exit status")
            holds("locked" in world.log_tail(1), f"the reason is named ({world.log_tail(1)})")
        equal(files(world.state) == before, True, "that the files are as they were")
        world.start()
        same_secret(world.mail.read(generic()).secret, secret())


@row("B099", "a store that becomes unreadable", "Read, Store; then readable again", "trouble, then as before")
def b099():
    with faults.faulty_library() as library, World(passcode=False, preload=library) as world:
        # More than the pages that the broker may keep, so that a read has to go to the disk.
        world.mail.add_many(
            [generic(Account=str(number), Comment="c" * 4000) for number in range(1500)], secret()
        )
        with faults.fault(world, "read"):
            names = set()
            for number in range(0, 1500, 50):
                try:
                    same_secret(world.mail.read(generic(Account=str(number))).secret, secret())
                except BrokerError as error:
                    names.add(error.name)
            holds(names and names <= set(TROUBLE), f"reads are refused with {' or '.join(TROUBLE)} ({names})")
            refused(TROUBLE, world.mail.search, {"Class": "generic-password"})
        for number in range(0, 1500, 50):
            same_secret(world.mail.read(generic(Account=str(number))).secret, secret())
        equal(len(world.mail.search({"Class": "generic-password"})), 1500)
        equal(world.damaged_rows(), 0, "the number of damaged rows")


@row(
    "B099-moved",
    "a store whose files are taken away",
    "start, read, write; put them back",
    "never taken for new",
)
def b099_moved():
    with World(passcode=False) as world:
        world.mail.add(generic(), secret())
        with StoreFile.stopped(world) as path:
            shutil.move(path, path + ".away")
            os.mkdir(path)
        refused(TROUBLE, world.mail.read, generic())
        refused(TROUBLE, world.mail.add, generic(), secret("new"))
        os.rmdir(path)
        shutil.move(path + ".away", path)
        same_secret(world.mail.read(generic()).secret, secret())
