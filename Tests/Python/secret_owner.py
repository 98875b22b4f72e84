"""Whose `org.freedesktop.secrets` is: beside a real gnome-keyring, taken over and given back, and not for who grabs it."""

import os

from connection import Connection
from expect import Table, equal, generic, holds, refused, same_secret, secret
from fake_prompter import FakePrompter
from field_start import processes_of
from owner_stage import KEYRING, PLACE, TOOL, WORDS, OwnerStage
from secret_client import SecretClient
from secret_words import LOGIN, NAME, NO_OBJECT, ROOT, SERVICE

TABLE = Table()
row = TABLE.row
ALLOW_REPLACEMENT, REPLACE, DO_NOT_QUEUE = 1, 2, 4
HAS_IT, IN_LINE, NO, NOT_OWNER = 1, 2, 3, 3
UNKNOWN = tuple("org.freedesktop.DBus.Error." + what for what in ("UnknownObject", "UnknownMethod"))
IS_FREE, SYSTEMS = (lambda owner: owner is None), "/usr/share/dbus-1/services/org.freedesktop.secrets.service"


def native_works(s):
    s.world.mail.store(generic(), secret())
    same_secret(s.world.mail.read(generic()).secret, secret())


@row("OW01", "SecretService=auto, a keyring that has the name", "start, end the keyring", "left alone, said whose it is")
def left_alone():
    with OwnerStage() as s:
        s.world.stop()
        keyring = s.keyring()
        s.world.start()
        s.world.await_log(f"process {keyring.pid}, {KEYRING} has {NAME}; existing programs go on", 1)
        native_works(s)
        s.install()
        result, detail, advice = s.doctor()["secret service"]
        equal((result, advice), ("absent", "chatelaine secret-service on takes it over."))
        holds(f"process {keyring.pid}, {KEYRING} has" in detail, f"it says whose it is ({detail})")
        s.end(keyring)
        s.await_owner(IS_FREE)
        native_works(s)
        equal(s.owner(), None, "who takes it then")
        equal(s.doctor()["secret service"][:2], ("absent", f"nobody has {NAME}"))


@row("OW02", "SecretService=auto, another keyring's activation file", "start, look something up", "that one is started")
def another_is_installed():
    with OwnerStage(activates=True) as s:
        s.world.await_log(f"{SYSTEMS} keeps {NAME} for another keyring", 1)
        equal(s.owner(), None)
        native_works(s)
        s.install()
        found = s.doctor()
        equal(found["activation"][:2], ("absent", f"{SYSTEMS} starts {KEYRING} --start --foreground --components=secrets"))
        equal(s.lookup(), "")
        holds(s.is_keyring(s.process_of(NAME)), "the bus has started gnome-keyring")


@row("OW03", "SecretService=no", "start", "the name is anybody's, the rest works")
def never():
    with OwnerStage("no") as s:
        native_works(s)
        equal(s.owner(), None)
        keyring = s.keyring()
        native_works(s)
        equal(s.process_of(NAME), keyring.pid)


@row("OW04", "an installed keyring in use", "on, off, on", "taken over, given back; each keeps what it has")
def over_and_back():
    with OwnerStage(activates=True) as s:
        s.install()
        keyring = s.keyring()
        s.store("in gnome-keyring")
        changes = s.turn("on")
        equal(s.link in " ".join(changes) and s.config in " ".join(changes), True, f"what it says ({changes})")
        equal(os.readlink(s.link), s.path("prefix/" + PLACE), "where the link leads")
        result, detail, advice = s.doctor()["secret service"]
        equal((result, f"process {keyring.pid}, {KEYRING} has" in detail), ("weak", True), f"({detail})")
        holds(advice.endswith(f"kill {keyring.pid}"), f"what to do ({advice})")
        equal(s.lookup(), "in gnome-keyring", "what is there until then")
        s.end(keyring)
        s.await_broker()
        equal(s.lookup(), "")
        s.store("in chatelaine")
        found = s.doctor()
        equal(found["secret service"][0], "ok")
        equal((found["activation"][0], found["activation"][1].startswith(s.link)), ("ok", True))
        holds(f"hides {SYSTEMS}" in found["activation"][1], "the file behind it is named")
        # One that is in line has it at once, with what it had.
        keyring = s.keyring(b"another secret service is running")
        s.turn("off")
        equal(s.process_of(NAME), keyring.pid)
        equal(os.path.lexists(s.link), False)
        equal(s.lookup(), "in gnome-keyring", "what the other still has")
        equal(s.doctor()["secret service"][0], "absent")
        native_works(s)
        # One that is not is started by its own file.
        s.end(keyring)
        s.await_owner(IS_FREE)
        s.lookup()
        keyring = s.process_of(NAME)
        holds(s.is_keyring(keyring), "the bus has started gnome-keyring")
        s.turn("on")
        os.kill(keyring, 9)
        s.await_broker()
        equal(s.lookup(), "in chatelaine", "what was stored before")


