"""The backend of the Secret portal: this process is the desktop's portal, and other programs would like to be."""

import contextlib
import fcntl
import os
import select
import socket
import sys

from connection import BrokerError
from expect import NotHere, Table, equal, holds, refused, same_secret
from fake_prompter import FakePrompter
from harness import World
from portal_client import BACKEND, ITEM, PORTAL, REQUESTS, PortalClient, drained
from puppets import HERE

TABLE = Table()
row = TABLE.row
ERROR = "org.freedesktop.DBus.Error."
DENIED, INVALID, FAILED = ERROR + "AccessDenied", ERROR + "InvalidArgs", ERROR + "Failed"
LOCKED, ABSENT = "org.freedesktop.Secret.Error.IsLocked", "org.freedesktop.Secret.Error.NoSuchObject"
REAL = os.path.realpath(sys.executable)
APP, NAME = "org.example.App", "60-portal.conf"
POLICY = """[Application org.test.Portal]
Executable={program}

[SecretService]
Isolation={isolation}
Portal={portals}
"""


def policy(isolation="application", portals="org.test.Portal"):
    return POLICY.format(program=REAL, isolation=isolation, portals=portals)


class Stage:
    def __init__(self, world):
        self.world = world
        self.portal = PortalClient(world.address)

    def refresh(self):
        """After a restart: waits for the front."""
        self.portal.close()
        self.portal = PortalClient(self.world.address)

    def put(self, text):
        """This suite's part of the policy."""
        with open(os.path.join(self.world.folder, "policy", NAME), "w") as file:
            file.write(text)
        self.world.admin.reload_policy()

    @contextlib.contextmanager
    def under(self, text):
        """Another part of the policy in its place, to the end of the block."""
        self.put(text)
        try:
            yield
        finally:
            self.put(policy())

    @contextlib.contextmanager
    def program(self, executable, wrap=None):
        puppet = self.world.program(executable, wrap)
        try:
            yield puppet
        finally:
            puppet.close()


@row("SP01", "two applications", "ask, and ask again", "64 bytes each, always the same, never another's")
def same(stage):
    portal = stage.portal
    equal(portal.property(PORTAL, BACKEND, "version"), 1, "the version")
    response, first = portal.retrieve(APP)
    equal((response, len(first)), (0, 64))
    same_secret(portal.retrieve(APP)[1], first)
    others = [portal.retrieve(app)[1] for app in (APP + "x", "org.example.Ap", APP.lower())]
    equal(len({first, *others}), 4, "different secrets")
    left, right = socket.socketpair()
    with left, right:
        equal(portal.give(APP, right.fileno()), 0)
        same_secret(left.recv(4096), first)


@row("SP02", "the item of a secret", "search", "it says whose it is, and its portal alone sees it")
def item(stage):
    portal = stage.portal
    portal.retrieve(APP)
    paths = portal.search({"app_id": APP})
    equal(len(paths), 1, "the number of items")
    equal(portal.property(paths[0], ITEM, "Label"), f"Application key for {APP}")
    wanted = {"app_id": APP, "xdg:schema": "org.freedesktop.portal.Secret"}
    equal(portal.property(paths[0], ITEM, "Attributes"), wanted)
    for puppet in (stage.world.mail, stage.world.nobody):
        equal(puppet.search_secret_service({"app_id": APP}), [], "what another program finds")


@row("SP03", "a secret", "restart, unlock; lock, unlock", "the same secret")
def stays(stage):
    _, first = stage.portal.retrieve(APP)
    stage.world.restart()
    stage.world.unlock()
    stage.refresh()
    same_secret(stage.portal.retrieve(APP)[1], first)
    stage.world.lock()
    same_secret(stage.portal.retrieve(APP)[1], first, "the secret while the session is locked")
    stage.world.unlock()


@row("SP03-old", "a connection of the portal's that is older than the broker", "ask", "as its evidence is worth")
def older(stage):
    world, portal = stage.world, stage.portal
    _, first = portal.retrieve(APP)
    world.restart()
    world.unlock()
    try:
        answer = portal.retrieve(APP)[1]
    except BrokerError as error:
        answer = error.name
    own = [one for one in world.admin.list_clients() if one["Connection"] == portal.connection.unique_name]
    equal(answer == (first if own[0]["Trust"] == "file" else DENIED), True, f"the answer at {own[0]['Trust']} trust")
    stage.refresh()
    same_secret(stage.portal.retrieve(APP)[1], first)


@row("SP04", "programs that are not the portal", "ask for somebody's secret", "refused, nothing written, logged")
def thieves(stage):
    world = stage.world
    _, first = stage.portal.retrieve(APP)
    for puppet in (world.mail, world.nobody, world.admin):
        for app in (APP, "org.example.Unborn"):
            equal(puppet.retrieve_secret(app), [DENIED, 0], "the refusal and how much was written")
    world.await_log("deny retrieve-secret", 6)
    equal(stage.portal.search({"app_id": "org.example.Unborn"}), [], "what their asking has made")
    same_secret(stage.portal.retrieve(APP)[1], first)


