"""One world for many rows."""

from connection import BrokerError
from expect import ANY
from harness import SetUpFailed, World
from puppets import PuppetLost


class Stage:
    """Emptied before each row, made anew where a row has left it unusable."""

    def __init__(self, **options):
        self.options = options
        self.world = World(**options).__enter__()

    def emptied(self):
        try:
            self.world.revive()
            empty(self.world)
        except (BrokerError, PuppetLost, SetUpFailed, OSError):
            self.world.close()
            self.world = World(**self.options).__enter__()
        return self.world

    def close(self):
        self.world.close()


def empty(world):
    """Unlocks, ends subscriptions and deletes every item that the world's programs can reach."""
    if not world.passcode:
        world.set_passcode()
    world.unlock()
    for puppet in (world.mail, world.calendar, world.helper, world.stranger):
        puppet.unsubscribe()
        puppet.pending_signals()
    for puppet in (world.mail, world.stranger):
        for item_class in ("generic-password", "internet-password"):
            try:
                puppet.delete({"Class": item_class, "Synchronizable": ANY})
            except BrokerError as error:
                if error.name != "ItemNotFound":
                    raise
