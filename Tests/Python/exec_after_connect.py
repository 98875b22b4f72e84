"""A program that is nobody connects, is refused, and execs an entitled program on the same connection.

    exec_after_connect.py ENTITLED

It prints how its call ended before the exec, after it, and on a connection made after the exec.
"""

import os
import sys

from attributes import encode
from chatelaine_client import ITEMS, OBJECT
from connection import BrokerError, Connection

QUERY = (encode({"Class": "generic-password"}),)


class Inherited(Connection):
    """A connection over a socket that said Hello before the exec."""

    def __init__(self, descriptor, serial):
        super().__init__(os.environ["DBUS_SESSION_BUS_ADDRESS"], say_hello=False)
        os.dup2(descriptor, self.socket.fileno())
        self._serial = serial


def outcome(connection):
    try:
        connection.call(OBJECT, ITEMS, "Search", "a{sv}", QUERY)
        return "ok"
    except BrokerError as error:
        return error.name


def before(entitled):
    connection = Connection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
    print(outcome(connection), flush=True)
    descriptor = connection.socket.fileno()
    os.set_inheritable(descriptor, True)
    os.execv(entitled, [entitled, __file__, "--after", str(descriptor)])


def after(descriptor):
    print(outcome(Inherited(int(descriptor), serial=1000)), flush=True)
    print(outcome(Connection(os.environ["DBUS_SESSION_BUS_ADDRESS"])), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--after":
        after(sys.argv[2])
    else:
        before(sys.argv[1])
