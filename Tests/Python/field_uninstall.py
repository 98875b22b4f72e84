"""A program is uninstalled, and somebody installs it again: what is left is said, can be told, and can be taken away."""

import os

from expect import Table, equal, generic, refused, same_secret, secret
from harness import World
from policy import ONE, TWO
from puppets import copy_interpreter

TABLE = Table()
row = TABLE.row


class Installed:
    """The program `mail` as it comes and goes on this machine; its user, and so its keychain, stays."""

    def __init__(self, world):
        self.world, self.path = world, world.executable("mail")
        self.puppet = None

    def __enter__(self):
        self.puppet = self.world.puppet("mail")
        return self

    def __exit__(self, *_):
        self.puppet.close()

    def again(self):
        """Uninstalled, then installed by somebody else."""
        self.puppet.close()
        os.unlink(self.path)
        copy_interpreter(self.path)
        self.puppet = self.world.puppet("mail")


@row("B184", "a program's items", "uninstall it; install it again, without and with a logout between", "they are there; gone")
def b184():
    with World() as world, Installed(world) as mail:
        for group in (ONE, TWO):
            mail.puppet.add(generic(AccessGroup=group), secret(group))
        world.calendar.add(generic(Account="calendar's", Service="calendar"), secret("calendar"))
        mail.again()
        # The default, as the manual says: the path is the program's name in the policy, and it has come back.
        for group in (ONE, TWO):
            same_secret(mail.puppet.read(generic(AccessGroup=group)).secret, secret(group))
        # What a package's hook calls, for the group that is the program's alone.
        deleted, _, epoch = world.admin.force_logout(TWO, "", "uninstalled")
        equal(deleted, 1)
        mail.again()
        refused("ItemNotFound", mail.puppet.read, generic(AccessGroup=TWO))
        _, epochs, _ = mail.puppet.subscribe(TWO)
        equal(epochs[TWO], epoch, "the logout that the new one can tell by")
        same_secret(world.calendar.read(generic(Account="calendar's", Service="calendar")).secret, secret("calendar"))


@row("B184-install", "items that carry the id of the install that stored them", "install anew", "the new one tells them apart")
def b184_install():
    with World() as world, Installed(world) as mail:
        mail.puppet.add(generic(Generic=b"install 1"), secret("former"))
        mail.again()
        refused("ItemNotFound", mail.puppet.read, {"Class": "generic-password", "Generic": b"install 2"})
        (found,) = mail.puppet.search({"Class": "generic-password"})
        equal(bytes(found["Generic"]), b"install 1", "whose it says it is")
        deleted, _ = mail.puppet.logout(ONE, "", "another install")
        equal(deleted, 1)
        mail.puppet.add(generic(Generic=b"install 2"), secret("new"))
        same_secret(mail.puppet.read({"Class": "generic-password", "Generic": b"install 2"}).secret, secret("new"))
