"""A broker of an ordinary user, the helper that PAM starts beside a login, and a PAM of the test's own."""

import contextlib
import os
import pwd
import subprocess
import sys
import time

from chatelaine_client import Client
from expect import NotHere, equal, generic, holds, secret
from harness import REPOSITORY, World, daemon_path

USER = 3
NAME = pwd.getpwuid(USER).pw_name if os.geteuid() == 0 else ""
DONE, REFUSED, NOT_FOR_US, NOBODY, IMPOSTOR, NO_ANSWER = range(6)
FOREGROUND = generic(Service="f", Accessible="when-unlocked")
BACKGROUND = generic(Service="b", Accessible="after-first-unlock")
OUT_OF_STEP = "passcode-out-of-step"
HERE = os.path.dirname(os.path.abspath(__file__))


def helper_path():
    """Beside the broker that is tested."""
    path = os.path.join(os.path.dirname(daemon_path()), "chatelaine-pam")
    if not os.access(path, os.X_OK):
        path = os.path.join(REPOSITORY, ".build/debug/chatelaine-pam")
    return path


class Logins(World):
    """`with Logins() as w:` the broker runs as the user, with its socket where a user's is; clients call over the bus."""

    def __init__(self, **options):
        if os.geteuid() != 0:
            raise NotHere("PAM's helper takes the password of another user: root")
        super().__init__(user=USER, **options)
        self.helper_file = helper_path()

    def _prepare(self):
        super()._prepare()
        for folder in ("run", "run/user", f"run/user/{USER}"):
            os.mkdir(self._inside(folder), 0o755)
        os.chown(self.runtime, USER, USER)
        os.chmod(self.runtime, 0o700)
        # As a package brings it.
        os.chown(self.daemon, 0, 0)

    @property
    def run(self):
        return self._inside("run")

    @property
    def runtime(self):
        return f"{self.run}/user/{USER}"

    @property
    def socket(self):
        return f"{self.runtime}/chatelaine/bus"

    @property
    def _environment(self):
        return super()._environment | {"XDG_RUNTIME_DIR": self.runtime}

    @property
    def command(self):
        return [argument for argument in super().command if argument != "--no-socket"]

    @property
    def state_word(self):
        return self.user.property("State")

    @property
    def conditions(self):
        return set(self.user.property("Conditions")) - {"memory-not-locked"}

    # The helper

    def options(self, seconds=20, broker=None):
        return ("--run", self.run, "--broker", broker or self.daemon, "--seconds", str(seconds))

    def start_helper(self, kind="auth", *, wrap=(), user=NAME, inner=True, arguments=(), **options):
        """The process that takes the password, or with `inner=False` the one that PAM starts; a Popen."""
        command = (*wrap, self.helper_file, *(["--hand-over"] if inner else []), *self.options(**options), *arguments)
        environment = {"PAM_TYPE": kind, "PAM_USER": user, "PAM_SERVICE": "login"}
        return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, stderr=subprocess.PIPE)

    def hand_over(self, password, kind="auth", **options):
        """How it ended."""
        process = self.start_helper(kind, **options)
        process.communicate(password)
        return process.returncode

    def log_in(self, password, expected=DONE, **options):
        equal(self.hand_over(password, **options), expected, "how the hand-over of a login ended")

    def change(self, password, expected=DONE, **options):
        equal(self.hand_over(password, "password", **options), expected, "how that of a change of password ended")

    # PAM itself

    def pam(self, *passwords, seconds=20, broker=None):
        """Log-ins by real PAM with the real pam_exec, in a configuration of its own; how long each took, and all succeed."""
        folder = self._inside("pam.d")
        os.makedirs(folder, exist_ok=True)
        line = " ".join((self.helper_file, *self.options(seconds, broker)))
        with open(f"{folder}/stage", "w") as file:
            file.write(f"auth required pam_permit.so\nauth optional pam_exec.so expose_authtok quiet seteuid {line}\n")
            file.write("account required pam_permit.so\n")
        script = os.path.join(HERE, "pam_login.py")
        words = [password.hex() for password in passwords]
        done = subprocess.run(
            [sys.executable, script, folder, NAME, *words], capture_output=True, text=True, timeout=120
        )
        equal((done.returncode, done.stderr), (0, ""), "what PAM says")
        return [float(word) for word in done.stdout.split()]

    def fill(self):
        for item in (FOREGROUND, BACKGROUND):
            self.mail.store(item, secret(item["Service"]))

    def comes_to_be(self, state):
        """The hand-over goes on beside the login."""
        deadline = time.monotonic() + 30
        while self.state_word != state:
            holds(time.monotonic() < deadline, f"it does not come to be {state}")

    def helpers(self):
        """The processes that hold a password."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if self.run.encode() in (line := file.read()) and b"--hand-over" in line:
                        found.append(int(name))
        return found

    @contextlib.contextmanager
    def root(self):
        """Root's own connection to the direct endpoint."""
        client = Client(f"unix:path={self.socket}")
        try:
            yield client
        finally:
            client.close()
