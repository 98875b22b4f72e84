"""Programs that exist: copies of them under two applications of a policy, on a broker of the stage's."""

import importlib.util
import os
import shutil
import subprocess
import sys

from expect import NotHere
from programs import WAIT_SECONDS, Ended
from puppets import copy_interpreter
from secret_stage import SecretStage

TOOL = "/usr/bin/secret-tool"
GIT_SOURCE = "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c"

# The same programs twice, as two applications; a copy that is in no policy is `loose`.
POLICY = "".join(
    f"""
[Application org.test.Existing.{name}]
Executable={{folder}}/tool-{name}
Executable={{folder}}/python-{name}
Executable={{folder}}/git-credential-{name}
AccessGroups=org.test.existing.{name}

[AccessGroup org.test.existing.{name}]
RequireTrust=user
"""
    for name in ("one", "two")
)


class Existing:
    """Copies of the programs, and the stage's broker."""

    def __init__(self):
        self.stage = SecretStage()
        self.folder = os.path.join(self.stage.world.folder, "existing")
        os.mkdir(self.folder)
        self.stage.policy(sections=POLICY.format(folder=self.folder))

    def emptied(self):
        for name in ("one", "two"):
            self.stage.world.admin.force_logout(f"org.test.existing.{name}")
        self.stage.open()
        return self

    def power_cut(self):
        self.stage.restart(by_power_cut=True)
        self.stage.open()

    def run(self, *command, given="", **environment):
        ended = subprocess.run(
            command,
            input=given.encode(),
            capture_output=True,
            env=self.stage.world.environment | environment,
            timeout=WAIT_SECONDS,
            cwd=self.stage.world.folder,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr.decode(errors="replace"))

    def tool(self, name, *arguments, given=""):
        path = os.path.join(self.folder, f"tool-{name}")
        if not os.path.exists(path):
            if not os.path.exists(TOOL):
                raise NotHere("secret-tool is missing (Debian: libsecret-tools)")
            copy(TOOL, path)
        return self.run(path, *arguments, given=given)

    def python(self, name, module, *arguments, given=""):
        """Debian's modules, by a copy of the interpreter."""
        path = os.path.join(self.folder, f"python-{name}")
        if importlib.util.find_spec(module) is None:
            raise NotHere(f"the module {module} is missing (Debian: python3-{module})")
        if not os.path.exists(path):
            copy_interpreter(path)
        backend = "keyring.backends.SecretService.Keyring"
        return self.run(
            path, *arguments, given=given, PYTHONHOME=sys.base_prefix, PYTHON_KEYRING_BACKEND=backend
        )

    def git(self, name, operation, given):
        path = os.path.join(self.folder, f"git-credential-{name}")
        if not os.path.exists(path):
            build_helper(path)
        helper = f"credential.helper={path}"
        return self.run(
            "git",
            "-c",
            "credential.helper=",
            "-c",
            helper,
            "credential",
            operation,
            given=given,
            GIT_TERMINAL_PROMPT="0",
        )

    def close(self):
        self.stage.close()


def copy(source, path):
    shutil.copyfile(source, path)
    os.chmod(path, 0o755)


def build_helper(path):
    """git's own helper, whose source Debian ships with git."""
    for tool in ("gcc", "pkg-config"):
        if shutil.which(tool) is None:
            raise NotHere(f"{tool} is missing")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "libsecret-1"], capture_output=True, text=True
    )
    if flags.returncode != 0 or not os.path.exists(GIT_SOURCE):
        raise NotHere("git's helper needs libsecret-1-dev and git's contrib")
    subprocess.run(["gcc", "-o", path, GIT_SOURCE, *flags.stdout.split()], check=True, capture_output=True)
