"""A program at a terminal of its own, and the person who reads it."""

import os
import pty
import select
import subprocess

from programs import WAIT_SECONDS


class Terminal:
    """`with Terminal(command, environment, folder) as terminal:` the program is gone at the end of the block."""

    def __init__(self, command, environment, folder):
        self.end, other = pty.openpty()
        self.seen, self.unread = b"", b""
        self.process = subprocess.Popen(
            command, env=environment, cwd=folder, stdin=other, stdout=other, stderr=other, start_new_session=True
        )
        os.close(other)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.end)

    def until(self, text):
        """Reads until it shows the text, behind what it was awaited to show before."""
        while text not in self.unread:
            if not self._read():
                raise AssertionError(f"it ended without saying {text!r}")
        self.unread = self.unread.partition(text)[2]

    def type(self, line):
        os.write(self.end, line + b"\n")

    def status(self):
        """Reads to its end."""
        while self._read():
            pass
        return self.process.wait(WAIT_SECONDS)

    def _read(self):
        if not select.select([self.end], [], [], WAIT_SECONDS)[0]:
            raise AssertionError("it says nothing and does not end")
        try:
            piece = os.read(self.end, 4096)
        except OSError:
            return False
        self.seen += piece
        self.unread += piece
        return bool(piece)
