"""A program that is nobody connects and ends, while a child of it keeps the connection and calls later.

It prints how the call ended, which is made when a line comes on standard input.
"""

import os
import sys

from attributes import encode
from chatelaine_client import ITEMS, OBJECT
from connection import BrokerError, Connection


def main():
    connection = Connection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
    if os.fork():
        os._exit(0)
    sys.stdin.readline()
    try:
        connection.call(OBJECT, ITEMS, "Search", "a{sv}", (encode({"Class": "generic-password"}),))
        print("ok", flush=True)
    except BrokerError as error:
        print(error.name, flush=True)


if __name__ == "__main__":
    main()
