"""One D-Bus connection over jeepney: calls in flight, replies, signals, errors.

Nothing here starts a thread: whoever waits for a reply also collects the signals that come before it.
"""

import array
import re
import socket
import time
from collections import deque

from jeepney import HeaderFields, Message, MessageFlag, MessageType, new_method_call, DBusAddress
from jeepney.bus import get_connectable_addresses
from jeepney.io.blocking import prep_socket
from jeepney.low_level import Parser

BUS_NAME = "org.chatelaine.Broker1"
ERROR_PREFIX = "org.chatelaine.Error."
REPLY_SECONDS = 60.0

# INTERFACE.md, errors: Apple's name and number, where there is one.
STATUS = {
    "Param": ("errSecParam", -50),
    "ItemNotFound": ("errSecItemNotFound", -25300),
    "DuplicateItem": ("errSecDuplicateItem", -25299),
    "InteractionNotAllowed": ("errSecInteractionNotAllowed", -25308),
    "AuthFailed": ("errSecAuthFailed", -25293),
    "UserCanceled": ("errSecUserCanceled", -128),
    "MissingEntitlement": ("errSecMissingEntitlement", -34018),
    "NotAvailable": ("errSecNotAvailable", -25291),
    "ReadOnly": ("errSecReadOnly", -25292),
    "NoSuchAttribute": ("errSecNoSuchAttr", -25303),
    "NoSuchClass": ("errSecNoSuchClass", -25306),
    "TooLarge": ("errSecDataTooLarge", -25302),
    "Decode": ("errSecDecode", -26275),
    "IO": ("errSecIO", -36),
}
WITHOUT_STATUS = {
    "RevisionMismatch",
    "LeaseLost",
    "Busy",
    "EncryptionRequired",
    "NoSession",
    "QuotaExceeded",
    "PolicyInvalid",
    "IdentityUnavailable",
    "AccessDenied",
}
STATUS_ENDING = re.compile(r"\((errSec\w+), (-?\d+)\)$")


class WireViolation(Exception):
    """The other side sent what the contract does not allow."""


class BrokerError(Exception):
    """An error reply. `name` is short for the broker's own errors, whole for D-Bus's."""

    def __init__(self, name, text="", code=None, revision=None):
        super().__init__(f"{name}: {text}")
        self.name, self.text, self.code, self.revision = name, text, code, revision

    @classmethod
    def from_reply(cls, message):
        full = message.header.fields[HeaderFields.error_name]
        body = message.body
        text = body[0] if body and isinstance(body[0], str) else ""
        if not full.startswith(ERROR_PREFIX):
            return cls(full, text)
        name = full[len(ERROR_PREFIX) :]
        ending = STATUS_ENDING.search(text)
        found = (ending.group(1), int(ending.group(2))) if ending else None
        if name not in STATUS and name not in WITHOUT_STATUS:
            raise WireViolation(f"the contract has no error {full}")
        if found != STATUS.get(name):
            raise WireViolation(f"{full} ends with {found}, not with {STATUS.get(name)}")
        if name == "RevisionMismatch":
            if message.header.fields.get(HeaderFields.signature) != "st":
                raise WireViolation("RevisionMismatch has no current revision as its second argument")
            return cls(name, text, None, body[1])
        return cls(name, text, found[1] if found else None)


class Connection:
    """A connection to the bus or the peer at `address`; a peer needs no Hello and no destination."""

    def __init__(self, address, *, descriptors=False, say_hello=True, destination=BUS_NAME):
        path = next(get_connectable_addresses(address))
        self.socket = prep_socket(path, descriptors, timeout=10.0)
        self.destination = destination
        self.unique_name = None
        self.signals = deque()
        self._descriptors = descriptors
        self._parser, self._serial, self._replies = Parser(), 0, {}
        if say_hello:
            self.unique_name = self.bus_call("Hello")[0]

    @property
    def is_direct(self):
        """Whether the broker itself is at the other end."""
        return (self.unique_name or ":direct.").startswith(":direct.")

    def close(self):
        self.socket.close()

    def send(self, path, interface, member, signature=None, body=(), *, interactive=False, to=None):
        """Sends a method call without waiting and returns its serial."""
        address = DBusAddress(path, bus_name=to or self.destination or BUS_NAME, interface=interface)
        message = new_method_call(address, member, signature, body)
        if not (to or self.destination):
            del message.header.fields[HeaderFields.destination]
        if interactive:
            message.header.flags |= MessageFlag.allow_interactive_authorization
        return self.send_message(message)

    def send_message(self, message: Message):
        self._serial += 1
        descriptors = array.array("i") if self._descriptors else None
        data = message.serialise(serial=self._serial, fds=descriptors)
        if descriptors:
            sent = self.socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
            data = data[sent:]
        self.socket.sendall(data)
        return self._serial

    def reply(self, serial, timeout=REPLY_SECONDS):
        """The body of the reply to `serial`; raises BrokerError for an error reply."""
        deadline = time.monotonic() + timeout
        while serial not in self._replies:
            self._receive(deadline)
        message = self._replies.pop(serial)
        if message.header.message_type is MessageType.error:
            raise BrokerError.from_reply(message)
        return message.body

    def has_reply(self, serial):
        """Whether `reply` would come back at once; what was not read from the socket yet does not count."""
        return serial in self._replies

    def call(self, path, interface, member, signature=None, body=(), *, returns=None, **options):
        """Sends and waits. `returns` is the signature that the contract gives the reply."""
        timeout = options.pop("timeout", REPLY_SECONDS)
        serial = self.send(path, interface, member, signature, body, **options)
        deadline = time.monotonic() + timeout
        while serial not in self._replies:
            self._receive(deadline)
        message = self._replies[serial]
        got = message.header.fields.get(HeaderFields.signature, "")
        if (
            returns is not None
            and message.header.message_type is MessageType.method_return
            and got != returns
        ):
            raise WireViolation(f"{member} replied with '{got}', not with '{returns}'")
        return self.reply(serial)

    def bus_call(self, member, signature=None, body=()):
        return self.call(
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            member,
            signature,
            body,
            to="org.freedesktop.DBus",
        )

    def next_signal(self, timeout=REPLY_SECONDS):
        """The next signal, in the order of arrival; TimeoutError when none comes."""
        deadline = time.monotonic() + timeout
        while not self.signals:
            self._receive(deadline)
        return self.signals.popleft()

    def ping(self):
        """A round trip to the broker: everything it sent before is then here."""
        self.ping_at("/org/chatelaine/Broker1")

    def ping_at(self, path):
        """The same by another object of the broker's."""
        self.call(path, "org.freedesktop.DBus.Peer", "Ping")

    def _receive(self, deadline):
        while True:
            message = self._parser.get_next_message()
            if message is not None:
                return self._sort(message)
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                data = self.socket.recv(1 << 18)
            finally:
                self.socket.settimeout(None)
            if not data:
                raise ConnectionResetError("the connection was closed by the other side")
            self._parser.add_data(data)

    def _sort(self, message):
        kind = message.header.message_type
        if kind is MessageType.signal:
            self.signals.append(message)
        elif kind in (MessageType.method_return, MessageType.error):
            self._replies[message.header.fields[HeaderFields.reply_serial]] = message
