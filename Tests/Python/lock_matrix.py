"""Class of protection, operation, state: what each combination answers, with the rulings."""

import os

from connection import BrokerError
from expect import Row, equal, refused, same_secret, secret
from harness import World

CLASSES = {
    "ak": "when-unlocked",
    "aku": "when-unlocked-this-device-only",
    "akpu": "when-passcode-set-this-device-only",
    "ck": "after-first-unlock",
    "cku": "after-first-unlock-this-device-only",
}
FOREGROUND, DEVICE_STATES = ("ak", "aku", "akpu"), (
    "unlocked",
    "locked",
    "before-first-unlock",
    "passcode-removed",
    "passcode-set-again",
)
# Each in a world of its own. A recovery is what a restore is here: the same device, and another one.
OWN_WORLDS = ("never-a-passcode", "recovered-same-device", "recovered-other-device")
DEVICE_ONLY = ("aku", "akpu", "cku")
LOCKED, ABSENT, NONE, DONE = "InteractionNotAllowed", "ItemNotFound", "nothing found", "done"
OPERATIONS = (
    "add",
    "add-duplicate",
    "read",
    "read-all",
    "search",
    "update",
    "update-secret",
    "store",
    "store-new",
    "begin",
    "delete",
    "read-absent",
    "read-all-absent",
    "search-absent",
    "update-absent",
    "begin-absent",
    "delete-absent",
)
STORING = ("add", "add-duplicate", "store", "store-new")


def is_lost(item_class, state):
    """Whether the items of before are gone."""
    if state.startswith("recovered-"):
        return item_class in DEVICE_ONLY
    return item_class == "akpu" and "passcode" in state


def expected(item_class, operation, state):
    """SEMANTICS 5.3 in a few lines; the rulings K4, K5, K6, K9 and K20 are in them."""
    if state == "before-first-unlock":
        return LOCKED
    if operation.endswith("-absent"):
        return NONE if operation == "search-absent" else ABSENT
    if state == "locked" and item_class in FOREGROUND and operation != "delete":
        return LOCKED
    if is_lost(item_class, state):
        if operation in STORING:
            has_passcode = state not in ("passcode-removed", "never-a-passcode")
            return DONE if has_passcode else "NotAvailable"
        return NONE if operation == "search" else ABSENT
    return "DuplicateItem" if operation == "add-duplicate" else DONE


def key(item_class, operation, state):
    """An item of its own for each combination, so that none disturbs another."""
    return {"Class": "generic-password", "Service": f"{state}/{operation}", "Account": item_class}


def perform(puppet, item_class, operation, state, revision=0):
    """Does it and says how it went, in the words of the table."""
    query = key(item_class, operation, state)
    given = query | {"Accessible": CLASSES[item_class]}
    calls = {
        "add": lambda: puppet.add(given, secret("new")),
        "add-duplicate": lambda: puppet.add(given, secret("new")),
        "read": lambda: puppet.read(query),
        "read-all": lambda: puppet.read_all(query),
        "search": lambda: puppet.search(query),
        "update": lambda: puppet.update(query, {"Comment": "c"}),
        "update-secret": lambda: puppet.update(query, {}, secret("new")),
        "store": lambda: puppet.store(given, secret("new")),
        "store-new": lambda: puppet.store(given, secret("new")),
        "begin": lambda: begin(puppet, query, revision),
        "delete": lambda: puppet.delete(query),
    }
    try:
        return NONE if calls[operation.removesuffix("-absent")]() == [] else DONE
    except BrokerError as error:
        return error.name


def begin(puppet, query, revision):
    outcome, _, found = puppet.begin(query, revision, 0)
    equal(outcome, "granted")
    same_secret(found.secret, secret("old"))


def prepare(puppet, state):
    """While unlocked: the items that the state's operations meet, and their revisions."""
    revisions = {}
    for item_class, accessible in CLASSES.items():
        if item_class == "akpu" and state == "never-a-passcode":
            continue
        for operation in OPERATIONS:
            if operation not in ("add", "store-new") and not operation.endswith("-absent"):
                item = key(item_class, operation, state) | {"Accessible": accessible}
                _, revisions[item_class, operation] = puppet.add(item, secret("old"))
    return revisions


def recover(world, on_another_device):
    recovery_key = world.user.create_recovery_key(world.passcode)
    world.stop()
    if on_another_device:
        with open(os.path.join(world.folder, "device.key"), "r+b") as file:
            file.write(os.urandom(32))
    world.start()
    _, lost = world.user.preview_recovery()
    world.user.recover(recovery_key, world.passcode, lost)


ENTER = {
    "unlocked": lambda world: None,
    "locked": lambda world: world.lock(),
    "before-first-unlock": lambda world: world.restart(),
    "passcode-removed": lambda world: world.remove_passcode(),
    "passcode-set-again": lambda world: world.set_passcode(),
    "never-a-passcode": lambda world: world.restart(),
    "recovered-same-device": lambda world: recover(world, False),
    "recovered-other-device": lambda world: recover(world, True),
}


def play_state(report, world, state, revisions):
    ENTER[state](world)
    for item_class in CLASSES:
        for operation in OPERATIONS:
            wanted = expected(item_class, operation, state)
            number = f"L-{state}-{item_class}-{operation}"
            row = Row(number, state, f"{operation} of {CLASSES[item_class]}", wanted, None)
            revision = revisions.get((item_class, operation), 0)
            report.play(row, lambda: equal(perform(world.mail, item_class, operation, state, revision), wanted))
    if state in ("locked", "before-first-unlock"):
        world.unlock()


def moves(report, world):
    """Between classes: the class key that the row has and the one it gets must both be there."""
    query = {"Class": "generic-password", "Service": "moves", "Account": "a"}

    def to_foreground():
        world.mail.add(query | {"Accessible": "after-first-unlock"}, secret())
        world.lock()
        refused(LOCKED, world.mail.update, query, {"Accessible": "when-unlocked"})
        refused(LOCKED, world.mail.store, query | {"Accessible": "when-unlocked"}, secret("new"))

    def to_background():
        world.unlock()
        world.mail.update(query, {"Accessible": "when-unlocked"})
        world.lock()
        refused(LOCKED, world.mail.update, query, {"Accessible": "after-first-unlock"})
        refused(LOCKED, world.mail.store, query | {"Accessible": "after-first-unlock"}, secret("new"))
        world.unlock()
        equal(world.mail.update(query, {"Accessible": "after-first-unlock"}), 1)

    def to_passcode_set():
        world.remove_passcode()
        refused("NotAvailable", world.mail.update, query, {"Accessible": CLASSES["akpu"]})
        world.set_passcode()
        equal(world.mail.update(query, {"Accessible": CLASSES["akpu"]}), 1)

    rows = (
        (to_foreground, "locked", "move a background item to the foreground", LOCKED),
        (to_background, "locked, unlocked", "move a foreground item to the background", "-25308; done"),
        (to_passcode_set, "no passcode; a passcode", "move to the passcode-set class", "NotAvailable; done"),
    )
    for number, (play, given, when, then) in enumerate(rows, 1):
        report.play(Row(f"L-move-{number}", given, when, then, play), play)


def run(report):
    with World() as world:
        revisions = {state: prepare(world.mail, state) for state in DEVICE_STATES}
        for state in DEVICE_STATES:
            play_state(report, world, state, revisions[state])
        moves(report, world)
    for state in OWN_WORLDS:
        with World(passcode=state != "never-a-passcode") as world:
            play_state(report, world, state, prepare(world.mail, state))
