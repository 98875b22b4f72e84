"""Services of the system's bus whose answers the test gives."""

import queue
import threading

from jeepney import HeaderFields, MessageType, new_error, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from expect import equal

WAIT_SECONDS = 20


class Service:
    """`with Service(address, name) as service:` each call to it waits until the test answers."""

    def __init__(self, address, name=None):
        self.name, self.calls, self.heard = name, queue.Queue(), queue.Queue()
        self.connection = open_dbus_connection(address)

    def __enter__(self):
        if self.name:
            equal(self.connection.send_and_get_reply(message_bus.RequestName(self.name)).body, (1,), "the owner")
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.connection.close()

    def _listen(self):
        try:
            while True:
                message = self.connection.receive()
                if message.header.message_type is MessageType.method_call:
                    self.calls.put(message)
                elif message.header.message_type is MessageType.method_return:
                    self.heard.put(message)
        except (OSError, ValueError):
            return

    def next_call(self, member):
        """The next call, which is this."""
        message = self.calls.get(timeout=WAIT_SECONDS)
        equal(message.header.fields[HeaderFields.member], member, "what is called")
        return message

    def answer(self, message, signature=None, body=()):
        self.connection.send(new_method_return(message, signature, body))

    def ping(self):
        """The bus has passed on what was sent before when it answers."""
        self.connection.send(message_bus.GetId())
        self.heard.get(timeout=WAIT_SECONDS)

    def refuse(self, message, name):
        self.connection.send(new_error(message, name, "s", ("refused",)))


class Polkit(Service):
    def __init__(self, address, name="org.freedesktop.PolicyKit1"):
        super().__init__(address, name)

    def asked(self):
        """The next question."""
        return self.next_call("CheckAuthorization")

    def say(self, message, authorized=False, challenge=False, **details):
        details = {f"polkit.{key}": value for key, value in details.items()}
        self.answer(message, "(bba{ss})", ((authorized, challenge, details),))
