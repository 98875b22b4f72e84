"""The person at the desk, as tests play it: sees each dialog that a fake pinentry shows, and answers it."""

import os
import shutil
import socket
from urllib.parse import unquote

WAIT_SECONDS = 20
HERE = os.path.dirname(os.path.abspath(__file__))
CANCELLED = b"ERR 83886179 Operation cancelled <Pinentry>\n"


class Person:
    def __init__(self, folder):
        self.folder = os.path.join(folder, "desk")
        os.mkdir(self.folder)
        self.pinentry = os.path.join(self.folder, "pinentry")
        shutil.copyfile(os.path.join(HERE, "fake_pinentry.py"), self.pinentry)
        os.chmod(self.pinentry, 0o755)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.path.join(self.folder, "person"))
        self.socket.listen()

    def dialog(self):
        """The next dialog, once it asks."""
        self.socket.settimeout(WAIT_SECONDS)
        dialog = Dialog(self.socket.accept()[0])
        dialog.until_it_asks()
        return dialog

    def sees_another(self):
        """Whether a dialog has come up that nobody has looked at."""
        self.socket.settimeout(0)
        try:
            self.socket.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def close(self):
        self.socket.close()


class Dialog:
    def __init__(self, connection):
        self.connection = connection
        connection.settimeout(WAIT_SECONDS)
        self.wire = connection.makefile("rwb", buffering=0)
        self.told = []

    @property
    def process(self):
        """The dialog's process."""
        credentials = self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int.from_bytes(credentials[:4], "little")

    def until_it_asks(self):
        self.told = []
        while True:
            line = self.wire.readline()
            if not line:
                raise AssertionError("the dialog went without asking")
            if line.startswith((b"GETPIN", b"CONFIRM")):
                self.question = line.decode().rstrip("\n")
                return
            self.told.append(line.decode().rstrip("\n"))

    def text(self, command):
        """What it was told to show, decoded; None where it was not told so."""
        found = [line[len(command) + 1 :] for line in self.told if line.startswith(command + " ")]
        return unquote(found[-1]) if found else None

    def type(self, passcode):
        """Types it, and presses the key."""
        coded = passcode.replace(b"%", b"%25").replace(b"\n", b"%0A").replace(b"\r", b"%0D")
        self.answer(b"D " + coded + b"\nOK\n")

    def cancel(self):
        self.answer(CANCELLED)

    def press(self):
        """Presses the one button."""
        self.answer(b"OK\n")

    def answer(self, lines):
        self.wire.write(b"%d\n%b" % (len(lines), lines))

    def await_end(self):
        """Until its process is gone, and the dialog with it."""
        try:
            while line := self.wire.readline():
                if line.startswith((b"GETPIN", b"CONFIRM")):
                    raise AssertionError("the dialog asks again")
        except ConnectionResetError:
            pass
        self.connection.close()
