"""A program that is nobody hands its connection to a child and ends. The child starts processes until one has
the number of the first, lets that one be an entitled program, and calls.

    reuse_number.py named|nameless ENTITLED GROUP

The connection says hello before all that, or only when the entitled program runs. Waits for a line on standard
input between the end of the first process and the rest, so that whoever started it can reap it.
"""

import os
import sys

from calls import Caller, await_program, idle

ROUNDS = 3


def main(connection, entitled, group):
    caller = Caller(is_late=connection == "nameless")
    number = os.getpid()
    if os.fork():
        os._exit(0)
    sys.stdin.readline()
    if not reuse(number, entitled):
        print("not-reused", flush=True)
        return
    await_program(number, entitled)
    if connection == "nameless":
        caller.say_hello()
    print(caller.search(group), flush=True)


def reuse(number, entitled):
    """Whether an entitled program runs under that number now."""
    with open("/proc/sys/kernel/pid_max") as file:
        attempts = ROUNDS * int(file.read())
    reading, writing = os.pipe()
    os.set_inheritable(writing, False)
    for _ in range(attempts):
        process = os.fork()
        if process == 0:
            if os.getpid() != number:
                os._exit(0)
            os.dup2(reading, 0)
            os.execv(entitled, idle(entitled))
        if process == number:
            return True
        os.waitpid(process, 0)
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
