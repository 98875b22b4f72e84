"""The contract's other forms: the introspection, the bus's configuration, and busctl alone."""

import contextlib
import json
import os
import subprocess
from xml.etree import ElementTree

import contract_policy
from chatelaine_client import ITEMS, MANAGER, OBJECT, SUBSCRIPTIONS
from connection import BUS_NAME
from expect import NotHere, Table, by_reference, equal, generic, holds, refused, same_secret, secret
from harness import REPOSITORY, World
from policy import FOREIGN, ONE, TWO
from portal_client import PortalClient
from stage import Stage

TABLE = Table()
row = TABLE.row
DBUS = "org.freedesktop.DBus."
STANDARD = {DBUS + "Peer", DBUS + "Introspectable", DBUS + "Properties"}
EMITS = DBUS + "Property.EmitsChangedSignal"
CONFIGURATION = os.path.join(REPOSITORY, "dbus", "org.chatelaine.Broker1.conf")
BUSCTL = "/usr/bin/busctl"
# What the same connection serves as org.freedesktop.secrets, and for the desktop's portal.
SECRET, PORTAL = "org.freedesktop.Secret.", "org.freedesktop.impl.portal."
SECRET_SERVICE = {
    SECRET + "Service": "OpenSession CreateCollection SearchItems Unlock Lock GetSecrets ReadAlias SetAlias",
    SECRET + "Collection": "Delete SearchItems CreateItem",
    SECRET + "Item": "Delete GetSecret SetSecret",
    SECRET + "Session": "Close",
    SECRET + "Prompt": "Prompt Dismiss",
    PORTAL + "Secret": "RetrieveSecret",
    PORTAL + "Request": "Close",
}


# The introspection


def written(name):
    return ElementTree.parse(os.path.join(REPOSITORY, "dbus", name)).getroot()


def introspected(puppet, path):
    return ElementTree.fromstring(puppet.raw_call(path, DBUS + "Introspectable", "Introspect", None, ())[0])


def members(node):
    """`{interface: {(kind, name): its signature}}`, with the names and directions of arguments in it."""
    return {
        interface.get("name"): {
            (member.tag, member.get("name")): description(member)
            for member in interface
            if member.tag in ("method", "signal", "property")
        }
        for interface in node.iter("interface")
    }


def description(member):
    if member.tag == "property":
        emits = [note.get("value") for note in member.iter("annotation") if note.get("name") == EMITS]
        return (member.get("type"), member.get("access"), emits[0] if emits else "true")
    direction = "in" if member.tag == "method" else "out"
    return [
        (argument.get("name"), argument.get("type"), argument.get("direction", direction))
        for argument in member.iter("arg")
    ]


def same_members(running, file):
    equal(set(running) - set(file), STANDARD, "the interfaces that the file does not have")
    equal(set(file) - set(running), set(), "the interfaces that the broker does not have")
    for interface, wanted in file.items():
        got = running[interface]
        equal(sorted(got), sorted(wanted), f"the members of {interface}")
        for member, signature in wanted.items():
            equal(got[member], signature, f"{interface} {member}")


@row("C01", "the broker's object", "Introspect", "the members, signatures and names of dbus/*.xml, no others")
def c01(w):
    same_members(members(introspected(w.mail, OBJECT)), members(written("org.chatelaine.Broker1.xml")))


@row("C02", "a session's object", "Introspect", "the members of dbus/*.Session.xml, no others")
def c02(w):
    path = w.mail.session_path()
    same_members(members(introspected(w.mail, path)), members(written("org.chatelaine.Broker1.Session.xml")))


@row(
    "C03", "properties and signals", "read each, watch them change", "the types of the XML; PropertiesChanged"
)
def c03(w):
    (values,) = w.mail.raw_call(OBJECT, DBUS + "Properties", "GetAll", "s", (MANAGER,))
    declared = {
        name: kind[0]
        for (tag, name), kind in members(written("org.chatelaine.Broker1.xml"))[MANAGER].items()
        if tag == "property"
    }
    equal(
        {name: signature for name, (signature, _) in values.items()},
        declared,
        "the properties and their types",
    )
    for name, value in values.items():
        refused(
            (DBUS + "Error.PropertyReadOnly", DBUS + "Error.AccessDenied"),
            w.mail.raw_call,
            OBJECT,
            DBUS + "Properties",
            "Set",
            "ssv",
            (MANAGER, name, value),
        )
    rule = f"type='signal',interface='{DBUS}Properties',member='PropertiesChanged',sender='{BUS_NAME}'"
    w.stranger.raw_bus_call("AddMatch", "s", (rule,))
    w.lock()
    changed = w.stranger.next_signal()
    equal((changed.name, changed.arguments[0]), ("PropertiesChanged", MANAGER))
    equal(changed.arguments[1]["State"], ("s", "locked"))
    equal(changed.arguments[1]["ProtectedDataAvailable"], ("b", False))
    w.stranger.raw_bus_call("RemoveMatch", "s", (rule,))


