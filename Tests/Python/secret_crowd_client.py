"""Many clients at once, each over and over: connect, open a session, look up, read, leave without a word.

    secret_crowd_client.py ADDRESS CLIENTS SECONDS

Prints, as JSON, how often they were served, and the sessions that they had. Each goes round twice at least.
"""

import json
import os
import sys
import time

from connection import Connection
from secret_words import ENCRYPTED, NAME, PLAIN, ROOT, SERVICE

CROWD = {"of": "the crowd"}


def visit(address, is_encrypted):
    """One client's life; returns the path of its session."""
    connection = Connection(address, destination=NAME)
    # A public key may be any element of the group but the trivial ones.
    algorithm = (ENCRYPTED, ("ay", b"\x02")) if is_encrypted else (PLAIN, ("s", ""))
    _, session = connection.call(ROOT, SERVICE, "OpenSession", "sv", algorithm)
    found, locked = connection.call(ROOT, SERVICE, "SearchItems", "a{ss}", (CROWD,))
    assert len(found) == 1 and not locked, "one item is found"
    (secrets,) = connection.call(ROOT, SERVICE, "GetSecrets", "aoo", (found, session))
    ((_, parameters, value, _),) = secrets.values()
    assert len(parameters) == (16 if is_encrypted else 0) and value, "its secret is read"
    connection.close()
    return session


def visits(address, number, seconds):
    end, sessions = time.monotonic() + seconds, []
    while len(sessions) < 2 or time.monotonic() < end:
        sessions.append(visit(address, (number + len(sessions)) % 2 == 0))
    return sessions


def main():
    address, clients, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    readers = []
    for number in range(clients):
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as pipe:
                json.dump(visits(address, number, seconds), pipe)
            os._exit(0)
        os.close(writer)
        readers.append(os.fdopen(reader))
    print(json.dumps([session for reader in readers for session in json.load(reader)]), flush=True)


if __name__ == "__main__":
    main()
