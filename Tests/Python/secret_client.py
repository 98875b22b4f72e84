"""A small client of org.freedesktop.secrets, for the tests: strict and without comfort."""

import os

from jeepney import HeaderFields

from connection import BrokerError, Connection, WireViolation
from secret_words import (
    COLLECTION,
    DEFAULT,
    ENCRYPTED,
    GROUP,
    ITEM,
    LOGIN,
    NAME,
    PLAIN,
    PROPERTIES,
    ROOT,
    SERVICE,
    SESSION,
    WireSession,
    agree,
)


class SecretClient:
    """One connection of its own, which hears every signal that reaches it, and a session when one is needed."""

    def __init__(self, address):
        self.connection = Connection(address, destination=NAME)
        self.connection.bus_call("AddMatch", "s", ("type='signal'",))
        self._session = None

    def close(self):
        self.connection.close()

    def name(self):
        return self.connection.unique_name

    def call(self, path, interface, member, signature=None, body=(), returns=None, timeout=60.0):
        return self.connection.call(
            path, interface, member, signature, body, returns=returns, timeout=timeout
        )

    def get(self, path, interface, name):
        return self.call(path, PROPERTIES, "Get", "ss", (interface, name), "v")[0][1]

    def set(self, path, interface, name, signature, value):
        self.call(path, PROPERTIES, "Set", "ssv", (interface, name, (signature, value)), "")

    def introspect(self, path):
        return self.call(path, "org.freedesktop.DBus.Introspectable", "Introspect", returns="s")[0]

    # Sessions

    def open_session(self, algorithm=ENCRYPTED):
        if algorithm == PLAIN:
            _, path = self.call(ROOT, SERVICE, "OpenSession", "sv", (PLAIN, ("s", "")), "vo")
            return WireSession(path)
        private = int.from_bytes(os.urandom(128), "big") % GROUP
        public = pow(2, private, GROUP)
        given = ("ay", public.to_bytes((public.bit_length() + 7) // 8, "big"))
        (_, theirs), path = self.call(ROOT, SERVICE, "OpenSession", "sv", (ENCRYPTED, given), "vo")
        shared, key = agree(private, bytes(theirs))
        return WireSession(path, key, shared)

    @property
    def session(self):
        if self._session is None:
            self._session = self.open_session()
        return self._session

    def session_path(self):
        return self.session.path

    def use_plain_session(self):
        self._session = self.open_session(PLAIN)

    def forget_session(self):
        """For when the broker that held it is gone."""
        self._session = None

    # Items

    def create(self, label, attributes, secret, collection=DEFAULT, replace=False, content_type="text/plain"):
        """The new item's path."""
        properties = {ITEM + ".Label": ("s", label), ITEM + ".Attributes": ("a{ss}", attributes)}
        body = (properties, self.session.seal(secret, content_type), replace)
        path, prompt = self.call(collection, COLLECTION, "CreateItem", "a{sv}(oayays)b", body, "oo")
        return self._without_prompt(path, prompt)

    def secret(self, item):
        return self.secret_and_type(item)[0]

    def secret_and_type(self, item):
        (value,) = self.call(item, ITEM, "GetSecret", "o", (self.session.path,), "(oayays)")
        return self.session.unseal(value)

    def set_secret(self, item, secret):
        self.call(item, ITEM, "SetSecret", "(oayays)", (self.session.seal(secret),), "")

    def secrets(self, items):
        (found,) = self.call(ROOT, SERVICE, "GetSecrets", "aoo", (items, self.session.path), "a{o(oayays)}")
        return {path: self.session.unseal(value)[0] for path, value in found.items()}

    def search(self, attributes):
        """The unlocked and the locked ones."""
        return self.call(ROOT, SERVICE, "SearchItems", "a{ss}", (attributes,), "aoao")

    def search_in(self, collection, attributes):
        return self.call(collection, COLLECTION, "SearchItems", "a{ss}", (attributes,), "ao")[0]

    def delete(self, path, interface=ITEM):
        self._without_prompt(None, self.call(path, interface, "Delete", returns="o")[0])

    # Collections

    def collections(self):
        return self.get(ROOT, SERVICE, "Collections")

    def items(self, collection=LOGIN):
        return self.get(collection, COLLECTION, "Items")

    def create_collection(self, label, alias=""):
        body = ({COLLECTION + ".Label": ("s", label)}, alias)
        path, prompt = self.call(ROOT, SERVICE, "CreateCollection", "a{sv}s", body, "oo")
        return self._without_prompt(path, prompt)

    def read_alias(self, alias):
        return self.call(ROOT, SERVICE, "ReadAlias", "s", (alias,), "o")[0]

    def set_alias(self, alias, collection):
        self.call(ROOT, SERVICE, "SetAlias", "so", (alias, collection), "")

    def lock(self, *paths):
        """What is locked, and the prompt for the rest."""
        return self.call(ROOT, SERVICE, "Lock", "ao", (list(paths),), "aoo")

    def unlock(self, *paths):
        return self.call(ROOT, SERVICE, "Unlock", "ao", (list(paths),), "aoo")

    # Signals

    def heard(self):
        """What this front has told this connection by now: member, path and arguments."""
        self.connection.ping_at(ROOT)
        arrived = [self._told(message) for message in self.connection.signals]
        self.connection.signals.clear()
        return [signal for signal in arrived if signal]

    def _told(self, message):
        fields = message.header.fields
        if not fields[HeaderFields.path].startswith(ROOT):
            return None
        return (fields[HeaderFields.member], fields[HeaderFields.path], tuple(message.body))

    # For attacks

    def open_sessions(self, count):
        """Opens so many and closes them; how many it got before it was refused, and with what."""
        opened, name = [], ""
        try:
            while len(opened) < count:
                opened.append(self.open_session(PLAIN))
        except BrokerError as error:
            name = error.name
        for session in opened:
            self.call(session.path, SESSION, "Close", returns="")
        return len(opened), name

    def fill(self, collection, count, secret):
        """Creates so many items; how many it got before it was refused, and with what."""
        for number in range(count):
            try:
                self.create(f"item {number}", {"number": str(number)}, secret, collection)
            except BrokerError as error:
                return number, error.name
        return count, ""

    # For the field's failures

    def search_when_owned(self, attributes):
        """Searches as soon as the front's name has an owner, in a tight loop until then; what it was answered."""
        while not self.connection.bus_call("NameHasOwner", "s", (NAME,))[0]:
            pass
        try:
            return self.search(attributes)
        except BrokerError as error:
            return error.name

    def padded_sessions(self, wanted, item):
        """Opens sessions until so many had a shared number that begins with zeros; the secrets that those read."""
        read = []
        while len(read) < wanted:
            session = self.open_session()
            if session.shared[0] == 0:
                (value,) = self.call(item, ITEM, "GetSecret", "o", (session.path,), "(oayays)")
                read.append(session.unseal(value)[0])
            self.call(session.path, SESSION, "Close", returns="")
        return read

    def create_at_once(self, label, alias, times):
        """So many CreateCollection, all sent before the first is answered; the paths."""
        body = ({COLLECTION + ".Label": ("s", label)}, alias)
        sent = [self.connection.send(ROOT, SERVICE, "CreateCollection", "a{sv}s", body) for _ in range(times)]
        return [self._without_prompt(*self.connection.reply(serial)) for serial in sent]

    @staticmethod
    def come_and_go(address, times):
        """So many connections that open a session as their first call, and are gone before the answer."""
        for _ in range(times):
            connection = Connection(address, destination=NAME)
            connection.send(ROOT, SERVICE, "OpenSession", "sv", (PLAIN, ("s", "")))
            connection.close()

    @staticmethod
    def _without_prompt(path, prompt):
        if prompt != "/":
            raise WireViolation("this front asks for nothing here, and gave a prompt")
        return path