@row("SP05", "the portal's name in the policy for what anybody can replace", "ask", "refused: user trust")
def replaceable(stage):
    with stage.under(policy(portals="org.test.Portal org.test.Mail")):
        equal(stage.world.mail.retrieve_secret(APP), [DENIED, 0])
        equal(stage.portal.retrieve(APP)[0], 0)


@row("SP06", "the portal's program in a namespace of its own", "ask", "refused: what runs there is no portal")
def sandboxed(stage):
    if os.geteuid() != 0:
        raise NotHere("a mount namespace needs root")
    apart = [sys.executable, os.path.join(HERE, "in_namespace.py"), "mount", REAL, REAL]
    with stage.program(REAL, apart) as puppet:
        equal(puppet.retrieve_secret(APP), [DENIED, 0])
    with stage.program(REAL) as puppet:
        equal(puppet.retrieve_secret(APP), ["", 64], "what the same program gets outside")


@row("SP07", "a policy that names no portal", "ask", "refused, the program of the other policy too")
def nobody_named(stage):
    with stage.under(""):
        text = refused(DENIED, stage.portal.retrieve, APP).text
        holds("Portal=" in text, f"it says what names one ({text})")


@row("SP08", "a program puts its own secret under an application's id", "the application asks", "it gets another")
def planted(stage):
    for isolation in ("application", "none"):
        victim = f"org.example.Victim.{isolation}"
        with stage.under(policy(isolation)):
            stage.world.mail.create_secret({"app_id": victim}, b"p" * 64)
            _, got = stage.portal.retrieve(victim)
            equal((len(got), got == b"p" * 64), (64, False), "length, and whether it is the planted one")
            same_secret(stage.portal.retrieve(victim)[1], got)


@row("SP09", "an application that has none", "32 requests at once, over two connections", "one secret, one item")
def at_once(stage):
    app, other = "org.example.Storm", PortalClient(stage.world.address)
    waiting = []
    for number in range(32):
        client = (stage.portal, other)[number % 2]
        reading, writing = os.pipe()
        waiting.append((client, client.send(app, writing)[0], reading))
        os.close(writing)
    found = set()
    for client, serial, reading in waiting:
        equal(client.connection.reply(serial)[0], 0, "the response")
        found.add(os.read(reading, 4096))
        os.close(reading)
    other.close()
    equal([len(secret) for secret in found], [64], "the secrets' lengths")
    equal(len(stage.portal.search({"app_id": app})), 1, "the number of items")


def full_pipe():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    return reading, writing


def full_socket():
    left, right = socket.socketpair()
    right.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            right.send(b"x" * 4096)
    right.setblocking(True)
    return left.detach(), right.detach()


def deaf_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    return None, writing


def deaf_socket():
    left, right = socket.socketpair()
    left.close()
    return None, right.detach()


def reading_end():
    return os.pipe()[::-1]


def named_pipe(folder):
    path = os.path.join(folder, "fifo")
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    return reading, os.open(path, os.O_WRONLY)


@row("SP10", "descriptors that take nothing", "ask with each", "an error, nothing waits, the next one is served")
def descriptors(stage):
    _, first = stage.portal.retrieve(APP)
    file = os.path.join(stage.world.folder, "file")
    cases = {
        "a full pipe": (FAILED, full_pipe()),
        "a full socket": (FAILED, full_socket()),
        "a pipe that nobody reads": (FAILED, deaf_pipe()),
        "a socket that nobody reads": (FAILED, deaf_socket()),
        "the reading end": (INVALID, reading_end()),
        "a named pipe": (INVALID, named_pipe(stage.world.folder)),
        "a file": (INVALID, (None, os.open(file, os.O_RDWR | os.O_CREAT))),
        "a path": (INVALID, (None, os.open(file, os.O_PATH))),
        "/dev/null": (INVALID, (None, os.open("/dev/null", os.O_WRONLY))),
    }
    for name, (error, (other, descriptor)) in cases.items():
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        try:
            refused(error, stage.portal.give, APP, descriptor)
        except AssertionError as problem:
            raise AssertionError(f"{name}: {problem}") from None
        equal(fcntl.fcntl(descriptor, fcntl.F_GETFL), flags, f"the flags of {name}")
        for number in {other, descriptor} - {None}:
            os.close(number)
    equal(os.path.getsize(file), 0, "what is in the file")
    same_secret(stage.portal.retrieve(APP)[1], first)


@row("SP11", "no id, handles elsewhere", "ask", "InvalidArgs")
def arguments(stage):
    portal = stage.portal
    for app in ("", "x" * 256, "a b", "a\nb", "é"):
        refused(INVALID, portal.retrieve, app)
    equal(len(portal.retrieve("x" * 255)[1]), 64)
    for handle in ("/", "/org/freedesktop/secrets/collection/login", PORTAL, REQUESTS):
        refused(INVALID, portal.retrieve, APP, handle)


