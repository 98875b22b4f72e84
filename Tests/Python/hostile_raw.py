"""A client without manners: its own socket, authenticated, and then whatever bytes it likes."""

import socket

from jeepney import DBusAddress, new_method_call
from jeepney.bus import get_connectable_addresses
from jeepney.io.blocking import prep_socket

from chatelaine_client import OBJECT
from connection import BUS_NAME


class Raw:
    """Nothing is read unless asked for."""

    def __init__(self, address):
        self.socket = prep_socket(next(get_connectable_addresses(address)), timeout=10.0)
        self.socket.settimeout(10.0)
        self.serial = 0
        self.send(
            self.message(
                "org.freedesktop.DBus", "Hello", path="/org/freedesktop/DBus", to="org.freedesktop.DBus"
            )
        )
        self.socket.recv(1 << 16)

    def message(self, interface, member, signature=None, body=(), *, path=OBJECT, to=BUS_NAME):
        """The bytes of a method call."""
        self.serial += 1
        call = new_method_call(DBusAddress(path, bus_name=to, interface=interface), member, signature, body)
        return call.serialise(serial=self.serial)

    def send(self, data):
        """True while the other side takes it; a full pipe or a closed one is not this client's concern."""
        try:
            self.socket.sendall(data)
            return True
        except (socket.timeout, BrokenPipeError, ConnectionResetError):
            return False

    def drained(self):
        """Reads until the other side closes; False when it keeps the connection open."""
        try:
            while self.socket.recv(1 << 16):
                pass
            return True
        except ConnectionResetError:
            return True
        except socket.timeout:
            return False

    def close(self):
        self.socket.close()
