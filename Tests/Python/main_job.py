"""The whole main job, by separate processes and through the documented encryption.

The steps build on each other: two programs share an OAuth token, a third does not see it, the locked device
still serves the helper, and a forced logout reaches everybody, even the program that was not running.
"""

from expect import SECRET_MARK, Table, equal, generic, holds, refused, same_secret, secret
from harness import PASSCODE, World
from policy import ONE

TABLE = Table()
row = TABLE.row
SERVICE = "https://mail.example"
TOKEN = generic(Service=SERVICE, Account="refresh-token", Accessible="after-first-unlock")
COOKIE = generic(Service=SERVICE, Account="session-cookie", Accessible="when-unlocked")
OTHER = generic(Service="https://other.example", Account="token", Accessible="after-first-unlock")
FOUND = ("Class", "Service", "Account")


def query(attributes, **more):
    return {key: attributes[key] for key in FOUND} | more


class Stage:
    """The world and what the steps hand on."""

    def __init__(self, world):
        self.world = world
        self.epochs = {}


@row(
    "J01",
    "a device with a passcode, unlocked",
    "mail stores a token",
    "calendar, of the same group, reads it",
)
def j01(stage):
    w = stage.world
    w.mail.store(TOKEN, secret("token"))
    w.mail.store(COOKIE, secret("cookie"))
    w.mail.store(OTHER, secret("other"))
    found = w.calendar.read(query(TOKEN))
    same_secret(found.secret, secret("token"))
    equal(found.attributes["AccessGroup"], ONE)


@row("J02", "the token", "calendar renews it", "mail reads the new one, with a higher revision")
def j02(stage):
    w = stage.world
    before = w.mail.read(query(TOKEN)).attributes["Revision"]
    w.calendar.update(query(TOKEN), {"IfRevision": before}, secret("renewed"))
    after = w.mail.read(query(TOKEN))
    same_secret(after.secret, secret("renewed"))
    holds(after.attributes["Revision"] > before, "the revision grew")
    error = refused("RevisionMismatch", w.mail.update, query(TOKEN), {"IfRevision": before}, secret("late"))
    equal(error.revision, after.attributes["Revision"], "the current revision that the error tells")


@row(
    "J03",
    "the token",
    "a program of another group asks",
    "ItemNotFound; MissingEntitlement when it names the group",
)
def j03(stage):
    w = stage.world
    equal(refused("ItemNotFound", w.stranger.read, query(TOKEN)).code, -25300)
    equal(w.stranger.search({"Class": "generic-password"}), [])
    equal(refused("MissingEntitlement", w.stranger.read, query(TOKEN, AccessGroup=ONE)).code, -34018)
    refused("MissingEntitlement", w.stranger.subscribe, ONE)


@row("J04", "a program that no policy names", "asks", "MissingEntitlement")
def j04(stage):
    refused("MissingEntitlement", stage.world.nobody.read, query(TOKEN))


@row(
    "J05", "three subscribers and one that leaves", "they subscribe", "all learn the state and the same epoch"
)
def j05(stage):
    w = stage.world
    late = w.puppet("calendar")
    subscribers = {"mail": w.mail, "calendar": w.calendar, "helper": w.helper, "late": late}
    for name, puppet in subscribers.items():
        state, epochs, _ = puppet.subscribe(ONE)
        equal((state, list(epochs)), ("unlocked", [ONE]))
        stage.epochs[name] = epochs[ONE]
    equal(len(set(stage.epochs.values())), 1, "the number of different epochs")
    late.close()


@row("J06", "the device", "is locked", "every subscriber hears it; protected data is not available")
def j06(stage):
    w = stage.world
    w.lock()
    for puppet in (w.mail, w.calendar, w.helper):
        signal = puppet.next_signal()
        equal((signal.name, signal.arguments[1:]), ("LockStateChanged", ("locked", False)))
    equal(w.user.property("State"), "locked")


@row("J07", "locked", "the helper and calendar read the token", "both read it: after-first-unlock")
def j07(stage):
    for puppet in (stage.world.helper, stage.world.calendar):
        same_secret(puppet.read(query(TOKEN)).secret, secret("renewed"))


