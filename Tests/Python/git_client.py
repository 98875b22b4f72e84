"""Real git with the helper configured and a stand-in for the person who is asked for a password."""

import glob
import os
import re
import shutil

from expect import NotHere
from harness import REPOSITORY, SetUpFailed

# Counts the questions and answers each; what is asked for is the first word of the question.
ASKPASS = """#!/bin/sh
echo "$1" >> '{folder}/asked'
case $1 in
    Username*) cat '{folder}/username' ;;
    *) cat '{folder}/password' ;;
esac
"""
# From here on git passes on times and refresh tokens, and from here on other kinds of credentials.
KNOWS_TIMES, KNOWS_AUTHTYPE = (2, 41), (2, 46)


class GitClient:
    def __init__(self, programs, helper="chatelaine"):
        if shutil.which("git") is None:
            raise SetUpFailed("git is missing (Debian: git)")
        self.programs = programs
        self.folder = os.path.join(programs.world.folder, "git")
        os.makedirs(self.folder, exist_ok=True)
        self.use_helper(helper)
        self.answers("alice", "first")
        path = os.path.join(self.folder, "askpass")
        with open(path, "w") as file:
            file.write(ASKPASS.format(folder=self.folder))
        os.chmod(path, 0o755)
        self.environment = {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.path.join(self.folder, "config"),
            "GIT_ASKPASS": path,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }

    def use_helper(self, helper, *more):
        with open(os.path.join(self.folder, "config"), "w") as file:
            file.write("[init]\ndefaultBranch = main\n[credential]\n")
            file.writelines(f"helper = {line}\n" for line in (helper, *more))

    def configure(self, text):
        with open(os.path.join(self.folder, "config"), "a") as file:
            file.write(text)

    def answers(self, username, password):
        for name, text in (("username", username), ("password", password)):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text + "\n")
        with open(os.path.join(self.folder, "asked"), "w"):
            pass

    def asked(self):
        """How often somebody was asked since the answers were given."""
        with open(os.path.join(self.folder, "asked")) as file:
            return len(file.readlines())

    def run(self, *arguments, given=b"", cwd=None, git=("git",)):
        return self.programs.run_command([*git, *arguments], given, cwd=cwd, **self.environment)

    def credential(self, action, fields, git=("git",)):
        """`git credential`; what it fills in as a dictionary, and how it ended."""
        given = b"".join(
            key.encode() + b"=" + (value if isinstance(value, bytes) else str(value).encode()) + b"\n"
            for key, value in fields
        )
        ended = self.run("credential", action, given=given + b"\n", git=git)
        lines = ended.output.rstrip(b"\n").split(b"\n") if ended.output else []
        ended.filled = {key.decode(): value for key, _, value in (line.partition(b"=") for line in lines)}
        return ended

    def newer(self, version):
        """A git of at least that version: the machine's, or that of the Debian which the system tests boot."""
        root = os.path.join(REPOSITORY, ".build/system/trixie")
        libraries = ":".join(glob.glob(f"{root}/usr/lib/*-linux-gnu"))
        loaders = glob.glob(f"{root}/usr/lib/*-linux-gnu/ld-linux-*.so.*")
        ways = [("git",)]
        if loaders and os.path.exists(f"{root}/usr/bin/git"):
            ways.append((loaders[0], "--library-path", libraries, f"{root}/usr/bin/git"))
        for git in ways:
            found = re.search(rb"(\d+)\.(\d+)", self.run("--version", git=git).output)
            if tuple(int(number) for number in found.groups()) >= version:
                return git
        raise NotHere(f"git of {version[0]}.{version[1]} or later is needed; Tests/System/make-root gets one")
