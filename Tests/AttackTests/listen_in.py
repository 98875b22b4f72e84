"""Becomes a monitor of the bus and says so, or says how that was refused. When a line comes on standard input,
writes what has crossed the bus so far into FILE.

    listen_in.py FILE
"""

import os
import sys

from connection import BrokerError
from monitor import Monitor


def main(file):
    try:
        with Monitor(os.environ["DBUS_SESSION_BUS_ADDRESS"]) as monitor:
            print("listening", flush=True)
            sys.stdin.readline()
            with open(file, "wb") as captured:
                captured.write(monitor.seen())
            print("written", flush=True)
    except BrokerError as error:
        print(error.name, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
