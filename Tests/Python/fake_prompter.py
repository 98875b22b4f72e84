"""A prompter whose person is the test."""

import queue
import threading

from jeepney import HeaderFields, MessageType, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

NAME = "org.chatelaine.Prompter1"
WAIT_SECONDS = 60


class FakePrompter:
    """`with FakePrompter(address) as prompter:` what it is asked waits until the test answers."""

    def __init__(self, address):
        self.connection = open_dbus_connection(address)
        self.calls, self.asked, self.offers = queue.Queue(), 0, queue.Queue()

    def __enter__(self):
        self.connection.send_and_get_reply(message_bus.RequestName(NAME))
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.connection.close()

    def _listen(self):
        try:
            while True:
                message = self.connection.receive()
                if message.header.message_type is not MessageType.method_call:
                    continue
                member = message.header.fields[HeaderFields.member]
                if member == "CanAsk":
                    self.connection.send(new_method_return(message, "b", (True,)))
                    self.offers.put(None)
                    continue
                self.asked += member == "Ask"
                self.calls.put(message)
        except (OSError, ValueError):
            return

    def next_call(self, member):
        """The next call, which is this: its arguments and itself."""
        message = self.calls.get(timeout=WAIT_SECONDS)
        got = message.header.fields[HeaderFields.member]
        if got != member:
            raise AssertionError(f"the prompter was called {got}, not {member}")
        return message.body, message

    def await_offers(self, count):
        """Until so many more have heard that it can ask. They hear it before what is answered after."""
        for _ in range(count):
            self.offers.get(timeout=WAIT_SECONDS)

    def answer(self, message):
        self.connection.send(new_method_return(message))
