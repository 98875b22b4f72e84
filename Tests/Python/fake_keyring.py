"""A keyring whose every answer is the test's: for what no real one does on demand."""

import os
import threading

from jeepney import HeaderFields, MessageType, new_error, new_method_return, new_signal, DBusAddress
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from secret_words import (
    COLLECTION,
    ENCRYPTED,
    GROUP,
    IS_LOCKED,
    LOGIN,
    NAME,
    PROMPT,
    ROOT,
    WireSession,
    agree,
)

NOT_SUPPORTED = "org.freedesktop.DBus.Error.NotSupported"
SESSION_PATH, PROMPT_PATH = ROOT + "/session/s1", ROOT + "/prompt/p1"


class FakeKeyring:
    """`with FakeKeyring(address, items) as keyring:` one collection; `items` are (label, attributes, secret)."""

    def __init__(self, address, items, *, label="Login", encrypts=True, agrees=True):
        self.connection = open_dbus_connection(address)
        self.items = {f"{LOGIN}/{number}": list(item) for number, item in enumerate(items)}
        self.label, self.encrypts, self.agrees = label, encrypts, agrees
        self.locked, self.asks_to_delete, self.spoiled = set(), False, {}
        self.algorithms, self.session, self.waiting, self.prompted = [], None, None, 0

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
                if message.header.message_type is MessageType.method_call:
                    fields = message.header.fields
                    path, member = fields[HeaderFields.path], fields[HeaderFields.member]
                    getattr(self, "_" + member)(message, path, *message.body)
        except (OSError, ValueError):
            return

    def _answer(self, message, signature=None, *body):
        self.connection.send(new_method_return(message, signature, body))

    def _refuse(self, message, name):
        self.connection.send(new_error(message, name))

    def _OpenSession(self, message, _, algorithm, given):
        self.algorithms.append(algorithm)
        if algorithm != ENCRYPTED or not self.encrypts:
            return self._refuse(message, NOT_SUPPORTED)
        private = int.from_bytes(os.urandom(128), "big") % GROUP
        _, key = agree(private, bytes(given[1]))
        self.session = WireSession(SESSION_PATH, key)
        public = pow(2, private, GROUP).to_bytes(128, "big")
        self._answer(message, "vo", ("ay", public), SESSION_PATH)

    def _ReadAlias(self, message, _, alias):
        self._answer(message, "o", LOGIN if alias == "default" else "/")

    def _Get(self, message, _, interface, name):
        self._answer(message, "v", ("ao", [LOGIN]))

    def _GetAll(self, message, path, interface):
        if interface == COLLECTION:
            values = {"Label": ("s", self.label), "Locked": ("b", False), "Items": ("ao", list(self.items))}
        else:
            label, attributes, _ = self.items[path]
            values = {"Label": ("s", label), "Attributes": ("a{ss}", attributes), "Modified": ("t", 1)}
        self._answer(message, "a{sv}", values)

    def _GetSecret(self, message, path, session):
        if path in self.locked:
            return self._refuse(message, IS_LOCKED)
        value = self.session.seal(self.items[path][2])
        self._answer(message, "(oayays)", self.spoiled.get(path, lambda value: value)(value))

    def _Unlock(self, message, _, paths):
        self.waiting = lambda: self.locked.difference_update(paths)
        self._answer(message, "aoo", [], PROMPT_PATH)

    def _Delete(self, message, path):
        self.waiting = lambda: self.items.pop(path)
        if not self.asks_to_delete:
            self.waiting()
        self._answer(message, "o", PROMPT_PATH if self.asks_to_delete else "/")

    def _Prompt(self, message, path, _):
        self.prompted += 1
        self._answer(message)
        if self.agrees:
            self.waiting()
        source = DBusAddress(path, interface=PROMPT)
        self.connection.send(new_signal(source, "Completed", "bv", (not self.agrees, ("s", ""))))
