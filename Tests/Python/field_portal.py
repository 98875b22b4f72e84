"""The field's failures of the Secret portal: an application whose key is another one has lost all that it kept."""

import contextlib
import os
import shutil
import tempfile

from expect import Table, equal, refused, same_secret
from harness import World
from secret_portal import APP, FAILED, LOCKED, Stage, policy
from store_file import StoreFile

TABLE = Table()
row = TABLE.row
ANOTHER = b"another-passcode"


@contextlib.contextmanager
def portal(world):
    """The desktop's portal, as a client that asks for one application's secret."""
    stage = Stage(world)
    stage.put(policy())
    try:
        yield stage
    finally:
        stage.portal.close()


def elsewhere(world, folder):
    """Another machine, to which the files of this one's broker were brought."""
    shutil.copytree(world.state, folder)
    other = World(passcode=False, state=folder)
    shutil.copy(os.path.join(world.folder, "device.key"), other.folder)
    return other


@row(
    "B173",
    "an application's own secret",
    "a restart, a lock, another passcode, another machine; without its key, damaged",
    "the same bytes; an error, never another secret",
)
def b173():
    with World() as world, portal(world) as stage, tempfile.TemporaryDirectory() as folder:
        _, first = stage.portal.retrieve(APP)
        world.restart()
        world.unlock()
        stage.refresh()
        same_secret(stage.portal.retrieve(APP)[1], first, "the secret after a restart")
        world.lock()
        world.unlock()
        world.set_passcode(ANOTHER)
        same_secret(stage.portal.retrieve(APP)[1], first, "the secret under another passcode")
        (path,) = stage.portal.search({"app_id": APP})
        with StoreFile.stopped(world):
            other = elsewhere(world, folder + "/state")
            os.rename(world.folder + "/device.key", world.folder + "/kept.key")
        stage.refresh()
        no_other_secret(stage, LOCKED)
        with StoreFile.stopped(world):
            os.rename(world.folder + "/kept.key", world.folder + "/device.key")
        with StoreFile.of(world) as store:
            store.flip(path.rsplit("/", 1)[1], "secret")
        stage.refresh()
        no_other_secret(stage, FAILED)
        with StoreFile.of(world) as store:
            store.flip(path.rsplit("/", 1)[1], "secret")
        stage.refresh()
        same_secret(stage.portal.retrieve(APP)[1], first, "the secret that was mended")
        with other:
            other.passcode = ANOTHER
            other.unlock()
            with portal(other) as there:
                same_secret(there.portal.retrieve(APP)[1], first, "the secret on another machine")
                equal(len(there.portal.search({"app_id": APP})), 1, "the number of items there")


def no_other_secret(stage, error):
    """Refused twice, since the first time could have made another one."""
    for _ in range(2):
        refused(error, stage.portal.retrieve, APP)
