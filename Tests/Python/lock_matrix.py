"""Class of protection, operation, state: what each combination answers, with the rulings."""

from connection import BrokerError
from expect import Row, equal, refused, secret
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
    "delete",
    "read-absent",
    "search-absent",
)
LOST = {"add": "NotAvailable", "add-duplicate": "NotAvailable", "store": "NotAvailable", "search": NONE}


def expected(item_class, operation, state):
    """SEMANTICS 5.3 in a few lines; the rulings K4, K5, K6, K9 and K20 are in them."""
    lost = item_class == "akpu" and state.startswith("passcode-")
    if state == "before-first-unlock":
        return LOCKED
    if operation in ("read-absent", "search-absent"):
        return ABSENT if operation == "read-absent" else NONE
    if state == "locked" and item_class in FOREGROUND and operation != "delete":
        return LOCKED
    if lost and state == "passcode-set-again" and operation in ("add", "add-duplicate", "store"):
        return DONE
    if lost:
        return LOST.get(operation, ABSENT)
    return "DuplicateItem" if operation == "add-duplicate" else DONE


def key(item_class, operation, state):
    """An item of its own for each combination, so that none disturbs another."""
    return {"Class": "generic-password", "Service": f"{state}/{operation}", "Account": item_class}


def perform(puppet, item_class, operation, state):
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
        "delete": lambda: puppet.delete(query),
        "read-absent": lambda: puppet.read(query),
        "search-absent": lambda: puppet.search(query),
    }
    try:
        return NONE if calls[operation]() == [] else DONE
    except BrokerError as error:
        return error.name


def prepare(puppet, state):
    """While unlocked and with a passcode: the items that the state's operations meet."""
    for item_class, accessible in CLASSES.items():
        for operation in OPERATIONS:
            if operation != "add" and not operation.endswith("-absent"):
                puppet.add(key(item_class, operation, state) | {"Accessible": accessible}, secret("old"))


ENTER = {
    "unlocked": lambda world: None,
    "locked": lambda world: world.lock(),
    "before-first-unlock": lambda world: world.restart(),
    "passcode-removed": lambda world: world.remove_passcode(),
    "passcode-set-again": lambda world: world.set_passcode(),
}


def play_state(report, world, state):
    ENTER[state](world)
    for item_class in CLASSES:
        for operation in OPERATIONS:
            wanted = expected(item_class, operation, state)
            number = f"L-{state}-{item_class}-{operation}"
            row = Row(number, state, f"{operation} of {CLASSES[item_class]}", wanted, None)
            report.play(row, lambda: equal(perform(world.mail, item_class, operation, state), wanted))
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
        for state in DEVICE_STATES:
            prepare(world.mail, state)
        for state in DEVICE_STATES:
            play_state(report, world, state)
        moves(report, world)
