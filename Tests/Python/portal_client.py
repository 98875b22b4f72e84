"""What the desktop's portal asks of its backend, and what any program can ask of org.freedesktop.secrets."""

import os
import select

from connection import Connection

SECRETS = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
LOGIN = ROOT + "/collection/login"
PORTAL = "/org/freedesktop/portal/desktop"
REQUESTS = PORTAL + "/request"
SERVICE, COLLECTION, ITEM = (f"org.freedesktop.Secret.{name}" for name in ("Service", "Collection", "Item"))
BACKEND, REQUEST = "org.freedesktop.impl.portal.Secret", "org.freedesktop.impl.portal.Request"
PROPERTIES = "org.freedesktop.DBus.Properties"
WAIT_SECONDS = 60


def drained(end):
    """What comes from a descriptor until its other end is closed."""
    data = b""
    while select.select([end], [], [], WAIT_SECONDS)[0]:
        piece = os.read(end, 4096)
        if not piece:
            return data
        data += piece
    raise TimeoutError("the writing end was not closed")


class PortalClient:
    """A connection that waits until somebody serves org.freedesktop.secrets."""

    def __init__(self, address):
        self.connection = Connection(address, descriptors=True)
        self.count = 0
        rule = f"type='signal',member='NameOwnerChanged',arg0='{SECRETS}'"
        self.connection.bus_call("AddMatch", "s", (rule,))
        while not self.connection.bus_call("NameHasOwner", "s", (SECRETS,))[0]:
            self.connection.next_signal()

    def close(self):
        self.connection.close()

    def call(self, path, interface, member, signature=None, body=()):
        return self.connection.call(path, interface, member, signature, body, to=SECRETS)

    # The portal

    def handle(self):
        self.count += 1
        return f"{REQUESTS}/test/number{self.count}"

    def send(self, app_id, descriptor, handle=None):
        """Asks, and does not wait: the serial and the handle."""
        handle = handle or self.handle()
        body = (handle, app_id, descriptor, {"token": ("s", "t"), "of_tomorrow": ("u", 1)})
        serial = self.connection.send(PORTAL, BACKEND, "RetrieveSecret", "osha{sv}", body, to=SECRETS)
        return serial, handle

    def give(self, app_id, descriptor, handle=None):
        """The response, when the secret was written to the descriptor."""
        response, results = self.connection.reply(self.send(app_id, descriptor, handle)[0])
        if results:
            raise AssertionError(f"there are results: {sorted(results)}")
        return response

    def retrieve(self, app_id, handle=None):
        """The response, and what was written."""
        reading, writing = os.pipe()
        try:
            try:
                response = self.give(app_id, writing, handle)
            finally:
                os.close(writing)
            return response, drained(reading)
        finally:
            os.close(reading)

    def close_request(self, handle):
        self.call(handle, REQUEST, "Close")

    # Any program

    def create(self, attributes, secret):
        """Stores an item in the default collection: its path."""
        _, session = self.call(ROOT, SERVICE, "OpenSession", "sv", ("plain", ("s", "")))
        properties = {ITEM + ".Attributes": ("a{ss}", attributes)}
        body = (properties, (session, b"", secret, "text/plain"), False)
        return self.call(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", body)[0]

    def search(self, attributes):
        """The paths of all items that are found."""
        unlocked, locked = self.call(ROOT, SERVICE, "SearchItems", "a{ss}", (attributes,))
        return unlocked + locked

    def property(self, path, interface, name):
        return self.call(path, PROPERTIES, "Get", "ss", (interface, name))[0][1]

    def lock(self):
        self.call(ROOT, SERVICE, "Lock", "ao", ([LOGIN],))
