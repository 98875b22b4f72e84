"""A separate client process, moved by JSON lines on its standard input.

The harness runs it under copies of the interpreter, so that each copy is an executable of its own to the
broker. `{"method": M, "args": [...], "options": {...}}` is answered with `{"ok": ...}` or `{"error": ...}`.
"""

import ctypes
import os
import sys
import time

# A descriptor of its own for the answers: nothing that is printed by accident gets among them.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

from jeepney import HeaderFields  # noqa: E402

import plainwire  # noqa: E402
from attributes import Item, decode, encode  # noqa: E402
from chatelaine_client import ITEMS, OBJECT, REFRESH, Client  # noqa: E402
from connection import BUS_NAME, BrokerError, WireViolation  # noqa: E402
from desktop_portal import DesktopPortal  # noqa: E402
from portal_client import PortalClient  # noqa: E402
from secret_client import SecretClient  # noqa: E402
from sessions import PLAIN, PlainSession  # noqa: E402
from storm import Storm  # noqa: E402
from token_client import TokenClient  # noqa: E402

PR_SET_DUMPABLE, PTRACE_SEIZE = 4, 0x4206


class Puppet:
    def __init__(self):
        self.client, self.secret_client = None, None

    def of_secret_service(self, address, method, *args, **options):
        """A call of this process's client of org.freedesktop.secrets, on a connection of its own."""
        if self.secret_client is None:
            self.secret_client = SecretClient(address)
        return getattr(self.secret_client, method)(*args, **options)

    def connect(self, address=None):
        if self.client:
            self.client.close()
        self.client = Client(address)
        return self.client.connection.unique_name

    def disconnect(self):
        self.client.close()

    def raw_call(self, path, interface, member, signature, body):
        """A call as it is given, checked by nobody on this side."""
        return self.client.connection.call(path, interface, member, signature, body)

    def raw_bus_call(self, member, signature, body):
        return self.client.connection.bus_call(member, signature, body)

    def secret_service(self, path, interface, member, signature=None, body=()):
        """A call of another front of the broker's, whose names and paths these are."""
        to = "org.freedesktop.secrets"
        return self.client.connection.call(path, interface, member, signature, body, to=to)

    def signals_until(self, member):
        """Path, name and arguments of each signal, up to the first of that name."""
        signals = []
        while not signals or signals[-1][1] != member:
            message = self.client.connection.next_signal()
            fields = message.header.fields
            signals.append([fields[HeaderFields.path], fields[HeaderFields.member], list(message.body)])
        return signals

    def locked_told(self):
        """What has been told of `Locked` by now, by path; nothing stays behind."""
        self.client.connection.ping()
        told = {}
        for message in self.client.connection.signals:
            fields = message.header.fields
            if fields[HeaderFields.member] == "PropertiesChanged" and "Locked" in message.body[1]:
                told[fields[HeaderFields.path]] = message.body[1]["Locked"][1]
        self.client.connection.signals.clear()
        return told

    def signals_so_far(self):
        """The names of those that have come by now."""
        self.client.connection.ping()
        names = [message.header.fields[HeaderFields.member] for message in self.client.connection.signals]
        self.client.connection.signals.clear()
        return names

    def session_path(self):
        return self.client.session.path

    def find(self, query):
        """As `read`, None where there is none."""
        try:
            return self.client.read(query)
        except BrokerError as error:
            if error.name == "ItemNotFound":
                return None
            raise

    def read_at_once(self, queries):
        """Reads that wait side by side, each of which may ask: the secret in hexadecimal, or the error's name."""
        return [self._read_answer(serial) for serial in [self._begin_read(query) for query in queries]]

    def begin_read(self, query):
        """Comes back when the broker has begun with the read; the answer is taken by nobody."""
        self.client.search({"Class": "generic-password", "Service": "none"})
        self._begin_read(query)
        self.client.property("State")

    def _begin_read(self, query):
        body = (encode(query, self.client.session), self.client.session.path)
        return self.client.connection.send(OBJECT, ITEMS, "Read", "a{sv}o", body, interactive=True)

    def _read_answer(self, serial):
        try:
            _, sealed = self.client.connection.reply(serial)
            return self.client.session.unseal(sealed).hex()
        except BrokerError as error:
            return error.name

    def flip(self, query, values, times, write):
        """Stores (or updates to) one value after the other."""
        for number in range(times):
            value = values[number % len(values)]
            if write == "store":
                self.client.store(query, value)
            else:
                self.client.update(query, {}, value)

    def watch_values(self, query, times):
        """The values that so many reads saw, in hexadecimal; a read that is refused ends it."""
        return sorted({self.client.read(query).secret.hex() for _ in range(times)})

    def add_many(self, items, secret, in_flight=64):
        """Adds the items, several at a time."""
        waiting = []
        for attributes in items:
            body = (encode(attributes), self.client.session.seal(secret))
            waiting.append(self.client.connection.send(OBJECT, ITEMS, "Add", "a{sv}(oayay)", body))
            if len(waiting) == in_flight:
                self.client.connection.reply(waiting.pop(0))
        for serial in waiting:
            self.client.connection.reply(serial)

    def name_groups(self, prefix, times, client=None, in_flight=64):
        """So many searches, each in another group; how many were refused for want of an entitlement."""
        connection = (client or self.client).connection
        waiting, refused = [], 0
        for number in range(times):
            query = {"Class": "generic-password", "AccessGroup": f"{prefix}{number}"}
            waiting.append(connection.send(OBJECT, ITEMS, "Search", "a{sv}", (encode(query),)))
            if len(waiting) == in_flight:
                refused += self._is_refused(connection, waiting.pop(0))
        return refused + sum(self._is_refused(connection, serial) for serial in waiting)

    def _is_refused(self, connection, serial):
        try:
            connection.reply(serial)
        except BrokerError as error:
            return error.name == "MissingEntitlement"
        return False

    def name_groups_over(self, address, prefix, connections, times):
        """As `name_groups`, over so many connections that are open at once."""
        clients = [Client(address) for _ in range(connections)]
        refused = sum(self.name_groups(prefix, times, client) for client in clients)
        for client in clients:
            client.close()
        return refused

    def begin_later(self, query, stale, timeout_microseconds):
        """Sends a Begin, and comes back when the broker has looked at it and at a call behind it; whether it waits."""
        client = self.client
        body = (encode(query), stale, timeout_microseconds, client.session.path)
        self.begun = client.connection.send(OBJECT, REFRESH, "Begin", "a{sv}tto", body)
        client.property("State")
        return not client.connection.has_reply(self.begun)

    def begun_answer(self):
        """The answer to the Begin that was sent."""
        outcome, fence, attributes, value = self.client.connection.reply(self.begun)
        return outcome, fence, Item(decode(attributes), self.client.session.unseal(value))

    def now(self):
        """Microseconds since the epoch, as this process sees them."""
        return time.time_ns() // 1000

    def next_signals(self, count):
        """So many of the broker's signals, as they come: name and arguments."""
        found = [self.client.next_signal() for _ in range(count)]
        return [[signal.name, list(signal.arguments)] for signal in found]

    def count_secrets(self, query):
        return len(self.client.read_all(query))

    def open_many(self, address, query, connections, sessions):
        """Reads through so many sessions over so many connections, all open at once; how many reads."""
        clients = [Client(address) for _ in range(connections)]
        for number in range(sessions):
            client = clients[number % connections]
            session = client.open_session()
            body = (encode(query), session.path)
            session.unseal(client.connection.call(OBJECT, ITEMS, "Read", "a{sv}o", body)[1])
        for client in clients:
            client.close()
        return sessions

    def ask_without_reading(self, address, query, times):
        """Asks for a secret over a connection that nobody reads from, and closes it in the end."""
        deaf = Client(address)
        body = (encode(query), deaf.session.path)
        for _ in range(times):
            deaf.connection.send(OBJECT, ITEMS, "Read", "a{sv}o", body)
        self.client.connection.ping()
        deaf.close()

    def search_without_reading(self, query, times):
        """Asks that often, for as long as it is taken, and reads no answer."""
        self.client.connection.socket.settimeout(2.0)
        for _ in range(times):
            try:
                self.client.connection.send(OBJECT, ITEMS, "Search", "a{sv}", (encode(query),))
            except OSError:
                break

    def read_when_owned(self, query):
        """Reads as soon as the broker's name has an owner, in a tight loop until then."""
        while not self.client.connection.bus_call("NameHasOwner", "s", (BUS_NAME,))[0]:
            pass
        self.client.forget_session()
        return self.client.read(query).secret

    def use_plain_session(self):
        """From here on this client's secrets cross the bus in clear."""
        self.client.use_plain_session()

    def store_plainly(self, path, attributes, secret):
        """Stores through a new plain session, or through the one of that path, which every connection has."""
        session = PlainSession(path) if path else self.client.open_session(PLAIN)
        body = (encode(attributes), session.seal(secret))
        return self.client.connection.call(OBJECT, ITEMS, "Store", "a{sv}(oayay)", body)

    def can_read(self, path):
        try:
            with open(path, "rb"):
                return True
        except PermissionError:
            return False

    def can_trace(self, process):
        return ctypes.CDLL(None, use_errno=True).ptrace(PTRACE_SEIZE, process, None, None) == 0

    def storm(self, name, seed):
        """Writes without pause until the broker dies; what was acknowledged, what was under way."""
        return Storm(self.client, name, seed).run()

    def keep_fresh(self, port, diary, stop, accounts, seed):
        """Keeps the tokens of those accounts fresh, until the file of that name is there; how many it used."""
        return TokenClient(self.client, port, diary, stop, accounts, seed).run()

    def freshen(self, port, diary, account):
        """Has a fresh token of that account in the end."""
        return TokenClient(self.client, port, diary, "", [account], 0).obtain(account)

    def retrieve_secret(self, app_id):
        """Asks for an application's own secret as the desktop's portal would: the error, and how much was written."""
        portal = PortalClient(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        reading, writing = os.pipe()
        error = ""
        try:
            portal.give(app_id, writing)
        except BrokerError as problem:
            error = problem.name
        portal.close()
        os.close(writing)
        written = len(os.read(reading, 4096))
        os.close(reading)
        return [error, written]

    def own_portal_secret(self):
        """Asks the desktop's portal for this application's own secret: the response, and what was written."""
        portal = DesktopPortal(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        try:
            return portal.own_secret()
        finally:
            portal.close()

    def create_secret(self, attributes, secret):
        """Stores by org.freedesktop.secrets: the item's path."""
        return PortalClient(os.environ["DBUS_SESSION_BUS_ADDRESS"]).create(attributes, secret)

    def search_secret_service(self, attributes):
        """Searches by org.freedesktop.secrets: the items' paths."""
        return PortalClient(os.environ["DBUS_SESSION_BUS_ADDRESS"]).search(attributes)

    def close_to_others(self):
        """From here on /proc shows nothing of this process to its own user."""
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)

    def run(self, method, args, options):
        target = getattr(self, method, None) or getattr(self.client, method)
        return target(*args, **options)


def main():
    puppet = Puppet()
    for line in sys.stdin:
        command = plainwire.loads(line)
        try:
            answer = {"ok": puppet.run(command["method"], command["args"], command["options"])}
        except BrokerError as error:
            answer = {
                "error": {
                    "name": error.name,
                    "text": error.text,
                    "code": error.code,
                    "revision": error.revision,
                }
            }
        except WireViolation as violation:
            answer = {"violation": str(violation)}
        except (OSError, TimeoutError) as error:
            answer = {"lost": f"{type(error).__name__}: {error}"}
        answers.write(plainwire.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
