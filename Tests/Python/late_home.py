"""A home folder that is mounted after the broker has started."""

import contextlib
import fcntl
import os
import subprocess

from connection import BUS_NAME
from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from harness import World
from secret_client import SecretClient
from secret_words import NAME as SECRETS
from traces import files

TABLE = Table()
row = TABLE.row
WAITING, STATE = "waiting-for-store", ".local/state/chatelaine"


class LateHome(World):
    """A broker whose store, device key and configuration are where they are by themselves: in the home folder."""

    def __init__(self):
        super().__init__(passcode=False)
        self.home = self._inside("late")
        self.state = os.path.join(self.home, STATE)
        os.makedirs(self.state, 0o700)
        os.makedirs(os.path.join(self.home, ".config/chatelaine"))
        with open(os.path.join(self.home, ".config/chatelaine/chatelained.conf"), "w") as file:
            file.write("[Broker]\nSecretService=no\n")

    @property
    def _environment(self):
        inherited = super()._environment
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            del inherited[name]
        return inherited | {"HOME": self.home}

    @property
    def command(self):
        words = iter(super().command)
        # Without these two and their values.
        return [word for word in words if word not in ("--state", "--device-key") or not next(words)]

    def waits(self):
        """The broker has its name, and says that it waits; no store is made."""
        before = files(self.home)
        equal((self.user.property("State"), WAITING in self.conditions()), ("before-first-unlock", True))
        told = refused("NotAvailable", self.mail.add, generic(), secret())
        holds("home folder" in told.text, "the error says what it waits for")
        refused("NotAvailable", self.mail.read, generic())
        equal(files(self.home), before, "what is in the folder")

    def conditions(self):
        return self.user.property("Conditions")

    @contextlib.contextmanager
    def comes(self):
        """At the end of the block the broker has said of itself that it waits no more. Nobody calls it for an item."""
        rule = f"type='signal',sender='{BUS_NAME}',member='PropertiesChanged'"
        self.watch.bus_call("AddMatch", "s", (rule,))
        yield
        while WAITING in self.conditions():
            self.watch.next_signal()
        self.watch.bus_call("RemoveMatch", "s", (rule,))
        self.watch.signals.clear()


@contextlib.contextmanager
def late_home():
    """A world whose home folder, with a store and an item in it, is away, and the path where it is kept meanwhile."""
    with LateHome() as world:
        world.mail.add(generic(), secret())
        world.stop()
        kept = world.home + "-kept"
        os.rename(world.home, kept)
        yield world, kept


@contextlib.contextmanager
def mounted(kept, home):
    """The folder, mounted on the other as an encrypted home is."""
    if subprocess.run(["mount", "--bind", kept, home], capture_output=True).returncode != 0:
        raise NotHere("mounting needs root, and a machine that lets it")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", home], check=True)


@row("B166", "an empty mount point for a home", "start; mount the home", "it waits, makes no store, and has the real one")
def b166():
    with late_home() as (world, kept):
        os.mkdir(world.home)
        world.start()
        process = world.process.pid
        world.waits()
        client = SecretClient(world.address)
        refused("org.freedesktop.Secret.Error.IsLocked", client.search, {"no": "matter"})
        client.close()
        equal(os.listdir(world.home), [], "what is in the mount point")
        with contextlib.ExitStack() as stack:
            with world.comes():
                stack.enter_context(mounted(kept, world.home))
            same_secret(world.mail.read(generic()).secret, secret())
            equal(world.watch.bus_call("NameHasOwner", "s", (SECRETS,)), (False,), "as the home's configuration says")
            equal((world.process.pid, world.process.poll()), (process, None), "the broker")
            world.mail.add(generic(Account="later"), secret("later"))
            world.stop()
        equal(os.listdir(world.home), [], "what is in the mount point")


@row("B166-missing", "no home", "start; the home gets its name; call", "it waits, and has the real store; no home is made")
def b166_missing():
    with late_home() as (world, kept):
        world.start()
        world.waits()
        equal(os.path.exists(world.home), False, "whether a home was made")
        os.rename(kept, world.home)
        # Nothing was mounted: a call has it looked for.
        with world.comes():
            refused("NotAvailable", world.mail.read, generic())
        same_secret(world.mail.read(generic()).secret, secret())


@row("B166-new", "an empty home of a new account", "start; anything is put into it; call", "a store is made in it")
def b166_new():
    with late_home() as (world, _):
        os.mkdir(world.home)
        world.start()
        world.waits()
        with open(os.path.join(world.home, ".profile"), "w"):
            pass
        with world.comes():
            refused("NotAvailable", world.mail.read, generic())
        world.mail.add(generic(), secret("new"))
        world.restart()
        same_secret(world.mail.read(generic()).secret, secret("new"))


@row("B166-taken", "a home that comes with a locked store", "mount it; the lock goes", "it waits on and says why; the store")
def b166_taken():
    with late_home() as (world, kept), open(os.path.join(kept, STATE, "lock"), "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.mkdir(world.home)
        world.start()
        with mounted(kept, world.home):
            world.await_log("is locked by another broker", 1)
            world.waits()
            fcntl.flock(lock, fcntl.LOCK_UN)
            with world.comes():
                refused("NotAvailable", world.mail.read, generic())
            same_secret(world.mail.read(generic()).secret, secret())
            world.stop()
