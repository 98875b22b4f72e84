"""What is the same without a bus, and what is different."""

import os
import shutil
import subprocess

from jeepney import HeaderFields

from attributes import encode
from chatelaine_client import ITEMS, MANAGER, OBJECT
from connection import BUS_NAME, Connection
from direct_raw import RawPeer
from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from policy import ONE
from sessions import PlainSession

TABLE = Table()
row = TABLE.row


def direct(name):
    return name.startswith("direct:") and name[len("direct:") :].isdigit()


def add(world, name):
    attributes = generic(Account=name)
    world.mail.store(attributes, secret(name))
    return attributes


@row("D01", "two programs", "one stores and the other reads, in encrypted sessions", "the same secret")
def d01(w):
    same_secret(w.calendar.read(add(w, "shared")).secret, secret("shared"))
    refused("MissingEntitlement", w.nobody.read, generic(Account="shared"))
    refused("ItemNotFound", w.stranger.read, generic(Account="shared"))


@row("D02", "no bus to listen on", "plain sessions, opened and ready-made", "both are served")
def d02(w):
    attributes = encode(generic(Account="plain"))
    for path in (None, "/"):
        w.mail.store_plainly(path, generic(Account="plain"), secret("plain"))
    found = w.mail.raw_call(OBJECT, ITEMS, "Read", "a{sv}o", (attributes, "/"))
    same_secret(PlainSession("/").unseal(found[1]), secret("plain"))


@row("D03", "a connection's session", "another connection names it", "NoSession")
def d03(w):
    attributes = add(w, "sessions")
    mine, theirs = w.puppet("mail"), w.puppet("mail")
    try:
        mine.read(attributes)
        body = (encode(attributes), mine.session_path())
        refused("NoSession", theirs.raw_call, OBJECT, ITEMS, "Read", "a{sv}o", body)
        refused("NoSession", theirs.raw_call, OBJECT, ITEMS, "Read", "a{sv}o", (body[0], "/no/session"))
    finally:
        mine.close()
        theirs.close()


@row("D04", "subscribers on the bus and beside it", "things change", "each hears each once, in order")
def d04(w):
    on_bus = w.program(w.executable("calendar"))
    try:
        on_bus.connect(w.address)
        subscribers = (w.mail, on_bus)
        for puppet in subscribers:
            puppet.pending_signals()
            puppet.subscribe(ONE)
        w.helper.unsubscribe()
        reference = w.mail.add(generic(Account="heard"), secret())[0]
        w.lock()
        w.unlock()
        w.admin.force_logout(ONE, "s", "over")
        for puppet in subscribers:
            signals = puppet.pending_signals()
            names = [signal.name for signal in signals]
            equal(names, ["ItemChanged", "LockStateChanged", "LockStateChanged", "LoggedOut"])
            equal(signals[0].arguments[2:4], (reference, "added"))
            numbers = [signal.arguments[0] for signal in signals]
            equal(numbers, list(range(numbers[0], numbers[0] + 4)), "the sequence")
        equal(w.helper.pending_signals(), [], "what one without a subscription hears")
    finally:
        on_bus.close()
        w.mail.unsubscribe()


@row("D05", "nobody's subscription", "the device is locked", "PropertiesChanged reaches every peer")
def d05(w):
    watcher = Connection(w.client_address)
    try:
        w.lock()
        w.unlock()
        for state in ("locked", "unlocked"):
            signal = watcher.next_signal()
            equal(signal.header.fields[HeaderFields.member], "PropertiesChanged")
            equal(signal.body[1]["State"], ("s", state))
    finally:
        watcher.close()


@row("D06", "a peer", "ListClients and Explain", "it is called direct:N, with its own process and program")
def d06(w):
    w.mail.find(generic())
    clients = {client["ProcessID"]: client for client in w.admin.list_clients()}
    mine = clients[w.mail.process.pid]
    holds(direct(mine["Connection"]), f"the name {mine['Connection']}")
    equal((mine["Application"], mine["AccessGroups"][:1]), ("org.test.Mail", [ONE]))
    explained = w.admin.explain(mine["Connection"], ONE)
    equal((explained["Application"], explained["Decision"]), ("org.test.Mail", "allow"))
    equal(w.admin.explain(f"pid:{w.mail.process.pid}", ONE)["Decision"], "allow")
    refused("IdentityUnavailable", w.admin.explain, "direct:999999", ONE)
    refused("Param", w.admin.explain, "mail", ONE)


