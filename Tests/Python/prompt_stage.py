"""Programs that want a collection opened, the real prompter, and a person at the desk."""

import contextlib
import fcntl
import os
import select
import subprocess
import termios
import threading

from jeepney import HeaderFields, MessageType, new_method_return
from jeepney.bus_messages import DBus
from jeepney.io.blocking import open_dbus_connection

from expect import equal, holds
from person import WAIT_SECONDS, Person
from programs import Programs

PROMPTER, PROMPTER_PATH = "org.chatelaine.Prompter1", "/org/chatelaine/Prompter1"
SECRETS, ROOT = "org.freedesktop.secrets", "/org/freedesktop/secrets"
LOGIN, SESSION = ROOT + "/collection/login", ROOT + "/collection/session"
CURSES = "/usr/bin/pinentry-curses"
SERVICE, PROMPT = "org.freedesktop.Secret.Service", "org.freedesktop.Secret.Prompt"
COLLECTION, PROPERTIES = "org.freedesktop.Secret.Collection", "org.freedesktop.DBus.Properties"


class Stage:
    def __init__(self, world):
        self.world = world
        self.programs = Programs(world, "chatelaine-prompter")
        self.person = Person(world.folder)
        self.activation = os.path.join(world.folder, "services", PROMPTER + ".service")
        self.show_display(":0")
        self.install_prompter()

    def close(self):
        self.person.close()

    def clear(self):
        """Ends the programs that the rows share, with their prompts, and every dialog."""
        for identity in list(self.world.puppets):
            self.world.puppets.pop(identity).kill()
        self.end_prompter()
        while self.person.sees_another():
            pass

    # The prompter

    def install_prompter(self, command=None):
        command = command or f"{self.programs.path('chatelaine-prompter')} --pinentry {self.person.pinentry}"
        with open(self.activation, "w") as file:
            file.write(f"[D-BUS Service]\nName={PROMPTER}\nExec={command}\n")
        self.world.watch.bus_call("ReloadConfig")

    @contextlib.contextmanager
    def without_prompter(self):
        os.unlink(self.activation)
        self.world.watch.bus_call("ReloadConfig")
        self.end_prompter()
        try:
            yield
        finally:
            self.install_prompter()

    @contextlib.contextmanager
    def without_display(self):
        self.show_display("")
        self.end_prompter()
        try:
            yield
        finally:
            self.show_display(":0")
            self.end_prompter()

    def show_display(self, display):
        self.world.watch.bus_call("UpdateActivationEnvironment", "a{ss}", ({"DISPLAY": display},))

    @property
    def prompter(self):
        """The prompter's process."""
        return self.world.watch.bus_call("GetConnectionUnixProcessID", "s", (PROMPTER,))[0]

    def end_prompter(self, number=9):
        """Ends the prompter that is there, and comes back when the bus knows it."""
        if self.has_owner(PROMPTER):
            with self.awaiting(PROMPTER, owned=False):
                os.kill(self.prompter, number)

    def restart_broker(self):
        with self.awaiting(SECRETS, owned=True):
            self.world.restart()

    def has_owner(self, name):
        return self.world.watch.bus_call("NameHasOwner", "s", (name,))[0]

    @contextlib.contextmanager
    def awaiting(self, name, *, owned):
        """Comes back when the name has an owner, or has none."""
        watch, rule = self.world.watch, f"type='signal',member='NameOwnerChanged',arg0='{name}'"
        watch.bus_call("AddMatch", "s", (rule,))
        yield
        while self.has_owner(name) != owned:
            watch.next_signal()
        watch.bus_call("RemoveMatch", "s", (rule,))
        watch.signals.clear()

    # Programs

    def locked(self, *programs):
        """A collection that the first of them has closed, and no dialog; all of them are known to the front."""
        self.world.unlock()
        for program in programs:
            program.secret_service(ROOT, SERVICE, "ReadAlias", "s", ("default",))
        programs[0].secret_service(ROOT, SERVICE, "Lock", "ao", ([LOGIN],))
        for program in programs:
            program.signals_so_far()
        equal(self.person.sees_another(), False, "whether a dialog is open")

    def prompt(self, program, paths=(LOGIN,)):
        """A prompt of the program, which nobody has performed."""
        unlocked, prompt = program.secret_service(ROOT, SERVICE, "Unlock", "ao", (list(paths),))
        equal(unlocked, [], "what is open")
        holds(prompt.startswith(ROOT + "/prompt/"), "there is a prompt")
        return prompt

    def ask(self, program, window="", paths=(LOGIN,)):
        """A prompt of the program, performed."""
        prompt = self.prompt(program, paths)
        program.secret_service(prompt, PROMPT, "Prompt", "s", (window,))
        return prompt

    def completed(self, program, prompt, *, opens, paths=(LOGIN,)):
        """The prompt's end as the program hears it, whose object is gone then, and what came before."""
        signals = program.signals_until("Completed")
        path, _, (dismissed, (signature, result)) = signals[-1]
        equal(path, prompt, "the prompt that is completed")
        equal(dismissed, not opens, "whether it was dismissed")
        equal((signature, list(result)), ("ao", list(paths) if opens else []), "the result")
        equal(self.is_locked(program), not opens, "whether the collection is locked")
        return [(path, name, body) for path, name, body in signals[:-1]]

    def is_locked(self, program, path=LOGIN):
        (value,) = program.secret_service(path, PROPERTIES, "Get", "ss", (COLLECTION, "Locked"))
        return value[1]

    def nothing_more(self, *programs):
        """No second Completed, and no second dialog."""
        for program in programs:
            equal(program.signals_so_far().count("Completed"), 0, "further ends of the prompt")
        equal(self.person.sees_another(), False, "whether there is another dialog")