@row("SP12", "before the first unlock, with nobody to ask; a closed collection", "ask", "IsLocked, then the same")
def locked(stage):
    world = stage.world
    _, first = stage.portal.retrieve(APP)
    world.restart()
    stage.refresh()
    for app in (APP, "org.example.Early"):
        refused(LOCKED, stage.portal.retrieve, app)
    world.unlock()
    same_secret(stage.portal.retrieve(APP)[1], first)
    stage.portal.lock()
    refused(LOCKED, stage.portal.retrieve, APP)
    world.user.unlock(world.passcode)
    same_secret(stage.portal.retrieve(APP)[1], first)
    equal(len(stage.portal.search({"app_id": APP})), 1, "the number of items")
    equal(stage.portal.search({"app_id": "org.example.Early"}), [])


@row("SP13", "a closed collection and a person", "ask twice at once", "asked once, in the application's name")
def asked(stage):
    world, portal = stage.world, stage.portal
    _, first = portal.retrieve(APP)
    portal.lock()
    with FakePrompter(world.address) as prompter:
        pipes = [os.pipe() for _ in range(2)]
        serials = [portal.send(APP, writing)[0] for _, writing in pipes]
        (_, question), message = prompter.next_call("Ask")
        equal(question["Program"][1], APP, "for whom")
        prompter.await_offers(len(serials))
        world.user.unlock(world.passcode)
        prompter.answer(message)
        for serial, (reading, writing) in zip(serials, pipes, strict=True):
            equal(portal.connection.reply(serial)[0], 0, "the response")
            same_secret(os.read(reading, 4096), first)
            os.close(reading)
            os.close(writing)
        equal(prompter.asked, 1, "how often it was asked")


@row("SP14", "a person that does not want to", "ask thrice at once, and for another", "1 for all, asked once for each")
def dismissed(stage):
    portal = stage.portal
    portal.retrieve(APP)
    portal.lock()
    with FakePrompter(stage.world.address) as prompter:
        reading, writing = os.pipe()
        serials = [portal.send(app, writing)[0] for app in (APP, APP, APP, APP + "x")]
        os.close(writing)
        prompter.await_offers(len(serials))
        for app in (APP, APP + "x"):
            (_, question), message = prompter.next_call("Ask")
            equal(question["Program"][1], app, "for whom")
            prompter.answer(message)
        for serial in serials:
            equal(portal.connection.reply(serial)[0], 1, "the response")
        equal(prompter.asked, 2, "how often it was asked")
        equal(drained(reading), b"", "what was written")
        os.close(reading)
    stage.world.user.unlock(stage.world.passcode)


@row("SP15", "a request that waits", "Close by another; Close; Close again", "no such object; withdrawn; none")
def closed(stage):
    world, portal = stage.world, stage.portal
    portal.retrieve(APP)
    portal.lock()
    with FakePrompter(world.address) as prompter:
        reading, writing = os.pipe()
        serial, handle = portal.send(APP, writing)
        cookie = prompter.next_call("Ask")[0][0]
        refused(INVALID, portal.retrieve, APP, handle)
        other = PortalClient(world.address)
        refused(ABSENT, other.close_request, handle)
        other.close()
        portal.close_request(handle)
        equal(prompter.next_call("Withdraw")[0][0], cookie, "what is withdrawn")
        equal(portal.connection.reply(serial)[0], 1, "the response")
        os.close(writing)
        equal(os.read(reading, 4096), b"", "what was written")
        os.close(reading)
        refused((ABSENT, ERROR + "UnknownObject", ERROR + "UnknownMethod"), portal.close_request, handle)
    world.user.unlock(world.passcode)


@row("SP16", "a request that waits", "its portal goes", "the question is withdrawn")
def gone(stage):
    stage.portal.retrieve(APP)
    stage.portal.lock()
    with FakePrompter(stage.world.address) as prompter:
        leaving = PortalClient(stage.world.address)
        reading, writing = os.pipe()
        leaving.send(APP, writing)
        os.close(writing)
        cookie = prompter.next_call("Ask")[0][0]
        leaving.close()
        equal(prompter.next_call("Withdraw")[0][0], cookie, "what is withdrawn")
        holds(select.select([reading], [], [], 60)[0], "the descriptor is let go")
        equal(os.read(reading, 4096), b"", "what was written")
        os.close(reading)
    stage.world.user.unlock(stage.world.passcode)
    stage.refresh()


@row("SP17", "an application that has a secret", "ask, and ask something else at once", "the other answer is first")
def not_too_soon(stage):
    portal = stage.portal
    portal.retrieve(APP)
    reading, writing = os.pipe()
    serial, _ = portal.send(APP, writing)
    os.close(writing)
    equal(portal.property(PORTAL, BACKEND, "version"), 1, "the version")
    # Who listens for the portal's signal only when the portal has answered would miss one that is there before.
    holds(not portal.connection.has_reply(serial), "the secret's answer comes later")
    equal(portal.connection.reply(serial)[0], 0, "the response")
    equal(len(drained(reading)), 64, "the secret's length")
    os.close(reading)


def run(report):
    with World() as world:
        stage = Stage(world)
        stage.put(policy())
        for row in TABLE.rows:
            report.play(row, lambda row=row: row.play(stage))
        stage.portal.close()