@row("D07", "a peer that denies", "look at the log", "its direct name is in the line")
def d07(w):
    refused("MissingEntitlement", w.stranger.read, generic(AccessGroup=ONE))
    w.await_log("to org.test.Stranger (direct:", 1)


def busctl(world, *arguments):
    if shutil.which("busctl") is None:
        raise NotHere("busctl (systemd) is missing")
    done = subprocess.run(
        ["busctl", f"--address={world.client_address}", *arguments],
        env=world.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    equal(done.returncode, 0, f"busctl's status ({done.stderr.strip()})")
    return done.stdout


@row("D08", "busctl, which says Hello", "introspect, tree, get-property, a call", "as on a bus")
def d08(w):
    for interface in ("Items", "Subscriptions", "Manager"):
        holds(f"{BUS_NAME}.{interface}" in busctl(w, "introspect", BUS_NAME, OBJECT), f"{interface} is shown")
    holds(OBJECT in busctl(w, "tree", BUS_NAME), "the object is in the tree")
    equal(busctl(w, "get-property", BUS_NAME, OBJECT, MANAGER, "State"), 's "unlocked"\n')
    # Whoever is named as the destination, the one at the other end answers.
    equal(busctl(w, "get-property", "org.example.Nobody", OBJECT, MANAGER, "PasscodeSet"), "b true\n")


@row("D09", "busctl with an entitlement", "Store and Read in the ready session", "one call carries a secret")
def d09(w):
    program = os.path.realpath(shutil.which("busctl") or "busctl")
    text = f"[Application org.test.Busctl]\nExecutable={program}\nAccessGroups={ONE}\n"
    item = ("3", "Class", "s", "generic-password", "Service", "s", "by hand", "Account", "s", "a")
    with w.policy_file(text):
        call = ("call", BUS_NAME, OBJECT, ITEMS)
        stored = busctl(w, *call, "Store", "a{sv}(oayay)", *item, "/", "0", "3", "1", "2", "3")
        holds(stored.startswith("stb ") and stored.endswith(" true\n"), "it is stored")
        found = busctl(w, *call, "Read", "a{sv}o", *item, "/")
        holds(found.endswith('"/" 0 3 1 2 3\n'), "the secret comes back in the ready session")


@row("D10", "a client that knows no Hello", "it calls", "it is served")
def d10(w):
    connection = Connection(w.client_address, say_hello=False, destination=None)
    try:
        state = connection.call(OBJECT, "org.freedesktop.DBus.Properties", "Get", "ss", (MANAGER, "State"))
        equal(state, (("s", "unlocked"),))
        equal(connection.call(OBJECT, ITEMS, "Search", "a{sv}", (encode(generic()),)), ([],))
    finally:
        connection.close()


@row("D11", "an entitled connection", "another writes its name as the sender", "it is itself all the same")
def d11(w):
    attributes = add(w, "forged")
    clients = w.admin.list_clients()
    names = [client["Connection"] for client in clients if client["Application"] == "org.test.Mail"]
    for sender in (*(":" + name.replace(":", ".") for name in names), ":1.1", BUS_NAME):
        raw = RawPeer(w.socket).authenticate()
        raw.send(raw.message(ITEMS, "Read", "a{sv}o", (encode(attributes), "/"), sender=sender))
        holds(b"org.chatelaine.Error.ItemNotFound" in raw.socket.recv(1 << 16), f"nothing for {sender}")
        raw.close()


@row("D12", "a subscriber that goes", "look and force a logout", "nothing is kept of it")
def d12(w):
    late = w.puppet("calendar")
    late.subscribe(ONE)
    process = late.process.pid
    holds(process in [client["ProcessID"] for client in w.admin.list_clients()], "it is there")
    late.kill()
    # No event tells that the broker has seen it go, so this asks until it has.
    while process in [client["ProcessID"] for client in w.admin.list_clients()]:
        pass
    equal(w.admin.force_logout(ONE, "nothing", "")[1], 0, "subscribers told")
