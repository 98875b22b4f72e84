"""What the suites of `chatelaine refresh` share: an item, commands that renew it, and who starts them."""

import os
import subprocess
import time

from expect import equal
from programs import TOKENS, WAIT_SECONDS, Programs

ITEM = ("--service", "https://mail.example", "--account", "alice", "--group", TOKENS)
REJECTED = 65

# Counts its runs, gives what it was given with one more letter, and waits for a word where it is told to.
ROTATE = """#!/bin/sh
echo run >> "$LOG"
[ -z "$HOLD" ] || { echo "$$" > "$LOG.started"; read -r word < "$HOLD"; }
read -r old
printf '%sx' "$old"
"""

# What a command does that waits for a word.
HELD = 'echo "$$" > "$LOG.started"; read -r word < "$HOLD"; '


class Stage:
    def __init__(self, world):
        self.world = world
        self.programs = Programs(world, "chatelaine")
        self.log = os.path.join(world.folder, "runs")
        self.rotate = self.programs.path("rotate")
        with open(self.rotate, "w") as file:
            file.write(ROTATE)
        os.chmod(self.rotate, 0o755)
        self.hold = os.path.join(world.folder, "hold")
        os.mkfifo(self.hold)
        os.mkfifo(self.log + ".started")

    def emptied(self):
        self.world.revive()
        self.world.unlock()
        self.command("logout", "--group", TOKENS)
        self.set(b"t")
        with open(self.log, "w"):
            pass
        return self

    def command(self, *arguments, given=b""):
        return self.programs.run("chatelaine", *arguments, given=given)

    def set(self, secret, *options):
        equal(self.command("set", *ITEM, *options, given=secret).status, 0, "the status of set")

    def get(self):
        ended = self.command("get", *ITEM)
        return ended.output if ended.status == 0 else ended.status

    def revision(self):
        ended = self.command("get", *ITEM, "--attributes-only")
        return ended.output.split(b"Revision")[1].split()[0].decode()

    def refresh(self, *command, options=()):
        return self.programs.run_command(self.line(command, options), LOG=self.log)

    def line(self, command, options=()):
        return [self.programs.path("chatelaine"), "refresh", *ITEM, *options, "--", *command]

    def start(self, *command, options=(), hold=False, variables=None, **more):
        environment = self.programs.environment | {"LOG": self.log} | ({"HOLD": self.hold} if hold else {})
        return subprocess.Popen(
            self.line(command, options),
            env=environment | (variables or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            **more,
        )

    def started(self):
        """Waits until a held command runs; its process."""
        with open(self.log + ".started") as file:
            return int(file.read())

    def release(self):
        with open(self.hold, "w") as file:
            file.write("go\n")

    def await_clients(self, count):
        """Until so many of the command have asked the broker for something."""
        deadline = time.monotonic() + WAIT_SECONDS
        while sum(c["Application"] == "org.test.Command" for c in self.world.admin.list_clients()) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"there are no {count} clients")
            time.sleep(0.02)

    def runs(self):
        with open(self.log) as file:
            return len(file.readlines())


def end(process):
    try:
        _, errors = process.communicate(timeout=WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, errors.decode()
