"""What the suites of a broker with several users have in common: two users' items and passcodes."""

import os
from xml.etree import ElementTree

from attributes import encode
from chatelaine_client import MANAGER, OBJECT
from expect import generic, secret
from harness import PASSCODE, REPOSITORY
from policy import ONE, TWO

DENIED = "AccessDenied"
TOKEN = generic(Service="token", Accessible="after-first-unlock")
DRAFTS = generic(Service="drafts", Accessible="when-unlocked")
FIND = {key: TOKEN[key] for key in ("Class", "Service", "Account")}
FIND_DRAFTS = {key: DRAFTS[key] for key in FIND}
PLAIN_SECRET = ("/", b"", b"guess")
# What a call of each method has in it: one for each that the contract has, and no other (K08).
MANAGER_CALLS = {
    "Lock": (),
    "Unlock": (PLAIN_SECRET,),
    "Confirm": (1, PLAIN_SECRET),
    "SetPasscode": (PLAIN_SECRET, PLAIN_SECRET),
    "FollowPasscode": (PLAIN_SECRET,),
    "RemovePasscode": (PLAIN_SECRET,),
    "CreateRecoveryKey": (PLAIN_SECRET, "/"),
    "RemoveRecoveryKey": (PLAIN_SECRET,),
    "PreviewRecovery": (),
    "Recover": (PLAIN_SECRET, PLAIN_SECRET, 0),
    "ForceLogout": (ONE, "", ""),
    "MoveItems": (ONE, TWO),
    "ImportItem": (ONE, "add", encode(generic()), PLAIN_SECRET),
    "ImportSecret": (ONE, "add", "", "label", {"name": "value"}, "text/plain", PLAIN_SECRET),
    "ReloadPolicy": (),
    "ListClients": (),
    "Explain": ("pid:1", ONE),
    "ListGroups": (),
    "Check": (),
}
USERS_OWN = {"Lock", "Unlock", "Confirm", "SetPasscode", "RemovePasscode", "CreateRecoveryKey", "RemoveRecoveryKey"}
USERS_OWN |= {"PreviewRecovery", "Recover"}
ADMINISTRATORS = set(MANAGER_CALLS) - USERS_OWN


def manager_signatures():
    """What each method of the contract takes."""
    contract = ElementTree.parse(os.path.join(REPOSITORY, "dbus", "org.chatelaine.Broker1.xml"))
    methods = contract.iterfind(f"interface[@name='{MANAGER}']/method")
    taken = "arg[@direction='in']"
    return {one.get("name"): "".join(arg.get("type") for arg in one.iterfind(taken)) for one in methods}


def object_of(user_id):
    return f"{OBJECT}/user/{user_id}"


def manage(puppet, path, member):
    return puppet.raw_call(path, MANAGER, member, manager_signatures()[member] or None, MANAGER_CALLS[member])


def each(w):
    return (w.of(w.alice), "alice"), (w.of(w.bob), "bob")


def passcode(name):
    return PASSCODE + name.encode()


def unlock(puppet, name):
    if puppet.property("State") != "unlocked":
        puppet.unlock(passcode(name))


def fill(w):
    """The same two items for both users, unlocked; each one's references."""
    for puppet, name in each(w):
        unlock(puppet, name)
    return [
        [puppet.store(item, secret(f"{name} {item['Service']}"))[0] for item in (TOKEN, DRAFTS)]
        for puppet, name in each(w)
    ]


def with_passcodes(w):
    """Both users have items, a passcode of their own, and are unlocked."""
    references = fill(w)
    for puppet, name in each(w):
        if not puppet.property("PasscodeSet"):
            puppet.set_passcode(b"", passcode(name))
        unlock(puppet, name)
    return references


def ends_without(w, *users):
    for user_id in users:
        w.of(user_id).unsubscribe()
        w.of(user_id).pending_signals()