@row("OW05", "files of the user's own, and what keeps gnome-keyring from starting", "on, off", "his stay, ours go")
def files():
    with OwnerStage(activates=True) as s:
        s.install()
        autostart = s.path("config/autostart/gnome-keyring-secrets.desktop")
        units = [f"config/systemd/user/gnome-keyring-daemon.{kind}.d/chatelaine.conf" for kind in ("service", "socket")]
        ours = [autostart, *map(s.path, units)]
        equal(s.doctor()["other keyrings"][0], "absent")
        s.turn("on")
        texts = [open(path).read() for path in ours]
        holds("Hidden=true" in texts[0], "the autostart file is hidden")
        for text in texts[1:]:
            # The condition is not met for as long as the broker's program is there.
            holds(f"\nConditionPathExists=!{s.path('prefix/bin/chatelained')}\n" in text, f"the unit's condition ({text})")
        equal(s.doctor()["other keyrings"][0], "ok")
        s.turn("on")
        s.turn("off")
        equal([os.path.lexists(path) for path in ours], [False] * 3)
        with open(autostart, "w") as file:
            file.write("[Desktop Entry]\nHidden=false\n")
        os.symlink("/etc/hostname", s.link)
        ended = s.chatelaine("secret-service", "on")
        equal((ended.status, s.link in ended.errors), (5, True), f"a link of his own ({ended.errors})")
        s.turn("off")
        equal((os.readlink(s.link), open(autostart).read()), ("/etc/hostname", "[Desktop Entry]\nHidden=false\n"))


@row("OW06", "sessions and a prompt of the broker's", "give the name back", "gone, dismissed; nothing else ends")
def given_back():
    with OwnerStage("yes") as s:
        s.install()
        s.await_broker()
        s.world.set_passcode()
        client = SecretClient(s.world.address)
        path = client.create("l", {"name": "l"}, b"secret")
        client.call(ROOT, SERVICE, "Lock", "ao", ([LOGIN],))
        with FakePrompter(s.world.address) as prompter:
            client.connection.destination = s.broker
            _, prompt = client.call(ROOT, SERVICE, "Unlock", "ao", ([LOGIN],))
            client.call(prompt, "org.freedesktop.Secret.Prompt", "Prompt", "s", ("",))
            cookie = prompter.next_call("Ask")[0][0]
            s.turn("off")
            equal(prompter.next_call("Withdraw")[0][0], cookie, "the question that is withdrawn")
        while (message := client.connection.next_signal()).header.fields[3] != "Completed":
            pass
        equal(message.body[0], True, "whether it was dismissed")
        equal(s.owner(), None)
        for path in (ROOT, LOGIN, path, client.session_path(), prompt):
            refused((*UNKNOWN, NO_OBJECT), client.call, path, SERVICE, "ReadAlias", "s", ("default",))
        native_works(s)
        # Who takes it again finds closed what was closed.
        s.turn("on")
        s.await_broker()
        client.forget_session()
        equal(client.get(LOGIN, "org.freedesktop.Secret.Collection", "Locked"), True)
        client.close()


