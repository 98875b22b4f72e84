#!/usr/bin/python3
"""A pinentry whose person is the test: each command that it is given goes over a socket, and each GETPIN or
CONFIRM is answered with what comes back there. It is copied beside the socket and run from there."""

import os
import socket
import sys

person = socket.socket(socket.AF_UNIX)
person.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "person"))
with person.makefile("rwb", buffering=0) as wire:
    sys.stdout.write("OK Pleased to meet you\n")
    sys.stdout.flush()
    for line in sys.stdin.buffer:
        wire.write(line)
        answer = b"OK\n"
        if line.startswith((b"GETPIN", b"CONFIRM")):
            count = int(wire.readline() or 0)
            answer = wire.read(count)
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
        if line == b"BYE\n":
            break
