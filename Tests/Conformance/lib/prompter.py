#!/usr/bin/python3
"""prompter.py COMMAND... - stands in for the desktop's prompter: whenever the broker asks for the passcode, it runs the
command, which knows it. Says 'ready' when it has its name. Questions that come while it is told to (SIGUSR1) are
left without an answer until they are withdrawn."""

import subprocess
import sys

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_return
from jeepney.bus_messages import DBus
from jeepney.io.blocking import open_dbus_connection

NAME = "org.chatelaine.Prompter1"


def main():
    connection = open_dbus_connection("SESSION")
    reply = connection.send_and_get_reply(DBus().RequestName(NAME))
    assert reply.body[0] == 1, "somebody has the name"
    print("ready", flush=True)
    while True:
        message = connection.receive()
        if message.header.message_type is not MessageType.method_call:
            continue
        member = message.header.fields.get(HeaderFields.member)
        if member == "Ask":
            subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, check=False)
        elif member != "Withdraw":
            connection.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))
            continue
        connection.send(new_method_return(message))


main()
