"""Connections that misbehave: garbage, floods, deaf subscribers, clients that vanish."""

import os

from attributes import encode
from chatelaine_client import ITEMS, MANAGER, OBJECT, Client
from connection import BUS_NAME, Connection
from expect import Table, equal, generic, holds, internet, refused, same_secret, secret, without
from hostile_raw import Raw
from jeepney import DBusAddress, HeaderFields, new_signal
from sessions import ENCRYPTED, EncryptedSession

TABLE = Table()
row = TABLE.row
FLOOD = 10_000
LARGE_ANSWERS, IN_FLIGHT_KIB = 40, 128 << 10
SEARCH = ("a{sv}", (encode({"Class": "internet-password"}),))


def well_behaved(world):
    """What every client may expect at any time; a reply's timeout turns a hang into a failure."""
    client = world.calendar
    mine = internet(Server="well-behaved.example")
    client.add(mine, secret("well"))
    same_secret(client.read(mine).secret, secret("well"))
    equal(client.delete(mine), 1)


def resident(world):
    """The broker's resident memory in KiB."""
    with open(f"/proc/{world.process.pid}/status") as status:
        (line,) = [line for line in status if line.startswith("VmRSS:")]
    return int(line.split()[1])


@row(
    "H13",
    "garbage, half a message, a length that lies",
    "send it after authentication",
    "that connection alone ends",
)
def h13(w):
    for data, is_ended in ((garbage, True), (lying_length, True), (half_message, False)):
        raw = Raw(w.address)
        raw.send(data(raw))
        if is_ended:
            holds(raw.is_closed(), f"{data.__name__} ends the connection")
        raw.close()


def garbage(_):
    return b"x" + os.urandom(4096)


def half_message(raw):
    data = raw.message(ITEMS, "Search", *SEARCH)
    return data[: len(data) // 2]


def lying_length(raw):
    data = bytearray(raw.message(ITEMS, "Search", *SEARCH))
    data[4:8] = (0x7FFFFFFF).to_bytes(4, "little")
    return bytes(data)


@row("H14", "a client that calls and vanishes before the answer", "200 times", "nothing is left of it")
def h14(w):
    for _ in range(200):
        raw = Raw(w.address)
        raw.send(raw.message(ITEMS, "OpenSession", "sv", (ENCRYPTED, EncryptedSession().input)))
        raw.send(raw.message(ITEMS, "Search", *SEARCH))
        raw.close()


@row("H15", f"{FLOOD} calls whose answers nobody reads", "over the bus", "everybody else is served meanwhile")
def h15(w):
    raw = Raw(w.address)
    raw.socket.settimeout(2.0)
    try:
        for _ in range(FLOOD):
            if not raw.send(raw.message(ITEMS, "Search", *SEARCH)):
                break
        well_behaved(w)
    finally:
        raw.close()


@row("H17", "a subscriber that never reads", "4,000 changes", "everybody else is served meanwhile")
def h17(w):
    deaf = w.puppet("mail")
    try:
        deaf.subscribe()
        for number in range(200):
            w.mail.add(generic(Account=str(number)), secret())
        for number in range(20):
            equal(w.mail.update(without(generic(), "Account"), {"Comment": str(number)}), 200)
        well_behaved(w)
    finally:
        deaf.kill()


@row(
    "H18",
    "wrong passcodes",
    "Unlock twice with a wrong one while others work",
    "AuthFailed, others are served",
)
def h18(w):
    w.user.lock()
    wrong = Client(w.address)
    try:
        for _ in range(2):
            serial = wrong.connection.send(
                OBJECT, MANAGER, "Unlock", "(oayay)", (wrong.session.seal(b"wrong"),)
            )
            equal(w.calendar.search(generic(Service="nothing")), [])
            refused("AuthFailed", wrong.connection.reply, serial)
    finally:
        wrong.close()
        w.unlock()


@row(
    "H20",
    "a program that speaks as the bus",
    "it tells the broker that all others are gone, and came just now",
    "nobody is forgotten: subscriptions, sessions and evidence stay",
)
def h20(w):
    mine = internet(Server="forged.example")
    w.mail.store(mine, secret())
    w.calendar.subscribe()
    before = w.admin.list_clients()
    broker = w.watch.bus_call("GetNameOwner", "s", (BUS_NAME,))[0]
    names = [name for name in w.watch.bus_call("ListNames", "", ())[0] if name.startswith(":")]
    forger = Connection(w.address)
    try:
        for name in names:
            for old, new in ((name, ""), ("", name)):
                forger.send_message(forged_change(broker, name, old, new))
        forger.ping()
        equal(w.admin.list_clients(), before)
        w.mail.store(mine, secret("again"))
        w.calendar.next_signal()
        equal(w.mail.delete(mine), 1)
        w.calendar.next_signal()
    finally:
        forger.close()
        w.calendar.unsubscribe()


def forged_change(destination, *names):
    bus = "org.freedesktop.DBus"
    message = new_signal(
        DBusAddress("/org/freedesktop/DBus", bus_name=bus, interface=bus), "NameOwnerChanged", "sss", names
    )
    message.header.fields[HeaderFields.destination] = destination
    return message


@row(
    "H19",
    "answers of 6 MiB that nobody reads",
    f"{LARGE_ANSWERS} of them",
    "memory is bounded",
)
def h19(w):
    for number in range(100):
        w.mail.add(internet(Account=str(number), Label=b"x" * 60_000), secret())
    before = resident(w)
    raw = Raw(w.address)
    raw.socket.settimeout(2.0)
    try:
        for _ in range(LARGE_ANSWERS):
            raw.send(raw.message(ITEMS, "Search", *SEARCH))
        well_behaved(w)
        grown = resident(w) - before
        holds(
            grown < IN_FLIGHT_KIB, f"resident memory grew by less than {IN_FLIGHT_KIB} KiB (by {grown} KiB)"
        )
    finally:
        raw.close()
