"""A person with polkit's own text agent: answers for one process, with the password that comes on standard
input, or leaves the question open when that line is empty.

    agent.py PID

Prints `ready` when polkit knows of it, and `asked` when a password is asked for. Ends when its input does.
"""

import os
import pty
import select
import signal
import sys
import termios
import time

ECHO_FLAGS = 3


def main(process):
    password = sys.stdin.buffer.readline()
    reader, writer = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        os.set_inheritable(writer, True)
        os.execvp("pkttyagent", ["pkttyagent", "--process", process, "--notify-fd", str(writer)])
    os.close(writer)
    os.read(reader, 1)
    print("ready", flush=True)
    try:
        watch(terminal, password)
    finally:
        os.kill(child, signal.SIGTERM)


def watch(terminal, password):
    """Until the agent ends, or standard input does."""
    seen = b""
    while True:
        readable = select.select([terminal, sys.stdin], [], [])[0]
        if terminal not in readable:
            return
        try:
            got = os.read(terminal, 1024)
        except OSError:
            return
        seen += got
        if b"assword:" in seen:
            seen = b""
            answer(terminal, password)


def answer(terminal, password):
    # What is typed before the echo is off is thrown away; nothing tells of it.
    while termios.tcgetattr(terminal)[ECHO_FLAGS] & termios.ECHO:
        time.sleep(0.01)
    print("asked", flush=True)
    if password.strip():
        os.write(terminal, password)


if __name__ == "__main__":
    main(*sys.argv[1:])
