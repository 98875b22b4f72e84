"""Crowds in the Secret Service: many clients that come and go, and a collection of many items that is locked.

`seconds` is how long the crowd stays, `items` how many there are; run.py has options for both.
"""

import json
import os
import subprocess
import sys

from jeepney import HeaderFields

from connection import BrokerError
from expect import Row, equal, holds, secret
from harness import World
from hostile_connections import resident
from secret_client import SecretClient
from secret_crowd_client import CROWD
from secret_words import COLLECTION, ITEM, NO_SESSION, PROMPT, ROOT, SERVICE, SESSION

CLIENTS = 32
# What a heap that was never so busy may keep; with 20,000 visitors in a minute some 200 bytes each.
GROWTH_KIB = 4_096
IN_FLIGHT = 64
# As a client hears it: CollectionChanged and PropertiesChanged of the collection, and at unlock Completed.
HANDFUL = 4
# A group for the tests' own interpreter that takes so many items.
ROOMY = """
[Application org.test.Roomy]
Executable={program}
AccessGroups=org.test.roomy

[AccessGroup org.test.roomy]
RequireTrust=user
MaxItems={items}
"""


def crowd(world, seconds):
    """Lets the clients come and go; returns the sessions that they had."""
    scripts = os.path.join(world.folder, "scripts")
    environment = world.environment | {
        "PYTHONPATH": scripts,
        "PYTHONHOME": sys.base_prefix,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    script = os.path.join(scripts, "secret_crowd_client.py")
    command = [world.executable("mail"), script, world.address, str(CLIENTS), str(seconds)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    holds(done.returncode == 0, f"all clients were served: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def await_gone(world, before):
    """Until the bus has no connections but those before, and the broker has heard so."""
    watch = world.watch
    rule = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'"
    watch.bus_call("AddMatch", "s", (rule,))
    while set(watch.bus_call("ListNames")[0]) - before:
        watch.next_signal()
    watch.bus_call("RemoveMatch", "s", (rule,))
    watch.ping()


def session_is_there(client, path):
    """Of another's session a stranger learns that it has none; where there is no object the bus library says so."""
    try:
        client.call(path, SESSION, "Close")
    except BrokerError as error:
        return error.name == NO_SESSION
    raise AssertionError("another's session was closed")


def come_and_go(seconds):
    with World(direct=False) as world:
        client = SecretClient(world.address)
        with world.policy_file("[SecretService]\nIsolation=none\n"):
            client.create("a label", CROWD, secret())
            stranger = SecretClient(world.address)
            holds(session_is_there(stranger, client.session_path()), "a session that is there is told apart")
            before = set(world.watch.bus_call("ListNames")[0])
            # The first crowd makes the heap what it will be.
            crowd(world, seconds / 4)
            await_gone(world, before)
            objects, memory = stranger.introspect(ROOT), resident(world)
            sessions = crowd(world, seconds)
            await_gone(world, before)
            equal(world.process.poll(), None, "how the broker ended")
            equal(len(set(sessions)), len(sessions), "sessions of different names")
            holds(len(sessions) >= 2 * CLIENTS, "each client came twice at least")
            equal([path for path in sessions if session_is_there(stranger, path)], [], "sessions that are left")
            equal(stranger.introspect(ROOT), objects, "the objects that are there")
            equal(len(client.search(CROWD)[0]), 1, "items found")
            grown = resident(world) - memory
            print(f"   {len(sessions)} clients in {seconds} s, the broker grew by {grown} KiB", flush=True)
            holds(grown < GROWTH_KIB, f"the broker grew by {grown} KiB for {len(sessions)} clients")


def fill(client, collection, count):
    client.use_plain_session()
    serials = []
    for number in range(count):
        properties = {ITEM + ".Attributes": ("a{ss}", {"number": str(number)})}
        body = (properties, client.session.seal(secret(str(number))), False)
        serials.append(client.connection.send(collection, COLLECTION, "CreateItem", "a{sv}(oayays)b", body))
        if len(serials) == IN_FLIGHT:
            client.connection.reply(serials.pop(0))
    for serial in serials:
        client.connection.reply(serial)


def told(client):
    """How many signals of the service the client has heard."""
    return sum(
        signal.header.fields[HeaderFields.path].startswith(ROOT) for signal in client.connection.signals
    )


def heard(client, member, path):
    """The answer to a call about the path, and the number of signals that came with it."""
    client.connection.signals.clear()
    answer = client.call(ROOT, SERVICE, member, "ao", ([path],))
    client.call(ROOT, "org.freedesktop.DBus.Peer", "Ping")
    return answer, told(client)


def perform(client, prompt):
    """Whether the prompt was dismissed, and the number of signals that came with that."""
    client.connection.signals.clear()
    client.call(prompt, PROMPT, "Prompt", "s", ("",))
    waiting = []
    while not waiting or waiting[-1].header.fields[HeaderFields.member] != "Completed":
        waiting.append(client.connection.next_signal())
    client.call(ROOT, "org.freedesktop.DBus.Peer", "Ping")
    client.connection.signals.extendleft(reversed(waiting))
    return waiting[-1].body[0], told(client)


def lock_many(items):
    for isolation in ("application", "none"):
        # Without a passcode a prompt is done when it is performed.
        with World(direct=False, passcode=False) as world:
            rules = ROOMY.format(program=os.path.realpath(sys.executable), items=items + 1)
            with world.policy_file(f"[SecretService]\nIsolation={isolation}\n{rules}"):
                client = SecretClient(world.address)
                collection = client.create_collection("many")
                fill(client, collection, items)
                _, count = heard(client, "Lock", collection)
                holds(0 < count <= HANDFUL, f"a handful of signals tells of the lock: {count} ({isolation})")
                (_, prompt), count = heard(client, "Unlock", collection)
                equal(count, 0, "signals of what did not happen yet")
                dismissed, count = perform(client, prompt)
                equal(dismissed, False, "whether the prompt was dismissed")
                holds(1 < count <= HANDFUL, f"a handful of signals tells of the unlock: {count} ({isolation})")


def run(report, seconds=2, items=300):
    rows = (
        (
            Row("SC1", f"{CLIENTS} clients for {seconds} s", "connect, open a session, look up, leave",
                "no session, object or memory is left", None),
            lambda: come_and_go(seconds),
        ),
        (
            Row("SC2", f"a collection of {items} items", "it is locked and unlocked",
                "a handful of signals tells of it", None),
            lambda: lock_many(items),
        ),
    )
    for row, play in rows:
        report.play(row, play)
