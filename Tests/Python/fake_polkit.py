"""Stands in for polkit on a private bus: allows the actions that a file lists, and no others.

fake_polkit.py ADDRESS FILE
"""

import sys

from jeepney import HeaderFields, MessageType, new_method_return
from jeepney.bus_messages import DBusNameFlags, message_bus
from jeepney.io.blocking import open_dbus_connection

NAME = "org.freedesktop.PolicyKit1"


def main(address, path):
    connection = open_dbus_connection(address)
    connection.send_and_get_reply(message_bus.RequestName(NAME, DBusNameFlags.do_not_queue))
    print("ready", flush=True)
    while True:
        message = connection.receive()
        fields = message.header.fields
        if message.header.message_type is not MessageType.method_call:
            continue
        if fields[HeaderFields.member] != "CheckAuthorization":
            connection.send(new_method_return(message))
            continue
        with open(path) as file:
            allowed = message.body[1] in file.read().split()
        connection.send(new_method_return(message, "(bba{ss})", ((allowed, False, {}),)))


if __name__ == "__main__":
    main(*sys.argv[1:])
