"""Moving in, as tests play it: `chatelaine import`, files of other programs, and a real gnome-keyring beside the broker."""

import json
import os
import shutil
import subprocess

from connection import Connection
from expect import NotHere
from harness import REPOSITORY, START_SECONDS
from private_bus import PrivateBus
from programs import Programs
from secret_client import SecretClient
from secret_words import NAME
from terminal import Terminal

KEYRING_PASSWORD = "conformance"
PYTHON = "/usr/bin/python3"
PROMPTER = os.path.join(REPOSITORY, "Tests/Conformance/lib/gcr-prompter.py")
PROMPTER_NAME = "org.gnome.keyring.SystemPrompter"


class Command(Programs):
    """`chatelaine`, which the policy makes a manager, beside other programs of the command line."""

    def __init__(self, world, *names):
        super().__init__(world, "chatelaine", *names)
        with open(os.path.join(world.folder, "policy", "50-test.conf"), "a") as file:
            file.write(f"Executable={self.path('chatelaine')}\n")
        world.admin.reload_policy()

    def chatelaine(self, *arguments, **environment):
        return self.run("chatelaine", "--address", self.world.client_address, *arguments, **environment)

    def bring(self, *arguments, status=0, **environment):
        """`import` with JSON: what it says it did."""
        ended = self.chatelaine("--json", "import", *arguments, **environment)
        if ended.status != status:
            raise AssertionError(f"import ended with {ended}, not with status {status}")
        return json.loads(ended.output)

    def started(self, *arguments):
        """A process of `chatelaine` while it runs."""
        command = [self.path("chatelaine"), "--address", self.world.client_address, *arguments]
        return subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def at_terminal(self, *arguments, **environment):
        """The same at a terminal, with a person who reads it."""
        command = [self.path("chatelaine"), "--address", self.world.client_address, "import", *arguments]
        return Terminal(command, self.environment | environment, self.world.folder)


class OtherKeyring:
    """gnome-keyring on a bus of its own, or on one that is there, with its folders below `folder`."""

    def __init__(self, folder, environment, *, address=None, prompter=False, files=None):
        if shutil.which("gnome-keyring-daemon") is None:
            raise NotHere("gnome-keyring is not on this machine")
        if prompter and not self._has_prompter():
            raise NotHere("a scripted person needs gir1.2-gcr-3 and python3-gi")
        self.folder = os.path.join(folder, "other-keyring")
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("home", "run", "data/keyrings"):
            os.makedirs(os.path.join(self.folder, name), 0o700)
        for name, text in (files or {}).items():
            with open(os.path.join(self.folder, "data/keyrings", name), "w") as file:
                file.write(text)
        self.environment = environment | {
            "HOME": os.path.join(self.folder, "home"),
            "XDG_RUNTIME_DIR": os.path.join(self.folder, "run"),
            "XDG_DATA_HOME": os.path.join(self.folder, "data"),
            "GCR_PROMPTER_SCRIPT": self.script,
        }
        self.processes, self.bus, self.watch, self.client = [], None, None, None
        try:
            self._begin(address, prompter)
        except BaseException:
            self.close()
            raise

    def _begin(self, address, prompter):
        if not address:
            self.bus = PrivateBus(self.folder, f"unix:path={self.folder}/own-bus").__enter__()
        self.address = address or self.bus.address
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.address
        self.watch = Connection(self.address)
        self.watch.bus_call("AddMatch", "s", ("type='signal',member='NameOwnerChanged'",))
        if prompter:
            self._start([PYTHON, PROMPTER, KEYRING_PASSWORD], PROMPTER_NAME)
        self.start()

    @staticmethod
    def _has_prompter():
        words = "import gi; gi.require_version('Gcr', '3'); from gi.repository import Gcr"
        return subprocess.run([PYTHON, "-c", words], stderr=subprocess.DEVNULL).returncode == 0

    @property
    def script(self):
        return os.path.join(self.folder, "prompter")

    def answers(self, line):
        """How the person answers its questions from here on."""
        with open(self.script, "w") as file:
            file.write(line + "\n")

    def start(self, *, unlocked=True):
        """The daemon, with its login keyring open unless it is to start locked."""
        control = os.path.join(self.folder, "run/keyring")
        mode = "--unlock" if unlocked else "--start"
        self.daemon = self._start(
            ["gnome-keyring-daemon", "--foreground", mode, "--components=secrets", f"--control-directory={control}"],
            NAME,
            KEYRING_PASSWORD if unlocked else "",
        )
        self.client = SecretClient(self.address)

    def restart(self, *, unlocked=True):
        self.client.close()
        self.daemon.terminate()
        self.daemon.wait(START_SECONDS)
        self.processes.remove(self.daemon)
        while self.watch.bus_call("NameHasOwner", "s", (NAME,))[0]:
            self.watch.next_signal()
        self.start(unlocked=unlocked)

    def _start(self, command, name, given=""):
        process = subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.processes.append(process)
        # No newline: it would be part of the password.
        process.stdin.write(given)
        process.stdin.close()
        while not self.watch.bus_call("NameHasOwner", "s", (name,))[0]:
            self.watch.next_signal(timeout=START_SECONDS)
        return process

    def close(self):
        for connection in (self.client, self.watch):
            if connection:
                connection.close()
        for process in reversed(self.processes):
            process.terminate()
            process.wait(START_SECONDS)
        if self.bus:
            self.bus.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)