class Terminal:
    """`with Terminal(stage) as terminal:` a prompter that was started by hand, and the desktop's own pinentry with it."""

    def __init__(self, stage):
        self.stage, self.shown = stage, b""

    def __enter__(self):
        self.end, inner = os.openpty()
        with self.stage.awaiting(PROMPTER, owned=True):
            self.process = subprocess.Popen(
                [self.stage.programs.path("chatelaine-prompter"), "--pinentry", CURSES],
                env=self.stage.world.environment | {"TERM": "xterm"},
                stdin=inner,
                stdout=inner,
                stderr=inner,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
        os.close(inner)
        return self

    def __exit__(self, *_):
        with self.stage.awaiting(PROMPTER, owned=False):
            self.process.kill()
        self.process.wait()
        os.close(self.end)

    def await_text(self, text):
        """Until it shows the text, after what it was awaited to show before."""
        while text not in self.shown:
            readable, _, _ = select.select([self.end], [], [], WAIT_SECONDS)
            holds(readable, f"the terminal shows {text!r}")
            self.shown += os.read(self.end, 1 << 16)
        self.shown = self.shown.partition(text)[2]

    def type(self, keys):
        os.write(self.end, keys)


class Thief:
    """`with Thief(address) as thief:` a program that has taken the prompter's name and says yes to everything."""

    def __init__(self, address):
        self.heard = []
        self.connection = open_dbus_connection(address)
        equal(self.connection.send_and_get_reply(DBus().RequestName(PROMPTER)).body, (1,), "who has the name")

    def __enter__(self):
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.connection.close()

    def _serve(self):
        while True:
            try:
                message = self.connection.receive()
            except (OSError, ValueError):
                return
            if message.header.message_type is not MessageType.method_call:
                continue
            self.heard.append(message.body)
            can_ask = message.header.fields[HeaderFields.member] == "CanAsk"
            answer = ("b", (True,)) if can_ask else (None, ())
            self.connection.send(new_method_return(message, *answer))
