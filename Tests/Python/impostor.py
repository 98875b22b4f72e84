"""Owns the broker's name on a private bus, answers a Ping, and prints the member of every call that reaches it.

impostor.py ADDRESS
"""

import sys

from connection import BUS_NAME
from jeepney import HeaderFields, MessageType, new_method_return
from jeepney.bus_messages import DBusNameFlags, message_bus
from jeepney.io.blocking import open_dbus_connection


def main(address):
    connection = open_dbus_connection(address)
    connection.send_and_get_reply(message_bus.RequestName(BUS_NAME, DBusNameFlags.do_not_queue))
    print("ready", flush=True)
    while True:
        message = connection.receive()
        if message.header.message_type is MessageType.method_call:
            print(message.header.fields[HeaderFields.member], flush=True)
            connection.send(new_method_return(message))


if __name__ == "__main__":
    main(*sys.argv[1:])
