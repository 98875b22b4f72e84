"""Opens many connections from one process or from several, calls over each, and keeps them.

    crowd.py ADDRESS CONNECTIONS [PROCESSES]

Prints how the calls ended, each with its number, and ends when its standard input does. A line there makes it
close one connection and call over the last again.
"""

import collections
import json
import os
import sys

from attributes import encode
from chatelaine_client import ITEMS, OBJECT
from connection import BrokerError, Connection


class Crowd:
    def __init__(self, address):
        self.address, self.connections = address, []

    def join(self):
        try:
            connection = Connection(self.address)
        except (ConnectionResetError, BrokenPipeError, ConnectionError):
            return "closed"
        self.connections.append(connection)
        return self.call(connection)

    @staticmethod
    def call(connection):
        query = encode({"Class": "generic-password"})
        try:
            connection.call(OBJECT, ITEMS, "Search", "a{sv}", (query,))
            return "served"
        except BrokerError as error:
            return error.name
        except (ConnectionResetError, BrokenPipeError):
            return "closed"


def main():
    address, count, processes = sys.argv[1], int(sys.argv[2]), int((sys.argv + ["1"])[3])
    if processes > 1:
        return parent(address, count, processes)
    crowd = Crowd(address)
    print(json.dumps(collections.Counter(crowd.join() for _ in range(count))), flush=True)
    for _ in sys.stdin:
        crowd.connections.pop(0).close()
        print(crowd.call(crowd.connections[-1]), flush=True)


def parent(address, count, processes):
    """Its children are processes of their own, one after the other, and of the same program."""
    ends = []
    for _ in range(processes):
        reader, writer = os.pipe()
        if os.fork() == 0:
            crowd = Crowd(address)
            found = collections.Counter(crowd.join() for _ in range(count // processes))
            os.write(writer, json.dumps(found).encode())
            os.close(writer)
            sys.stdin.read()
            os._exit(0)
        os.close(writer)
        ends.append(json.loads(os.read(reader, 4096)))
    print(json.dumps(sum(map(collections.Counter, ends), collections.Counter())), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
