"""A client of the bus without manners: its own socket, authenticated, and then whatever bytes it likes."""

from jeepney.bus import get_connectable_addresses
from jeepney.io.blocking import prep_socket

from direct_raw import RawPeer

SECONDS = 10.0


class Raw(RawPeer):
    """Nothing but the bus's greeting is read unless asked for."""

    def __init__(self, address):
        self.socket = prep_socket(next(get_connectable_addresses(address)), timeout=SECONDS)
        self.socket.settimeout(SECONDS)
        self.serial = 0
        bus = "org.freedesktop.DBus"
        self.send(self.message(bus, "Hello", path="/org/freedesktop/DBus", to=bus))
        self.socket.recv(1 << 16)