# The bus's configuration


@row("C04", "the bus's configuration", "compare it with the XML", "every member is allowed, and nothing else")
def c04(_):
    allowed = [
        (rule.get("send_interface"), rule.get("send_member"))
        for rule in ElementTree.parse(CONFIGURATION).getroot().iter("allow")
        if rule.get("send_destination") == BUS_NAME
    ]
    contract = [
        (interface, name)
        for file in ("org.chatelaine.Broker1.xml", "org.chatelaine.Broker1.Session.xml")
        for interface, found in members(written(file)).items()
        for kind, name in found
        if kind == "method"
    ]
    standard = [
        (DBUS + "Introspectable", "Introspect"),
        (DBUS + "Peer", "Ping"),
        (DBUS + "Peer", "GetMachineId"),
        (DBUS + "Properties", "Get"),
        (DBUS + "Properties", "GetAll"),
        (DBUS + "Properties", "Set"),
    ]
    secrets = [(name, member) for name, found in SECRET_SERVICE.items() for member in found.split()]
    equal(sorted(allowed), sorted(contract + standard + secrets), "the members that are allowed")


@row(
    "C05",
    "a bus with that configuration",
    "call what the contract has and what it has not",
    "let through; denied",
)
def c05(_):
    with World(bus_include=CONFIGURATION) as world:
        world.mail.store(generic(), secret())
        same_secret(world.calendar.read(generic()).secret, secret())
        world.mail.subscribe()
        world.lock()
        equal(world.mail.next_signal().name, "LockStateChanged")
        world.unlock()
        world.admin.list_clients()
        equal(len(introspected(world.mail, OBJECT)) > 3, True)
        denied = DBUS + "Error.AccessDenied"
        value = ("s", "x")
        refused(
            (DBUS + "Error.PropertyReadOnly", denied),
            world.mail.raw_call,
            OBJECT,
            DBUS + "Properties",
            "Set",
            "ssv",
            (MANAGER, "State", value),
        )
        for interface, member, signature, body in (
            (ITEMS, "Destroy", None, ()),
            (MANAGER, "Backup", None, ()),
            ("org.chatelaine.Nothing", "Read", None, ()),
            (DBUS + "ObjectManager", "GetManagedObjects", None, ()),
        ):
            refused(denied, world.mail.raw_call, OBJECT, interface, member, signature, body)


@row(
    "C05-secrets",
    "a bus with that configuration",
    "call all that org.freedesktop.secrets and the portal's backend have",
    "every call reaches the broker",
)
def c05_secrets(_):
    unknown = tuple(DBUS + "Error.Unknown" + what for what in ("Object", "Method", "Interface"))
    with World(bus_include=CONFIGURATION) as world:
        anybody = PortalClient(world.address)
        for interface, found in SECRET_SERVICE.items():
            for member in found.split():
                # Nothing is at this path: only the broker can say so.
                refused(unknown, anybody.call, "/nothing/here", interface, member)
        refused(DBUS + "Error.AccessDenied", anybody.call, "/nothing/here", SECRET + "Service", "Destroy")
        anybody.close()
        path = world.mail.create_secret({"name": "through the bus"}, b"secret")
        equal(world.mail.search_secret_service({"name": "through the bus"}), [path])


# busctl alone


def busctl(world, *arguments, fails_with=None):
    """busctl's output, in JSON where it has values; its standard error where it has to fail."""
    if not os.access(BUSCTL, os.X_OK):
        raise NotHere("busctl is missing")
    command = [*world.wrap, BUSCTL, "--user", "--json=short", *arguments]
    done = subprocess.run(command, env=world.environment, capture_output=True, text=True, timeout=60)
    if fails_with is not None:
        holds(
            done.returncode != 0 and fails_with in done.stderr,
            f"busctl fails with {fails_with} ({done.stderr})",
        )
        return done.stderr
    equal((done.returncode, done.stderr), (0, ""), "busctl's exit status and errors")
    return done.stdout


def manager(world, member, *arguments, **options):
    return busctl(world, "call", BUS_NAME, OBJECT, MANAGER, member, *arguments, **options)


def state(world):
    return json.loads(busctl(world, "get-property", BUS_NAME, OBJECT, MANAGER, "State"))["data"]


