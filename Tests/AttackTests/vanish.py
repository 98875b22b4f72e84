"""So many processes, one after the other: each connects, asks for what would do harm, and ends at once.

vanish.py COUNT GROUP
"""

import os
import sys

from attributes import encode
from calls import Caller
from chatelaine_client import ITEMS, OBJECT


def harm(group):
    connection = Caller().connection
    query = encode({"Class": "generic-password", "AccessGroup": group})
    connection.send(OBJECT, ITEMS, "Delete", "a{sv}", (query,))
    connection.send(OBJECT, ITEMS, "Logout", "sss", (group, "", "forged"))


def main(count, group):
    for _ in range(int(count)):
        process = os.fork()
        if process == 0:
            harm(group)
            os._exit(0)
        if os.waitpid(process, 0)[1] != 0:
            sys.exit("a process could not connect")
    print("ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
