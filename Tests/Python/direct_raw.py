"""A peer of the direct endpoint without manners: a socket, and whatever bytes it likes.

Run as a program it connects to the path in its arguments, as the user that it was started as, and prints what
became of that.
"""

import os
import socket
import sys

from jeepney import DBusAddress, HeaderFields, new_method_call

from chatelaine_client import OBJECT
from connection import BUS_NAME

GREETING = b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n"
SECONDS = 60.0


class RawPeer:
    """Nothing is said or read unless asked for."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS)
        self.socket.connect(path)
        self.serial = 0

    def authenticate(self):
        self.send(GREETING)
        if not self.socket.recv(4096).startswith(b"OK "):
            raise ConnectionError("the handshake was refused")
        self.send(b"BEGIN\r\n")
        return self

    def message(self, interface, member, signature=None, body=(), *, path=OBJECT, sender=None, to=None):
        """The bytes of a method call."""
        self.serial += 1
        address = DBusAddress(path, bus_name=to or BUS_NAME, interface=interface)
        call = new_method_call(address, member, signature, body)
        if sender:
            call.header.fields[HeaderFields.sender] = sender
        return call.serialise(serial=self.serial)

    def send(self, data):
        """True while the other side takes it."""
        try:
            self.socket.sendall(data)
            return True
        except (TimeoutError, BrokenPipeError, ConnectionResetError):
            return False

    def is_closed(self):
        """Reads until the other side closes; False when it keeps the connection open."""
        try:
            while self.socket.recv(1 << 16):
                pass
            return True
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def close(self):
        self.socket.close()


def main():
    try:
        peer = RawPeer(sys.argv[1])
        peer.send(GREETING)
        answer = peer.socket.recv(4096)
        print("let in" if answer else "closed", flush=True)
    except PermissionError:
        print("no permission", flush=True)
    except (ConnectionResetError, BrokenPipeError):
        print("closed", flush=True)


if __name__ == "__main__":
    main()
