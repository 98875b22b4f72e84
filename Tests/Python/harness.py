"""A private bus, a broker on it and client programs: the world that every suite plays in.

Nothing of the user's own is touched: HOME, the XDG folders, the bus, the state and the device key are all
in one temporary folder. Nothing sleeps: the bus tells its address when it is ready, and the broker's
arrival and departure are the bus's NameOwnerChanged.
"""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time

from chatelaine_client import Client
from connection import BUS_NAME, Connection
from expect import NotHere
from policy import IDENTITIES, write_policy
from puppets import Puppet, copy_interpreter, copy_scripts

START_SECONDS = 30.0
PASSCODE = b"passcode-of-the-test"
REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>{kind}</type>
  <listen>unix:path={path}</listen>
  <servicedir>{services}</servicedir>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow receive_sender="*"/>
  </policy>
{include}  <limit name="max_incoming_bytes">1000000000</limit>
  <limit name="max_outgoing_bytes">1000000000</limit>
  <limit name="max_message_size">1000000000</limit>
  <limit name="max_completed_connections">100000</limit>
  <limit name="max_connections_per_user">100000</limit>
  <limit name="max_replies_per_connection">50000</limit>
</busconfig>
"""


class SetUpFailed(Exception):
    """The world could not be made; says what is missing."""


def daemon_path():
    path = os.path.abspath(
        os.environ.get("CHATELAINED", os.path.join(REPOSITORY, ".build/debug/chatelained"))
    )
    if not os.access(path, os.X_OK):
        raise SetUpFailed(
            f"no broker at {path}: build it (swift build --product chatelained) or name it in CHATELAINED"
        )
    return path


class World:
    """`with World() as world:` a bus, a broker, an in-process client `user` and puppets by identity.

    `wrap` is a command that the broker and the puppets are started by, `user` the id of the user that they
    run as where root runs the test, `preload` a library that the broker is started with, `configuration` the
    text of its chatelained.conf, `bus_include` a file that the bus's configuration takes in. `direct` has the
    clients talk to the direct endpoint; without, `direct_default` says so.
    """

    direct_default = False
    bus_kind = "session"

    def __init__(
        self,
        *,
        passcode=True,
        wrap=(),
        state=None,
        user=None,
        preload=None,
        configuration="",
        bus_include=None,
        direct=None,
    ):
        self.daemon = daemon_path()
        self.owner = user if os.geteuid() == 0 else None
        self.wrap = [*self.become(self.owner), *wrap]
        self.preload, self.configuration, self.bus_include = preload, configuration, bus_include
        self.process, self.bus = None, None
        self.folder = tempfile.mkdtemp(prefix="chatelaine-test-")
        os.chmod(self.folder, 0o755)
        self.state = state or self._inside("state")
        self.puppets, self.user, self._with_passcode = {}, None, passcode
        self.direct = self.direct_default if direct is None else direct
        self.passcode = b""

    def __enter__(self):
        try:
            self._prepare()
            self.start()
            self.user = self.puppet("nobody") if self.owner else Client(self.client_address)
            if self._with_passcode:
                self.set_passcode()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _inside(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def become(user):
        """A command prefix; set-user-id by the process itself would leave it closed to other processes."""
        if user is None:
            return []
        if shutil.which("setpriv") is None:
            raise NotHere("another user's process needs setpriv (util-linux)")
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]

    def _prepare(self):
        for name in ("home", "runtime", "config", "data", "cache", "bin", "policy", "services"):
            os.mkdir(self._inside(name), 0o700 if name == "runtime" else 0o755)
        os.makedirs(self.state, 0o700, exist_ok=True)
        copy_scripts(self._inside("scripts"))
        for identity in IDENTITIES:
            copy_interpreter(self._inside(f"bin/{identity}"))
        write_policy(self._inside("policy"), self._inside("bin"))
        with open(self._inside("chatelained.conf"), "w") as file:
            file.write(self.configuration)
        if self.owner:
            # A build folder may be closed to that user.
            self.daemon = shutil.copy(self.daemon, self._inside("bin/chatelained"))
            for folder, _, names in os.walk(self.folder):
                for path in (folder, *(os.path.join(folder, name) for name in names)):
                    os.chown(path, self.owner, self.owner)
            os.chown(self.state, self.owner, self.owner)
        self.start_bus()

    def start_bus(self):
        if shutil.which("dbus-daemon") is None:
            raise SetUpFailed("dbus-daemon is missing (Debian: dbus-daemon)")
        path, configuration = self._inside("bus"), self._inside("bus.conf")
        with open(configuration, "w") as file:
            include = f"  <include>{self.bus_include}</include>\n" if self.bus_include else ""
            services = self._inside("services")
            file.write(
                BUS_CONFIGURATION.format(kind=self.bus_kind, path=path, services=services, include=include)
            )
        with open(self._inside("bus.log"), "wb") as log:
            self.bus = subprocess.Popen(
                [
                    "dbus-daemon",
                    f"--config-file={configuration}",
                    "--nofork",
                    "--nopidfile",
                    "--print-address=1",
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
            )
        self.address = self.bus.stdout.readline().strip()
        if not self.address:
            raise SetUpFailed("the private dbus-daemon did not start")
        self.watch = Connection(self.address)
        rule = f"type='signal',member='NameOwnerChanged',arg0='{BUS_NAME}'"
        self.watch.bus_call("AddMatch", "s", (rule,))

    @property
    def socket(self):
        """Where the direct endpoint is by itself."""
        return self._inside("runtime/chatelaine/bus")

    @property
    def system_bus(self):
        """Where the broker looks for the machine's services: nobody is there unless a suite starts it.
        This machine's own are none of a test's."""
        return f"unix:path={self._inside('system-bus')}"

    @property
    def client_address(self):
        """What the clients connect to."""
        return f"unix:path={self.socket}" if self.direct else self.address

    @property
    def environment(self):
        return self._environment | {"DBUS_SESSION_BUS_ADDRESS": self.address}

    @property
    def _environment(self):
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": self._inside("home"),
            "XDG_RUNTIME_DIR": self._inside("runtime"),
            "XDG_CONFIG_HOME": self._inside("config"),
            "XDG_STATE_HOME": self._inside("home"),
            "XDG_DATA_HOME": self._inside("data"),
            "XDG_CACHE_HOME": self._inside("cache"),
        }

    # The broker's life

    def start(self):
        """Starts the broker and comes back when it owns its name."""
        self.process = self.launch()
        self.await_owner(True)
        # A direct connection goes with its broker; on a bus it stays.
        if self.direct and self.user:
            for client in (self.user, *self.puppets.values()):
                client.connect(self.client_address)

    def launch(self, **environment):
        """A process of the broker, which may or may not come to own the name."""
        if self.preload:
            environment |= {"LD_PRELOAD": self.preload, "FAULTS": self.folder}
        with open(self._inside("broker.log"), "ab") as log:
            return subprocess.Popen(
                self.command, env=self.environment | environment, stderr=log, stdout=log, cwd=self.folder
            )

    @property
    def command(self):
        return [
            *self.wrap,
            self.daemon,
            "--user",
            "--policy",
            self._inside("policy"),
            "--state",
            self.state,
            "--device-key",
            self._inside("device.key"),
            "--config",
            self._inside("chatelained.conf"),
            "--system-bus",
            self.system_bus,
            *([] if self.direct else ["--no-socket"]),
        ]

    def stop(self):
        """As systemd stops it."""
        self._end(signal.SIGTERM)

    def kill(self):
        """As a power cut would, as far as the process goes."""
        self._end(signal.SIGKILL)

    def restart(self):
        self.stop()
        self.start()

    def revive(self):
        """Starts the broker again when a row before has brought it down."""
        if not self._is_owned():
            self.process.kill()
            self.process.wait()
            self._forget_sessions()
            self.start()

    def _end(self, number):
        self.process.send_signal(number)
        try:
            self.process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            raise SetUpFailed(
                f"the broker did not end within {START_SECONDS:.0f} s of signal {number}"
            ) from None
        self.await_owner(False)
        self._forget_sessions()

    def _forget_sessions(self):
        for client in (self.user, *self.puppets.values()):
            client.forget_session()

    def await_owner(self, owned):
        deadline = time.monotonic() + START_SECONDS
        while self._is_owned() != owned:
            if owned and self.process.poll() is not None:
                raise SetUpFailed(f"the broker ended with {self.process.returncode}: {self.log_tail()}")
            if time.monotonic() > deadline:
                raise SetUpFailed(f"the broker's name did not change hands: {self.log_tail()}")
            self._wait_for_change(deadline)

    def _is_owned(self):
        return self.watch.bus_call("NameHasOwner", "s", (BUS_NAME,))[0]

    def _wait_for_change(self, deadline):
        """Until the bus says something or the broker's process ends."""
        with selectors.DefaultSelector() as selector:
            if self.process.returncode is None:
                pidfd = os.pidfd_open(self.process.pid)
                selector.register(pidfd, selectors.EVENT_READ)
            selector.register(self.watch.socket, selectors.EVENT_READ)
            selector.select(max(deadline - time.monotonic(), 0.001))
            if self.process.returncode is None:
                os.close(pidfd)
        self.watch.signals.clear()

    def log_tail(self, lines=8):
        return " | ".join(self.log().splitlines()[-lines:])

    def await_log(self, text, count):
        """Until the log, which a thread of its own writes, has the text so often."""
        deadline = time.monotonic() + START_SECONDS
        while self.log().count(text) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"the log does not have '{text}' {count} times")
            time.sleep(0.05)

    def log(self):
        with open(self._inside("broker.log"), errors="replace") as log:
            return log.read()

    # The device

    def set_passcode(self, new=PASSCODE):
        """Sets or changes the passcode and leaves the device unlocked."""
        self.user.set_passcode(self.passcode, new)
        self.passcode = new
        self.unlock()

    def remove_passcode(self):
        self.user.remove_passcode(self.passcode)
        self.passcode = b""

    def lock(self):
        self.user.lock()

    def unlock(self):
        if self.passcode and self.user.property("State") != "unlocked":
            self.user.unlock(self.passcode)

    # Programs

    def __getattr__(self, identity):
        """The puppet of an identity, started when it is first needed."""
        if identity not in IDENTITIES:
            raise AttributeError(identity)
        if identity not in self.puppets:
            self.puppets[identity] = self.puppet(identity)
        return self.puppets[identity]

    def puppet(self, identity, *, user=None, address=None):
        """Another process of the same program, which the caller closes; as another `user` if root asks."""
        return self.program(self.executable(identity), self.wrap + self.become(user), address)

    def executable(self, identity):
        return self._inside(f"bin/{identity}")

    def program(self, executable, wrap=None, address=None):
        """A process of any copy of the interpreter, which the caller closes."""
        wrap = self.wrap if wrap is None else wrap
        puppet = Puppet(executable, self.environment, self._inside("scripts"), wrap)
        puppet.connect(address or self.client_address)
        return puppet

    @contextlib.contextmanager
    def policy_file(self, text, name="60-test.conf"):
        """One more file of the policy, in force from here to the end of the block."""
        path = os.path.join(self._inside("policy"), name)
        with open(path, "w") as file:
            file.write(text)
        if self.owner:
            os.chown(path, self.owner, self.owner)
        try:
            self.warnings = self.admin.reload_policy()
            yield
        finally:
            os.unlink(path)
            self.admin.reload_policy()

    def damaged_rows(self):
        """What `Check` counts, over both vaults."""
        return sum(count for key, count in self.admin.check().items() if "damaged" in key.lower())

    def close(self):
        for puppet in self.puppets.values():
            puppet.close()
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.bus:
            self.bus.terminate()
            self.bus.wait()
            self.bus.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)
