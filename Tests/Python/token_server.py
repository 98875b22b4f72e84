"""The toy authorization server of the examples, as a process: it rotates refresh tokens and revokes on reuse."""

import os
import subprocess

from harness import REPOSITORY, SetUpFailed
from token_client import ask


def server_path():
    folder = os.path.dirname(os.environ.get("CHATELAINED", "")) or os.path.join(REPOSITORY, ".build/debug")
    for candidate in (os.path.join(folder, "demo-server"), os.path.join(REPOSITORY, ".build/debug/demo-server")):
        if os.access(candidate, os.X_OK):
            return candidate
    raise SetUpFailed("no demo-server is built: swift build --product demo-server")


class TokenServer:
    """`with TokenServer(access_ms=2000) as server:` a server process, and what can be asked of it."""

    def __init__(self, *, access_ms=300_000, grace_ms=30_000, delay_ms=0):
        self.arguments = ["--access-ms", access_ms, "--grace-ms", grace_ms, "--delay-ms", delay_ms]

    def __enter__(self):
        command = [server_path(), *(str(argument) for argument in self.arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def sign_in(self):
        """The first tokens of a new family."""
        return ask(self.port, "POST", "/sign-in")[1]

    def statistics(self):
        return ask(self.port, "GET", "/statistics")[1]

    def exchanges(self):
        """Every refresh token that was shown to it, in that order."""
        return ask(self.port, "GET", "/exchanges")[1]
