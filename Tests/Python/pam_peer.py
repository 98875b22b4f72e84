"""Stands where a user's broker would listen, and keeps whatever it is sent: SOCKET RECORD WAY [PROGRAM ARGUMENT ...].

`answers`: as a broker does, as far as it can. `silent`: says nothing. `garbage`, `flood`, `closes`, `refuses`, `guesses`:
after the handshake. `execs`: becomes the program, and a child of it answers at the same socket. Says `ready` when
somebody may connect.
"""

import os
import socket
import sys

HEAD = 16
OUR_SERIAL = (1).to_bytes(4, "little")


def main(path, record, way, *program):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    if way == "execs":
        if os.fork():
            # The listener stays with the child.
            os.execv(program[0], program)
        way = "answers"
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection, open(record, "ab", buffering=0) as file:
            try:
                serve(connection, file, way)
            except (OSError, EOFError):
                pass


def serve(connection, file, way):
    def take(count):
        data = connection.recv(count)
        file.write(data)
        if not data:
            raise EOFError
        return data

    if way == "silent":
        while True:
            take(4096)
    heard = b""
    while b"\r\n" not in heard:
        heard += take(4096)
    connection.sendall(b"REJECTED EXTERNAL\r\n" if way == "refuses" else b"OK 0123456789abcdef0123456789abcdef\r\n")
    while b"BEGIN\r\n" not in heard:
        heard += take(4096)
    call = heard.split(b"BEGIN\r\n", 1)[1]
    if way == "garbage":
        connection.sendall(os.urandom(64 << 10))
    while way == "flood":
        connection.sendall(signal())
    if way == "closes":
        return
    while True:
        while len(call) < HEAD:
            call += take(4096)
        serial = call[8:12] if way == "answers" else OUR_SERIAL
        connection.sendall(answer(serial))
        call = take(4096)


def answer(serial):
    """A method's return without a body."""
    fields = bytes((5, 1)) + b"u\0" + serial
    return b"l\2\1\1" + bytes(4) + OUR_SERIAL + len(fields).to_bytes(4, "little") + fields


def signal():
    fields = bytes((1, 1)) + b"o\0" + (1).to_bytes(4, "little") + b"/\0"
    padded = fields + bytes(-len(fields) % 8)
    return b"l\4\1\1" + bytes(4) + OUR_SERIAL + len(fields).to_bytes(4, "little") + padded


if __name__ == "__main__":
    main(*sys.argv[1:])
