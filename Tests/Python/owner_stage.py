"""A world with another keyring in it: a real gnome-keyring, the bus's own activation files, an installed chatelaine."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess

from connection import BUS_NAME, BrokerError, Connection
from expect import NotHere, equal, holds
from harness import REPOSITORY, SetUpFailed, World, daemon_path
from programs import WAIT_SECONDS, Ended
from puppets import HERE
from secret_words import NAME

KEYRING, TOOL = "/usr/bin/gnome-keyring-daemon", "/usr/bin/secret-tool"
STANDARD_SERVICES = os.path.join(HERE, "standard-services.conf")
PLACE = "share/chatelaine/services/org.freedesktop.secrets.service"
WORDS = ("service", "mail", "user", "a")


class OwnerStage:
    """`with OwnerStage(...) as s:` without a passcode. `mode` is what the configuration says of the Secret Service.

    `activates` has the bus read the activation files of the user and of the machine, gnome-keyring's among them.
    """

    def __init__(self, mode=None, *, activates=False):
        for program in (KEYRING, TOOL):
            if not os.access(program, os.X_OK):
                raise NotHere(f"{program} is missing (Debian: gnome-keyring, libsecret-tools)")
        text = f"[Broker]\nSecretService={mode}\n" if mode else ""
        include = STANDARD_SERVICES if activates else None
        self.world = World(passcode=False, direct=False, configuration=text, bus_include=include)
        self.keyrings = []

    def __enter__(self):
        self.world.__enter__()
        self.bus = Connection(self.world.address)
        for name in (NAME, BUS_NAME):
            self.bus.bus_call("AddMatch", "s", (f"type='signal',member='NameOwnerChanged',arg0='{name}'",))
        return self

    def __exit__(self, *_):
        if self.is_keyring(started := self.process_of(NAME)):
            # The bus has started it, for this stage alone.
            with contextlib.suppress(ProcessLookupError):
                os.kill(started, signal.SIGKILL)
        for process in self.keyrings:
            process.kill()
            process.wait()
            process.stdout.close()
        self.bus.close()
        self.world.close()

    def path(self, name):
        return os.path.join(self.world.folder, name)

    # The name

    def owner(self, name=NAME):
        """The unique name of who has it; None for nobody."""
        try:
            return self.bus.bus_call("GetNameOwner", "s", (name,))[0]
        except BrokerError:
            return None

    @property
    def broker(self):
        return self.owner(BUS_NAME)

    def process_of(self, name):
        try:
            return self.bus.bus_call("GetConnectionUnixProcessID", "s", (name,))[0]
        except BrokerError:
            return None

    @staticmethod
    def is_keyring(process):
        try:
            return os.readlink(f"/proc/{process}/exe") == KEYRING
        except OSError:
            return False

    def line(self):
        """Who has it and who waits for it."""
        return self.bus.bus_call("ListQueuedOwners", "s", (NAME,))[0] if self.owner() else []

    def await_owner(self, wanted):
        """Until the one that `wanted` takes for right has it."""
        while not wanted(self.owner()):
            self.bus.next_signal()

    def await_broker(self):
        self.await_owner(lambda owner: owner is not None and owner == self.broker)

    # The other keyring

    def keyring(self, wait_for=None):
        """A gnome-keyring that has the name, or what it says when another has it."""
        process = subprocess.Popen(
            [KEYRING, "--foreground", "--unlock", "--components=secrets", f"--control-directory={self.path('runtime')}/keyring"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.world.environment,
        )
        self.keyrings.append(process)
        process.stdin.write(b"keyring")
        process.stdin.close()
        if wait_for is None:
            self.await_owner(lambda owner: owner and self.process_of(owner) == process.pid)
        else:
            said = b""
            while wait_for not in said:
                holds(select.select([process.stdout], [], [], WAIT_SECONDS)[0], f"it says {wait_for!r} ({said!r})")
                said += os.read(process.stdout.fileno(), 4096)
        return process

    def end(self, process):
        process.kill()
        process.wait()

    # Programs

    def run(self, *command, given="", **environment):
        ended = subprocess.run(
            command,
            input=given.encode(),
            capture_output=True,
            env=self.world.environment | environment,
            timeout=WAIT_SECONDS,
            cwd=self.world.folder,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr.decode(errors="replace"))

    def store(self, value, *words):
        equal(self.run(TOOL, "store", "--label=L", *(words or WORDS), given=value).status, 0, "secret-tool's status")

    def lookup(self, *words):
        return self.run(TOOL, "lookup", *(words or WORDS)).output.decode()

    def install(self):
        """What `make install` puts in place, as far as it goes for the name, and who may manage."""
        built = os.path.join(os.path.dirname(daemon_path()), "chatelaine")
        if not os.path.exists(built):
            raise SetUpFailed("chatelaine is not built: swift build")
        for name in ("prefix/bin", os.path.dirname("prefix/" + PLACE)):
            os.makedirs(self.path(name))
        self.command = shutil.copy(built, self.path("prefix/bin/chatelaine"))
        with open(os.path.join(REPOSITORY, "dbus", "org.freedesktop.secrets.service")) as file:
            lines = file.read().splitlines()
        equal(lines[-2:], ["Exec=/usr/bin/chatelained --user", "SystemdService=chatelained.service"])
        # No systemd runs on a private bus, so Exec= it is, with this world's broker.
        with open(self.path("prefix/" + PLACE), "w") as file:
            file.write("\n".join([*lines[:-2], "Exec=" + " ".join(self.world.command), ""]))
        policy = os.path.join(self.world.folder, "policy", "50-test.conf")
        with open(policy) as file:
            text = file.read()
        with open(policy, "w") as file:
            file.write(text.replace("[Manager]\n", f"[Manager]\nExecutable={self.command}\n"))
        self.world.admin.reload_policy()

    def chatelaine(self, *arguments):
        return self.run(self.command, *arguments)

    def turn(self, way):
        """`chatelaine secret-service on`, or off: what it changed."""
        ended = self.chatelaine("--json", "secret-service", way)
        equal((ended.status, ended.errors), (0, ""), f"the end of secret-service {way}")
        return json.loads(ended.output)["Changes"]

    def doctor(self):
        """`{subject: (result, detail, advice)}`, of the name alone too."""
        whole = self.findings(json.loads(self.chatelaine("--json", "doctor").output))
        own = self.findings(json.loads(self.chatelaine("--json", "secret-service", "status").output)["Findings"])
        equal({subject: whole[subject] for subject in own}, own, "what the doctor says of it")
        return own

    @staticmethod
    def findings(found):
        return {one["Subject"]: (one["Result"], one["Detail"], one["Advice"]) for one in found}

    # The user's files

    @property
    def link(self):
        return self.path("data/dbus-1/services/org.freedesktop.secrets.service")

    @property
    def config(self):
        return self.path("config/chatelaine/chatelained.conf")
