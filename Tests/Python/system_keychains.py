"""What the suites of a broker with several users have in common: two users' items and passcodes."""

from chatelaine_client import MANAGER, OBJECT
from expect import generic, secret
from harness import PASSCODE
from policy import ONE, TWO

DENIED = "AccessDenied"
TOKEN = generic(Service="token", Accessible="after-first-unlock")
DRAFTS = generic(Service="drafts", Accessible="when-unlocked")
FIND = {key: TOKEN[key] for key in ("Class", "Service", "Account")}
FIND_DRAFTS = {key: DRAFTS[key] for key in FIND}
PLAIN_SECRET = ("/", b"", b"guess")
MANAGER_CALLS = {
    "Lock": (None, ()),
    "Unlock": ("(oayay)", (PLAIN_SECRET,)),
    "Confirm": ("t(oayay)", (1, PLAIN_SECRET)),
    "SetPasscode": ("(oayay)(oayay)", (PLAIN_SECRET, PLAIN_SECRET)),
    "FollowPasscode": ("(oayay)", (PLAIN_SECRET,)),
    "RemovePasscode": ("(oayay)", (PLAIN_SECRET,)),
    "ForceLogout": ("sss", (ONE, "", "")),
    "MoveItems": ("ss", (ONE, TWO)),
    "ReloadPolicy": (None, ()),
    "ListClients": (None, ()),
    "Explain": ("ss", ("pid:1", ONE)),
    "ListGroups": (None, ()),
    "Check": (None, ()),
}
ADMINISTRATORS = set(MANAGER_CALLS) - {"Lock", "Unlock", "Confirm", "SetPasscode", "RemovePasscode"}


def object_of(user_id):
    return f"{OBJECT}/user/{user_id}"


def manage(puppet, path, member):
    signature, body = MANAGER_CALLS[member]
    return puppet.raw_call(path, MANAGER, member, signature, body)


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
