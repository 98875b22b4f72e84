"""Pictures of what a person is shown: the real prompter, a real pinentry and an X server, and the test's own hands.

They are left in .build/prompts; `cp .build/prompts/*.png docs/images/` takes them into the documentation.
"""

import os
import select
import shutil
import subprocess
import time

from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from harness import PASSCODE, REPOSITORY, SetUpFailed, World
from presence_finger import reader
from presence_polkit import polkit
from presence_stage import PresenceStage, gated

TABLE = Table()
row = TABLE.row
PINENTRY = "/usr/bin/pinentry-gtk-2"
PROGRAMS = {"Xvfb": "xvfb", "xdotool": "xdotool", "convert": "imagemagick", PINENTRY: "pinentry-gtk2"}
PICTURES = os.path.join(REPOSITORY, ".build", "prompts")
WAIT_SECONDS = 20
# A window that has nothing drawn in it has fewer.
COLORS_MIN = 8


class Screen:
    """`with Screen() as screen:` an X server that nobody sees, and a hand at its keys."""

    def __enter__(self):
        reader, writer = os.pipe()
        command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
        self.server = subprocess.Popen(command, pass_fds=(writer,), stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            ready = select.select([pipe], [], [], WAIT_SECONDS)[0]
            number = pipe.readline().strip() if ready else ""
        if not number:
            self.__exit__()
            raise SetUpFailed("the X server does not start")
        self.display = ":" + number
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()

    def run(self, *command):
        environment = os.environ | {"DISPLAY": self.display}
        done = subprocess.run(command, env=environment, capture_output=True, timeout=WAIT_SECONDS, check=True)
        return done.stdout.decode().strip()

    def window(self):
        """The dialog that is there, once it is."""
        found = self.run("xdotool", "search", "--sync", "--onlyvisible", "--name", "^Chatelaine$")
        return found.splitlines()[-1]

    def next_window(self, window):
        """The dialog that comes in the place of that one."""
        ends = time.monotonic() + WAIT_SECONDS
        while (other := self.window()) == window:
            holds(time.monotonic() < ends, "another dialog comes")
        return other

    def picture(self, name, window=None):
        """Takes one of the dialog, once it has drawn itself."""
        window = window or self.window()
        path = os.path.join(PICTURES, f"{name}.png")
        before, now, ends = None, self.look(window), time.monotonic() + WAIT_SECONDS
        while now != before or int(now.split()[1]) < COLORS_MIN:
            holds(time.monotonic() < ends, "the dialog has drawn itself")
            before, now = now, self.look(window)
        self.run("import", "-window", window, "-strip", "-colors", "64", f"png8:{path}")
        holds(os.path.getsize(path) > 1000, "the picture shows something")
        return window

    def look(self, window):
        """A digest of what it shows, and how many colors that has."""
        return self.run("import", "-window", window, "-format", "%# %k", "info:-")

    def type(self, window, text):
        self.run("xdotool", "windowfocus", "--sync", window)
        self.run("xdotool", "type", text)
        self.run("xdotool", "key", "Return")


@row("PP01", "a passcode item", "Read; the passcode is typed in pinentry's window", "a picture; the secret")
def passcode(stage, screen):
    stage.mail.add(gated("device-passcode"), secret())
    stage.mail.start("read", generic(), interactive=True)
    screen.type(screen.picture("passcode"), PASSCODE.decode())
    same_secret(stage.mail.finish().secret, secret())


@row("PP02", "a passcode item", "Update; a wrong passcode is typed, and Escape", "a picture of what is said; -128")
def wrong(stage, screen):
    stage.mail.add(gated("device-passcode"), secret())
    stage.mail.start("update", generic(), {"Comment": "c"}, interactive=True)
    window = screen.window()
    screen.type(window, "wrong")
    window = screen.picture("passcode-again", screen.next_window(window))
    screen.run("xdotool", "windowfocus", "--sync", window)
    screen.run("xdotool", "key", "Escape")
    equal(refused("UserCanceled", stage.mail.finish).code, -128)


@row("PP03", "a presence item, no passcode", "Read; the one button is pressed", "a picture; -128")
def password(stage, screen):
    with polkit(stage) as service:
        stage.mail.start("read", generic(), interactive=True)
        window = screen.picture("password")
        service.asked()
        screen.run("xdotool", "windowfocus", "--sync", window)
        screen.run("xdotool", "key", "Return")
        equal(refused("UserCanceled", stage.mail.finish).code, -128)


@row("PP05", "a finger item", "Read; the one button is pressed", "a picture; -128")
def finger(stage, screen):
    with reader(stage) as service:
        stage.mail.start("read", generic(), interactive=True)
        service.found()
        window = screen.picture("finger")
        service.claimed()
        screen.run("xdotool", "windowfocus", "--sync", window)
        screen.run("xdotool", "key", "Return")
        equal(refused("UserCanceled", stage.mail.finish).code, -128)


@row("PP04", "a closed collection", "a program prompts; the passcode is typed", "a picture; open")
def unlock(stage, screen):
    stage.locked(stage.mail)
    prompt = stage.ask(stage.mail)
    screen.type(screen.picture("unlock"), PASSCODE.decode())
    stage.completed(stage.mail, prompt, opens=True)


def run(report):
    os.makedirs(PICTURES, exist_ok=True)
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if missing:
        for one in TABLE.rows:
            report.play(one, lambda: absent(missing))
        return
    with World(passcode=True) as world, Screen() as screen:
        stage = PresenceStage(world)
        command = f"{stage.programs.path('chatelaine-prompter')} --pinentry {PINENTRY}"
        stage.install_prompter(command)
        stage.show_display(screen.display)
        for one in TABLE.rows:
            report.play(one, lambda one=one: play(stage, screen, one))
        stage.close()


def play(stage, screen, one):
    try:
        stage.begin()
        one.play(stage, screen)
    except BaseException:
        stage.clear()
        raise


def absent(packages):
    raise NotHere(f"needs Debian's {' '.join(packages)}")