@row("OW07", "the broker has the name", "another program asks for it in every way", "it does not get it")
def grabbed():
    for mode in (None, "yes"):
        with OwnerStage(mode) as s:
            s.await_broker()
            thief = Connection(s.world.address)
            for flags in (REPLACE | DO_NOT_QUEUE, REPLACE | ALLOW_REPLACEMENT | DO_NOT_QUEUE, DO_NOT_QUEUE):
                equal(thief.bus_call("RequestName", "su", (NAME, flags))[0], NO, f"the answer to flags {flags}")
            equal(thief.bus_call("RequestName", "su", (NAME, REPLACE | ALLOW_REPLACEMENT))[0], IN_LINE)
            s.store("the password")
            equal((s.owner(), s.lookup()), (s.broker, "the password"))
            # Another's place in the line is not to be had either.
            other = Connection(s.world.address)
            equal(other.bus_call("ReleaseName", "s", (NAME,))[0], NOT_OWNER)
            s.install()
            holds(f"next in line is process {os.getpid()}" in s.doctor()["secret service"][1], "the doctor names it")
            other.close()
            thief.close()


@row("OW08", "an owner that lets itself be replaced", "start with yes, and with auto", "taken at once; left alone")
def replaceable():
    for mode, taken in (("yes", True), ("auto", False)):
        with OwnerStage(mode) as s:
            s.world.stop()
            polite = Connection(s.world.address)
            equal(polite.bus_call("RequestName", "su", (NAME, ALLOW_REPLACEMENT))[0], HAS_IT)
            s.world.start()
            equal(s.owner(), s.broker if taken else polite.unique_name)
            polite.close()


@row("OW09", "a broker that is started again and again", "look as soon as it has either name", "it has both, and the items")
def both_names():
    with OwnerStage() as s:
        s.await_broker()
        client = SecretClient(s.world.address)
        # What an older connection's evidence is worth stays the same from here on.
        s.world.restart()
        client.create("l", {"name": "l"}, b"the password")
        for _ in range(20):
            s.world.stop()
            s.await_owner(IS_FREE)
            s.bus.signals.clear()
            s.world.process = s.world.launch()
            while s.bus.next_signal().body[0] != NAME:
                pass
            equal(len(client.search({"name": "l"})[0]), 1, "what the first call finds")
            # Whoever sees the broker's own name finds this one too, whoever it is that asks.
            s.world.await_owner(True)
            equal(s.owner(), s.broker)
        client.close()


@row("OW10", "a broker that does not run", "eight programs at once, by the activation file", "one broker, for all of them")
def activated():
    with OwnerStage(activates=True) as s:
        s.install()
        s.turn("on")
        s.await_broker()
        s.store("the password")
        s.world.stop()
        s.await_owner(IS_FREE)
        holds(NAME in s.bus.bus_call("ListActivatableNames")[0], "clients see that it can be started")
        clients = [Connection(s.world.address, destination=NAME) for _ in range(8)]
        serials = [client.send(ROOT, SERVICE, "SearchItems", "a{ss}", ({"service": "mail"},)) for client in clients]
        for client, serial in zip(clients, serials, strict=True):
            client.reply(serial)
            client.close()
        equal(s.lookup(), "the password")
        equal(processes_of(s.world), [s.process_of(NAME)], "the brokers")
        s.await_broker()
        for number in processes_of(s.world):
            os.kill(number, 15)
        s.await_owner(IS_FREE)


@row("OW11", "configurations with mistakes", "reload", "refused whole, with file and line; all goes on")
def mistakes():
    with OwnerStage() as s:
        s.install()
        s.await_broker()
        os.makedirs(os.path.dirname(s.config))
        for text, line in (("[Broker]\nSecretService=perhaps\n", 2), ("[Broker]\n\nAllowPlain=yes\n", 3), ("[Manager]\n", 1)):
            with open(s.config, "w") as file:
                file.write(text)
            error = refused("PolicyInvalid", s.world.admin.reload_policy)
            holds(f"chatelained.conf:{line}:" in error.text, f"the line ({error.text})")
            equal(s.owner(), s.broker)
        with open(s.config, "w") as file:
            file.write("[Broker]\nSecretService=no\n")
        s.world.admin.reload_policy()
        s.await_owner(IS_FREE)
        os.unlink(s.config)
        s.world.admin.reload_policy()
        s.await_broker()


def run(report):
    for one in TABLE.rows:
        report.play(one, one.play)
