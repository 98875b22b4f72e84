"""A program that is nobody connects and execs an entitled one, while a child of it keeps the connection.

    borrow_program.py before|after ENTITLED GROUP

It calls for the first time before that exec or after it. The child prints how the call ended that it makes when
the entitled program runs.
"""

import os
import sys

from calls import Caller, await_program, idle


def main(first_call, entitled, group):
    caller = Caller()
    if first_call == "before":
        print(caller.search(group), flush=True)
    process = os.getpid()
    # The child keeps a pipe's end too, so that the program in its parent ends with it.
    reading, writing = os.pipe()
    if os.fork():
        os.dup2(reading, 0)
        os.close(writing)
        os.execv(entitled, idle(entitled))
    await_program(process, entitled)
    print(caller.search(group), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
