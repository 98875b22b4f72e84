"""Peers of the direct endpoint that do wrong; after each, others are served and nothing has grown."""

import os

from attributes import encode
from chatelaine_client import ITEMS, OBJECT, Client
from direct_raw import GREETING, RawPeer
from expect import Table, equal, generic, holds, internet, same_secret, secret
from hostile_connections import resident

TABLE = Table()
row = TABLE.row
VANISHING, FLOOD, PER_PROCESS = 1_000, 40_000, 64
LARGE_ANSWERS, GROWTH_KIB = 40, 128 << 10


def well_behaved(world):
    attributes = generic(Account="well-behaved")
    world.calendar.store(attributes, secret("well"))
    same_secret(world.calendar.read(attributes).secret, secret("well"))


def descriptors(world):
    return len(os.listdir(f"/proc/{world.process.pid}/fd"))


def await_descriptors(world, count):
    """No event tells that another process has closed a file, so this asks until it has."""
    while descriptors(world) > count:
        world.user.property("State")


@row("D20", "garbage in place of the handshake", "send it", "that peer alone is closed")
def d20(w):
    for data in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(5_000), b"\0" * 100, b"\0AUTH ANONYMOUS\r\nBEGIN\r\n"):
        peer = RawPeer(w.socket)
        peer.send(data)
        peer.socket.shutdown(1)
        holds(peer.is_closed(), "the connection is closed")
        well_behaved(w)


@row("D21", "no handshake, half a one, one that never begins", "wait", "each is closed after a while")
def d21(w):
    before = descriptors(w)
    peers = [RawPeer(w.socket) for _ in range(3)]
    peers[1].send(GREETING[:7])
    peers[2].send(GREETING)
    well_behaved(w)
    for peer in peers:
        holds(peer.is_closed(), "the connection is closed")
    await_descriptors(w, before)
    w.await_log("did not say who it is in time", 3)


@row("D22", "garbage after the handshake, a length that lies", "send it", "that peer alone is closed")
def d22(w):
    for damage in (lambda data: b"x" + os.urandom(4096), lying_length):
        peer = RawPeer(w.socket).authenticate()
        peer.send(damage(peer.message(ITEMS, "Search", "a{sv}", (encode(generic()),))))
        holds(peer.is_closed(), "the connection is closed")
        well_behaved(w)


def lying_length(data):
    return data[:4] + (0x7FFFFFFF).to_bytes(4, "little") + data[8:]


@row("D23", f"{VANISHING} peers that connect and vanish", "look", "every descriptor is free again")
def d23(w):
    well_behaved(w)
    before = descriptors(w)
    for number in range(VANISHING):
        peer = RawPeer(w.socket)
        if number % 3:
            peer.send(GREETING)
        if number % 3 == 2:
            peer.send(b"BEGIN\r\n" + peer.message(ITEMS, "OpenSession", "sv", ("plain", ("s", ""))))
        peer.close()
    well_behaved(w)
    await_descriptors(w, before)


@row("D24", "a peer that asks and never reads", f"{FLOOD} calls", "it is closed, others are served")
def d24(w):
    peer = RawPeer(w.socket).authenticate()
    before = resident(w)
    call = peer.message("org.freedesktop.DBus.Peer", "GetMachineId")
    sent = [peer.send(call[:8] + number.to_bytes(4, "little") + call[12:]) for number in range(1, FLOOD)]
    holds(not all(sent), "it is closed before all is sent")
    well_behaved(w)
    w.await_log("does not read what it is sent", 1)
    grown = resident(w) - before
    holds(grown < GROWTH_KIB, f"resident memory grew by less than {GROWTH_KIB} KiB (by {grown} KiB)")


@row("D25", "answers of megabytes that nobody reads", f"{LARGE_ANSWERS} of them", "it is closed, memory is bounded")
def d25(w):
    for number in range(100):
        w.mail.store(internet(Account=str(number), Label=b"x" * 60_000), secret())
    before, complaints = resident(w), w.log().count("does not read what it is sent")
    deaf = w.puppet("mail")
    try:
        deaf.find(generic())
        deaf.search_without_reading({"Class": "internet-password"}, LARGE_ANSWERS)
        w.await_log("does not read what it is sent", complaints + 1)
        well_behaved(w)
        grown = resident(w) - before
        holds(grown < GROWTH_KIB, f"resident memory grew by less than {GROWTH_KIB} KiB (by {grown} KiB)")
    finally:
        deaf.kill()
        w.mail.delete({"Class": "internet-password"})


@row("D26", "a subscriber that never reads", "40,000 changes", "others are served, and it is closed")
def d26(w):
    complaints = w.log().count("does not read what it is sent")
    deaf = w.puppet("mail")
    try:
        deaf.subscribe()
        for number in range(200):
            w.mail.store(generic(Service="deaf", Account=str(number)), secret())
        for number in range(200):
            equal(w.mail.update({"Class": "generic-password", "Service": "deaf"}, {"Comment": str(number)}), 200)
        well_behaved(w)
        w.await_log("does not read what it is sent", complaints + 1)
    finally:
        deaf.kill()
        w.mail.delete({"Class": "generic-password", "Service": "deaf"})


@row("D27", f"{PER_PROCESS} connections of one process", "one more", "it is closed, and another program is served")
def d27(w):
    crowd = []
    try:
        while True:
            crowd.append(RawPeer(w.socket))
            crowd[-1].send(GREETING)
            if not answered(crowd[-1]):
                break
        # The world's own client is one of this process's.
        equal(len(crowd), PER_PROCESS, "the first that is closed")
        well_behaved(w)
        other = w.puppet("mail")
        other.find(generic())
        other.close()
        crowd[0].close()
        # Its place is free when the broker has seen it go, which no event tells here.
        while True:
            late = RawPeer(w.socket)
            late.send(GREETING)
            if answered(late):
                break
        late.close()
    finally:
        for peer in crowd:
            peer.close()


def answered(peer):
    try:
        return peer.socket.recv(4096) != b""
    except ConnectionResetError:
        return False


@row("D28", "a client that sends its call and goes", "200 times", "nothing is left of it")
def d28(w):
    before = descriptors(w)
    for _ in range(5):
        # Fewer than one process may have at a time: the broker may be slower to close than this is to connect.
        for _ in range(40):
            client = Client(w.client_address)
            client.connection.send(OBJECT, ITEMS, "Search", "a{sv}", (encode(generic()),))
            client.close()
        await_descriptors(w, before)
    well_behaved(w)