@row("J08", "locked", "calendar reads the foreground item", "InteractionNotAllowed, -25308")
def j08(stage):
    w = stage.world
    equal(refused("InteractionNotAllowed", w.calendar.read, query(COOKIE)).code, -25308)
    refused("ItemNotFound", w.helper.read, query(COOKIE))


@row(
    "J09",
    "locked, subscribers",
    "an ordinary program forces a logout",
    "AccessDenied, everything still there",
)
def j09(stage):
    w = stage.world
    refused("AccessDenied", w.mail.force_logout, ONE, SERVICE, "signed out")
    same_secret(w.helper.read(query(TOKEN)).secret, secret("renewed"))


@row(
    "J10",
    "locked, subscribers",
    "the manager forces a logout",
    "its items are deleted in every class, none other",
)
def j10(stage):
    w = stage.world
    deleted, told, epoch = w.admin.force_logout(ONE, SERVICE, "signed out elsewhere")
    equal((deleted, told), (2, 3), "items deleted and subscribers told")
    equal(epoch, stage.epochs["mail"] + 1, "the epoch")
    stage.epochs["after"] = epoch
    refused("ItemNotFound", w.calendar.read, query(TOKEN))
    refused("ItemNotFound", w.calendar.read, query(COOKIE))
    same_secret(w.helper.read(query(OTHER)).secret, secret("other"))


@row(
    "J11",
    "the forced logout",
    "the subscribers look at their signals",
    "each has the one LoggedOut, nothing else",
)
def j11(stage):
    w, epoch = stage.world, stage.epochs["after"]
    for puppet in (w.mail, w.calendar, w.helper):
        signal = puppet.next_signal()
        equal(
            (signal.name, signal.arguments[1:]), ("LoggedOut", (ONE, SERVICE, epoch, "signed out elsewhere"))
        )
        equal(puppet.pending_signals(), [], "what else came")
    equal(w.stranger.pending_signals(), [], "what the stranger heard")


@row("J12", "the forced logout", "the subscribers acknowledge one by one", "the manager sees who has not yet")
def j12(stage):
    w, epoch = stage.world, stage.epochs["after"]
    subscribers = (w.mail, w.calendar, w.helper)
    for acknowledged, puppet in enumerate(subscribers):
        equal(pending(w), len(subscribers) - acknowledged, "logouts not yet acknowledged")
        puppet.acknowledge(ONE, epoch)
    equal(pending(w), 0, "logouts not yet acknowledged")


def pending(world):
    return sum(client.get("PendingLogouts", 0) for client in world.admin.list_clients())


@row(
    "J13",
    "a program that was not running",
    "it starts and subscribes",
    "another epoch: it has missed a logout",
)
def j13(stage):
    late = stage.world.puppet("calendar")
    try:
        _, epochs, _ = late.subscribe(ONE)
        equal(epochs[ONE], stage.epochs["after"], "the epoch")
        holds(epochs[ONE] != stage.epochs["late"], "it differs from the one last handled")
    finally:
        late.close()


@row(
    "J14",
    "the epoch",
    "the broker is killed and started anew",
    "the epoch is the same, before first unlock too",
)
def j14(stage):
    w = stage.world
    w.kill()
    w.start()
    state, epochs, _ = w.mail.subscribe(ONE)
    equal((state, epochs[ONE]), ("before-first-unlock", stage.epochs["after"]))
    w.unlock()
    equal(w.mail.next_signal().arguments[1:], ("unlocked", True))
    same_secret(w.mail.read(query(OTHER)).secret, secret("other"))


@row(
    "J15",
    "all that was said on the way",
    "look at the broker's own output",
    "no secret, account or service in it",
)
def j15(stage):
    log = stage.world.log_tail(lines=100_000).encode()
    for what in (SECRET_MARK.encode(), PASSCODE, *(TOKEN[key].encode() for key in ("Service", "Account"))):
        equal(log.count(what), 0, "how often the log has one of them")


def run(report):
    with World() as world:
        stage = Stage(world)
        for row in TABLE.rows:
            report.play(row, lambda row=row: row.play(stage))
