"""The test's end of the pipe to a puppet: called like the client itself."""

import os
import select
import shutil
import subprocess
import sys

import plainwire
from connection import BrokerError, WireViolation

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODY = 65534


def copy_interpreter(target):
    """A copy (never a link: the broker compares device and inode) that is nobody's system file."""
    shutil.copyfile(os.path.realpath(sys.executable), target)
    os.chmod(target, 0o755)
    if os.geteuid() == 0:
        os.chown(target, NOBODY, NOBODY)


def copy_scripts(folder):
    """What a puppet runs, where another user can read it: the repository may be in a closed home."""
    os.mkdir(folder, 0o755)
    for name in os.listdir(HERE):
        if name.endswith(".py"):
            shutil.copyfile(os.path.join(HERE, name), os.path.join(folder, name))
            os.chmod(os.path.join(folder, name), 0o644)


class PuppetLost(Exception):
    """The puppet's process or its connection went away."""


class Puppet:
    """A client process; every method of `Client` can be called on it."""

    def __init__(self, executable, environment, scripts, wrap=()):
        environment = environment | {
            "PYTHONPATH": scripts,
            "PYTHONHOME": sys.base_prefix,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.process = subprocess.Popen(
            [*wrap, executable, os.path.join(scripts, "puppet.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._started = 0

    def __getattr__(self, method):
        def call(*args, **options):
            self.start(method, *args, **options)
            return self.finish()

        return call

    def start(self, method, *args, **options):
        """Sends the command and comes back at once; `finish` takes the answer."""
        line = plainwire.dumps({"method": method, "args": list(args), "options": options})
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise PuppetLost("the puppet's process is gone") from None

    def finish(self):
        line = self.process.stdout.readline()
        if not line:
            raise PuppetLost("the puppet's process ended")
        answer = plainwire.loads(line)
        if "error" in answer:
            error = answer["error"]
            raise BrokerError(error["name"], error["text"], error["code"], error["revision"])
        if "violation" in answer:
            raise WireViolation(answer["violation"])
        if "lost" in answer:
            raise PuppetLost(answer["lost"])
        return answer["ok"]

    def has_answer(self):
        """Whether `finish` would come back at once."""
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def kill(self):
        """As a crash of the client would."""
        self.process.kill()
        self._reap()

    def close(self):
        self.process.stdin.close()
        self._reap()

    def _reap(self):
        self.process.wait()
        self.process.stdout.close()


def first_answer(puppets):
    """One that has an answer, when there is one."""
    by_pipe = {puppet.process.stdout: puppet for puppet in puppets}
    return by_pipe[select.select(list(by_pipe), [], [])[0][0]]
