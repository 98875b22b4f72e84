"""What the attackers' scripts share: a connection that calls, and waiting for a program to run."""

import os
import time

from attributes import encode
from chatelaine_client import ITEMS, OBJECT
from connection import BrokerError, Connection

WAIT_SECONDS = 30.0
IDLE = "import sys; sys.stdin.read()"


class Caller:
    """A connection to the broker's bus. `is_late`: without a name until it says hello."""

    def __init__(self, *, is_late=False):
        self.connection = Connection(os.environ["DBUS_SESSION_BUS_ADDRESS"], say_hello=not is_late)

    def say_hello(self):
        self.connection.bus_call("Hello")

    def search(self, group):
        """How a search in that group ends: `ok`, or the name of the error."""
        query = encode({"Class": "generic-password", "AccessGroup": group})
        try:
            self.connection.call(OBJECT, ITEMS, "Search", "a{sv}", (query,))
            return "ok"
        except BrokerError as error:
            return error.name


def idle(program):
    """The arguments of a copy of the interpreter that does nothing until its standard input ends."""
    return [program, "-c", IDLE]


def await_program(process, program):
    """Until the process runs that program, with the arguments above."""
    wanted = b"".join(word.encode() + b"\0" for word in idle(program))
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            if file.read() == wanted:
                return
        if time.monotonic() > deadline:
            raise TimeoutError(f"{program} does not run as {process}")
        time.sleep(0.01)