@contextlib.contextmanager
def busctl_as_manager(w):
    """The policy with busctl among its managers."""
    path = os.path.join(w.folder, "policy", "50-test.conf")
    with open(path) as file:
        before = file.read()
    with open(path, "w") as file:
        file.write(before.replace("[Manager]\n", f"[Manager]\nExecutable={BUSCTL}\n"))
    w.admin.reload_policy()
    try:
        yield
    finally:
        with open(path, "w") as file:
            file.write(before)
        w.admin.reload_policy()


@row("C06", "busctl", "introspect", "every interface, with the contract's signatures")
def c06(w):
    found = [line.split()[:4] for line in busctl(w, "introspect", BUS_NAME, OBJECT).splitlines()]
    for interface in (ITEMS, SUBSCRIPTIONS, MANAGER):
        holds([interface, "interface", "-", "-"] in found, f"{interface} is listed")
    for member in (
        [".Add", "method", "a{sv}(oayay)", "st"],
        [".Store", "method", "a{sv}(oayay)", "stb"],
        [".Read", "method", "a{sv}o", "a{sv}(oayay)"],
        [".ReadAll", "method", "a{sv}o", "a(a{sv}(oayay))"],
        [".Search", "method", "a{sv}", "aa{sv}"],
        [".Update", "method", "a{sv}a{sv}a(oayay)", "u"],
        [".Delete", "method", "a{sv}", "u"],
        [".Logout", "method", "sss", "ut"],
        [".OpenSession", "method", "sv", "vo"],
        [".Subscribe", "method", "as", "sa(st)t"],
        [".LoggedOut", "signal", "tssts", "-"],
        [".ForceLogout", "method", "sss", "uut"],
        [".State", "property", "s", '"unlocked"'],
    ):
        holds(member in found, f"{' '.join(member)} is listed")


@row(
    "C07",
    "busctl, not in the policy",
    "each administrator's call",
    "AccessDenied; the state is anybody's to read",
)
def c07(w):
    equal(state(w), "unlocked")
    for call in (
        ("ReloadPolicy",),
        ("ListClients",),
        ("ListGroups",),
        ("Check",),
        ("Explain", "ss", "pid:1", ONE),
    ):
        # busctl shows an error's text and not its name.
        manager(w, *call, fails_with="[Manager] in the policy")
    manager(w, "ForceLogout", "sss", ONE, "", "x", fails_with="[Manager] in the policy")


@row(
    "C08",
    "busctl in [Manager]",
    "lock, log out, reload, explain, list, read the state",
    "each does what it says",
)
def c08(w):
    reference, _ = w.mail.add(generic(Service="svc"), secret())
    w.mail.subscribe(ONE)
    with busctl_as_manager(w):
        equal(state(w), "unlocked")
        manager(w, "Lock")
        equal((state(w), w.mail.next_signal().arguments[1:]), ("locked", ("locked", False)))
        deleted, told, epoch = json.loads(manager(w, "ForceLogout", "sss", ONE, "svc", "by hand"))["data"]
        equal((deleted, told), (1, 1))
        equal(w.mail.next_signal().arguments[1:], (ONE, "svc", epoch, "by hand"))
        w.unlock()
        refused("ItemNotFound", w.mail.read, by_reference(reference))
        equal(json.loads(manager(w, "ReloadPolicy"))["data"], [[]], "the warnings")
        (clients,) = json.loads(manager(w, "ListClients"))["data"]
        mail = [one for one in clients if one["Application"]["data"] == "org.test.Mail"]
        equal([one["AccessGroups"]["data"] for one in mail], [[ONE, TWO]])
        equal(mail[0]["ProcessID"]["data"], w.mail.process.pid)
        for target in (f"pid:{w.mail.process.pid}", mail[0]["Connection"]["data"]):
            (found,) = json.loads(manager(w, "Explain", "ss", target, ONE))["data"]
            equal((found["Application"]["data"], found["Decision"]["data"]), ("org.test.Mail", "allow"))
            holds("50-test.conf:" in found["Policy"]["data"], "the line that decided is named")
            (found,) = json.loads(manager(w, "Explain", "ss", target, FOREIGN))["data"]
            equal(found["Decision"]["data"], "deny")
            holds(found["Reasons"]["data"], "the reasons are given")
        w.mail.add(generic(Accessible="after-first-unlock"), secret())
        equal(json.loads(manager(w, "ListGroups"))["data"], [[[ONE, 1, 0]]])
        holds("damaged" in manager(w, "Check").lower(), "Check counts damaged rows")


def run(report):
    with contextlib.closing(Stage()) as stage:
        for row in TABLE.rows + contract_policy.TABLE.rows:
            report.play(row, lambda row=row: row.play(stage.emptied()))
