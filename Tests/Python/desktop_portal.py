"""What a sandboxed application asks of the desktop's portal: the key of its own."""

import os

from jeepney import HeaderFields

from connection import Connection
from portal_client import PORTAL, drained

DESKTOP, SECRET = "org.freedesktop.portal.Desktop", "org.freedesktop.portal.Secret"


class DesktopPortal:
    def __init__(self, address):
        self.connection = Connection(address, descriptors=True)

    def close(self):
        self.connection.close()

    def own_secret(self):
        """The response to the request, and what was written."""
        reading, writing = os.pipe()
        try:
            try:
                body = (writing, {"handle_token": ("s", "test")})
                (handle,) = self.connection.call(PORTAL, SECRET, "RetrieveSecret", "ha{sv}", body, to=DESKTOP)
            finally:
                os.close(writing)
            return self._response(handle), drained(reading)
        finally:
            os.close(reading)

    def _response(self, handle):
        while True:
            signal = self.connection.next_signal()
            fields = signal.header.fields
            if (fields[HeaderFields.path], fields[HeaderFields.member]) == (handle, "Response"):
                return signal.body[0]
