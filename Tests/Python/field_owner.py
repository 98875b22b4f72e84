"""Failures of the field where another keyring has the name first, and where the desktop is none that programs know."""

import os
import subprocess

from connection import Connection
from expect import NotHere, Table, equal, generic, holds, same_secret, secret
from harness import REPOSITORY
from owner_stage import KEYRING, OwnerStage
from secret_words import NAME

TABLE = Table()
row = TABLE.row
CHROMIUM, PORTAL = "/usr/bin/chromium", "/usr/libexec/xdg-desktop-portal"
PORTAL_NAME, PORTAL_OBJECT = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
SWITCH = "--password-store=gnome-libsecret"


@row(
    "B162",
    "another provider has the name",
    "start, work, end that provider",
    "told its process and program; all else works; taken over",
)
def b162():
    with OwnerStage("yes") as s:
        s.world.stop()
        keyring = s.keyring()
        s.store("of the other's")
        s.world.start()
        s.world.await_log(f"process {keyring.pid}, {KEYRING} has {NAME}; the broker takes it when that lets go", 1)
        equal(s.line(), [s.owner(), s.broker], "who is in line")
        s.world.mail.add(generic(), secret())
        same_secret(s.world.calendar.read(generic()).secret, secret())
        s.install()
        result, detail, advice = s.doctor()["secret service"]
        equal(result, "weak")
        holds(f"process {keyring.pid}, {KEYRING}" in detail and str(keyring.pid) in advice, f"the doctor ({detail})")
        s.end(keyring)
        s.await_broker()
        s.store("of the broker's")
        equal((s.lookup(), s.doctor()["secret service"][0]), ("of the broker's", "ok"))


@row("B159-secrets", "another keyring's file alone, ours, none", "ask the doctor", "he says which file starts whom")
def b159_secrets():
    with OwnerStage(activates=True) as s:
        s.install()
        equal(s.doctor()["activation"][0], "absent", "where gnome-keyring's file is the first")
        s.turn("on")
        s.await_broker()
        holds(s.doctor()["activation"][1].startswith(s.link), "ours is the first")
        os.unlink(s.link)
        s.bus.bus_call("ReloadConfig")
        result, detail, advice = s.doctor()["activation"]
        equal((result, advice), ("weak", "chatelaine secret-service on"), f"with the name and without the file ({detail})")
    with OwnerStage() as s:
        s.install()
        # The system has a file which this bus does not read.
        result, detail, _ = s.doctor()["activation"]
        equal((result, "the bus has not read it" in detail), ("weak", True), f"({detail})")


def chromium(s, *switches):
    """Runs it once, to its end; the keys that it has stored."""
    profile = f"--user-data-dir={s.path('profile')}"
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", profile, *switches]
    ended = s.run(*command, "--dump-dom", "data:text/html,<p>hello</p>", XDG_CURRENT_DESKTOP="i3")
    holds(b"<p>hello</p>" in ended.output, f"Chromium runs ({ended})")
    found = s.run("/usr/bin/secret-tool", "search", "--all", "application", "chromium").output.decode()
    return [line for line in found.splitlines() if line.startswith("secret = ")]


@row("B169", "XDG_CURRENT_DESKTOP=i3, what Electron is made of", f"run it with {SWITCH}, twice", "one key, kept; the README has it")
def b169():
    if not os.access(CHROMIUM, os.X_OK):
        raise NotHere("chromium is missing")
    with OwnerStage() as s:
        s.await_broker()
        # One program here: what another stores is not seen by secret-tool else.
        with s.world.policy_file("[SecretService]\nIsolation=none\n"):
            keys = chromium(s, SWITCH)
            equal(len(keys), 1, "its keys")
            equal(chromium(s, SWITCH) == keys, True, "whether it finds its key again")
    with open(os.path.join(REPOSITORY, "README.md")) as file:
        text = file.read()
    (part,) = [part for part in text.split("\n## ") if part.startswith("Beside gnome-keyring")]
    for word in (SWITCH, "Chromium", "Electron", "VS Code"):
        holds(word in part, f"the README names {word}")


@row("B169-portal", "desktops that the portal knows and does not know", "start the portal, ask it", "it finds this backend")
def b169_portal():
    if not os.access(PORTAL, os.X_OK):
        raise NotHere("xdg-desktop-portal is missing")
    for desktop in ("GNOME", "i3", "KDE"):
        with OwnerStage() as s:
            s.await_broker()
            os.mkdir(s.path("portals"))
            for folder in (os.path.join(REPOSITORY, "dbus"), "/usr/share/xdg-desktop-portal/portals"):
                for name in filter(lambda name: name.endswith(".portal"), os.listdir(folder)):
                    with open(os.path.join(folder, name)) as file, open(s.path(f"portals/{name}"), "w") as copy:
                        copy.write(file.read())
            environment = {"XDG_CURRENT_DESKTOP": desktop, "XDG_DESKTOP_PORTAL_DIR": s.path("portals")}
            process = subprocess.Popen(
                [PORTAL], env=s.world.environment | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                with_portal(s)
            finally:
                process.kill()
                process.wait()


def with_portal(s):
    client = Connection(s.world.address, destination=PORTAL_NAME)
    client.bus_call("AddMatch", "s", (f"type='signal',member='NameOwnerChanged',arg0='{PORTAL_NAME}'",))
    while not client.bus_call("NameHasOwner", "s", (PORTAL_NAME,))[0]:
        client.next_signal()
    get = ("org.freedesktop.DBus.Properties", "Get", "ss", ("org.freedesktop.portal.Secret", "version"))
    equal(client.call(PORTAL_OBJECT, *get), (("u", 1),), "the portal's version of it")
    # Whichever file it has taken: both name the same backend, and that is who has the name.
    equal(s.owner(), s.broker)
    client.close()
