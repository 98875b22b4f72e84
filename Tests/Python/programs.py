"""The built programs of the command line in a world: a copy of each, which the policy gives groups of its own."""

import os
import shutil
import signal
import subprocess

from harness import SetUpFailed, daemon_path
from puppets import copy_interpreter

GIT, DOCKER, TOKENS = "org.test.git", "org.test.docker", "org.test.tokens"
WAIT_SECONDS = 60

POLICY = f"""[Application org.test.GitCredential]
Executable={{folder}}/git-credential-chatelaine
AccessGroups={GIT}

[Application org.test.DockerCredential]
Executable={{folder}}/docker-credential-chatelaine
AccessGroups={DOCKER}

[Application org.test.Command]
Executable={{folder}}/chatelaine
AccessGroups={TOKENS} {GIT} {DOCKER}

[Application org.test.Neighbour]
Executable={{folder}}/neighbour
AccessGroups={GIT}

[AccessGroup {GIT}]
RequireTrust=user

[AccessGroup {DOCKER}]
RequireTrust=user

[AccessGroup {TOKENS}]
RequireTrust=user
"""


class Programs:
    """Copies beside the world's other programs, as nobody's system files are."""

    def __init__(self, world, *names):
        self.world = world
        self.folder = os.path.join(world.folder, "programs")
        os.mkdir(self.folder)
        for name in names:
            self.install(name)

    def install(self, name, target=None):
        built = os.path.join(os.path.dirname(daemon_path()), name)
        if not os.path.exists(built):
            # A sanitizer's broker is a script; the programs are beside what it starts.
            raise SetUpFailed(f"{name} is not built: swift build")
        path = os.path.join(self.folder, target or name)
        shutil.copyfile(built, path)
        os.chmod(path, 0o755)
        return path

    def neighbour(self):
        """A puppet that shares git's group, which the caller closes."""
        copy_interpreter(self.path("neighbour"))
        return self.world.program(self.path("neighbour"))

    def policy(self):
        return self.world.policy_file(POLICY.format(folder=self.folder), "60-programs.conf")

    def path(self, name):
        return os.path.join(self.folder, name)

    @property
    def environment(self):
        return self.world.environment | {"PATH": f"{self.folder}:{os.environ['PATH']}"}

    def run(self, name, *arguments, given=b"", **environment):
        """Runs a program to its end: its status, its output and its errors."""
        return self.run_command([self.path(name), *arguments], given, **environment)

    def run_command(self, command, given=b"", cwd=None, **environment):
        ended = subprocess.run(
            command,
            input=given,
            capture_output=True,
            env=self.environment | environment,
            timeout=WAIT_SECONDS,
            cwd=cwd or self.world.folder,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr.decode(errors="replace"))


def blocking(*signals):
    """For `preexec_fn`: a program starts with these blocked, as its parent may have them."""
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, signals)


class Ended:
    def __init__(self, status, output, errors):
        self.status, self.output, self.errors = status, output, errors

    def __repr__(self):
        # The output may be a secret.
        return f"status {self.status}, {len(self.output)} bytes, errors {self.errors!r}"
