"""Asks the bus for the broker's name, says what the bus answers, and keeps it until standard input ends."""

import sys

from calls import Caller
from connection import BUS_NAME, BrokerError

DO_NOT_QUEUE = 4


def main():
    connection = Caller().connection
    try:
        (result,) = connection.bus_call("RequestName", "su", (BUS_NAME, DO_NOT_QUEUE))
    except BrokerError as error:
        result = error.name
    print(result, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
