"""A small client of org.chatelaine.Broker1, written from the contract and from nothing else.

It is the cross-check of the wire format by another implementation: it looks at the signature of each
reply, at the type of each attribute, at each nonce and at the ending of each error's text.
"""

import os
from typing import NamedTuple

from jeepney import HeaderFields

from attributes import Item, decode, encode
from connection import Connection, WireViolation
from sessions import ENCRYPTED, PLAIN, EncryptedSession, PlainSession

OBJECT = "/org/chatelaine/Broker1"
PREFIX = "org.chatelaine.Broker1."
ITEMS, SUBSCRIPTIONS = PREFIX + "Items", PREFIX + "Subscriptions"
REFRESH, MANAGER, SESSION = PREFIX + "Refresh", PREFIX + "Manager", PREFIX + "Session"
SIGNALS = {"LockStateChanged": "tsb", "LoggedOut": "tssts", "ItemChanged": "tssst", "RefreshNeeded": "tss"}


class Signal(NamedTuple):
    """A signal of `.Subscriptions`, or `PropertiesChanged`."""

    name: str
    arguments: tuple


class Client:
    """One connection and, once a secret has crossed, one session on it."""

    def __init__(self, address=None, *, descriptors=False, path=OBJECT):
        self._descriptors, self.path, self.connection = descriptors, path, None
        self.connect(address or os.environ["DBUS_SESSION_BUS_ADDRESS"])

    def connect(self, address):
        """Connects, again if need be; nothing of the connection before is kept."""
        if self.connection:
            self.close()
        self.connection = Connection(address, descriptors=self._descriptors)
        self.forget_session()

    def close(self):
        self.connection.close()

    # Sessions

    def open_session(self, algorithm=ENCRYPTED):
        """A new session, which the caller keeps."""
        session = EncryptedSession() if algorithm == ENCRYPTED else PlainSession()
        output, path = self._call(ITEMS, "OpenSession", "sv", (algorithm, session.input), returns="vo")
        return session.open_with(output, path)

    @property
    def session(self):
        """The session that calls without one of their own use."""
        if self._session is None:
            self._session = self.open_session(self._session_kind)
        return self._session

    def use_plain_session(self):
        """From here on secrets of calls without a session of their own go in clear."""
        self._session_kind = PLAIN
        self._session = None

    def forget_session(self):
        """For when the broker that held it is gone."""
        self._session, self._session_kind = None, ENCRYPTED

    def close_session(self, session):
        self.connection.call(session.path, SESSION, "Close", returns="")

    # Items

    def add(self, attributes, secret, *, interactive=False, session=None):
        session = session or self.session
        body = (encode(attributes, session), session.seal(secret))
        return self._call(ITEMS, "Add", "a{sv}(oayay)", body, returns="st", interactive=interactive)

    def store(self, attributes, secret, *, interactive=False):
        body = (encode(attributes, self.session), self.session.seal(secret))
        return self._call(ITEMS, "Store", "a{sv}(oayay)", body, returns="stb", interactive=interactive)

    def read(self, query, *, interactive=False):
        body = (encode(query, self.session), self.session.path)
        found = self._call(ITEMS, "Read", "a{sv}o", body, returns="a{sv}(oayay)", interactive=interactive)
        return Item(decode(found[0]), self.session.unseal(found[1]))

    def read_all(self, query, *, interactive=False):
        body = (encode(query, self.session), self.session.path)
        (found,) = self._call(
            ITEMS, "ReadAll", "a{sv}o", body, returns="a(a{sv}(oayay))", interactive=interactive
        )
        return [Item(decode(one), self.session.unseal(value)) for one, value in found]

    def search(self, query, *, interactive=False):
        (found,) = self._call(
            ITEMS, "Search", "a{sv}", (encode(query),), returns="aa{sv}", interactive=interactive
        )
        return [decode(one) for one in found]

    def update(self, query, changes, *secrets, interactive=False):
        needs_session = secrets or "ApplicationPassword" in query
        session = self.session if needs_session else None
        body = (encode(query, session), encode(changes), [session.seal(secret) for secret in secrets])
        (updated,) = self._call(
            ITEMS, "Update", "a{sv}a{sv}a(oayay)", body, returns="u", interactive=interactive
        )
        return updated

    def delete(self, query, *, interactive=False):
        return self._call(ITEMS, "Delete", "a{sv}", (encode(query),), returns="u", interactive=interactive)[0]

    def logout(self, group, service="", reason=""):
        return self._call(ITEMS, "Logout", "sss", (group, service, reason), returns="ut")

    # Subscriptions

    def subscribe(self, *groups):
        """The state, each group's epoch, and the sequence."""
        state, epochs, sequence = self._call(
            SUBSCRIPTIONS, "Subscribe", "as", (list(groups),), returns="sa(st)t"
        )
        return state, dict(epochs), sequence

    def unsubscribe(self):
        self._call(SUBSCRIPTIONS, "Unsubscribe", returns="")

    def acknowledge(self, group, epoch):
        self._call(SUBSCRIPTIONS, "Acknowledge", "st", (group, epoch), returns="")

    def next_signal(self, timeout=30.0):
        """The next signal of the broker's; the bus's own are left out."""
        while True:
            signal = self._ours(self.connection.next_signal(timeout))
            if signal:
                return signal

    def pending_signals(self):
        """What has arrived by the time of a round trip, without waiting for more."""
        self.connection.ping()
        arrived = [self._ours(message) for message in self.connection.signals]
        self.connection.signals.clear()
        return [signal for signal in arrived if signal]

    def _ours(self, message):
        fields = message.header.fields
        interface, name = fields[HeaderFields.interface], fields[HeaderFields.member]
        if interface == SUBSCRIPTIONS and fields.get(HeaderFields.signature) != SIGNALS.get(name):
            raise WireViolation(f"the signal {name} has another signature than the contract gives it")
        # A direct connection brings it unasked.
        is_wanted = interface == "org.freedesktop.DBus.Properties" and not self.connection.is_direct
        if interface.startswith(PREFIX) or is_wanted:
            return Signal(name, tuple(message.body))
        return None

    # Refresh

    def begin(self, query, stale, timeout_microseconds, *, interactive=False):
        body = (encode(query, self.session), stale, timeout_microseconds, self.session.path)
        outcome, fence, attributes, value = self._call(
            REFRESH, "Begin", "a{sv}tto", body, returns="sta{sv}(oayay)", interactive=interactive
        )
        return outcome, fence, Item(decode(attributes), self.session.unseal(value))

    def complete(self, fence, changes, secret):
        body = (fence, encode(changes), self.session.seal(secret))
        return self._call(REFRESH, "Complete", "ta{sv}(oayay)", body, returns="t")[0]

    def fail(self, fence, kind, message=""):
        self._call(REFRESH, "Fail", "tss", (fence, kind, message), returns="")

    # Manager

    def property(self, name):
        (variant,) = self.connection.call(
            self.path, "org.freedesktop.DBus.Properties", "Get", "ss", (MANAGER, name), returns="v"
        )
        return variant[1]

    def lock(self):
        self._call(MANAGER, "Lock", returns="")

    def unlock(self, passcode):
        self._call(MANAGER, "Unlock", "(oayay)", (self.session.seal(passcode),), returns="")

    def confirm(self, cookie, passcode):
        self._call(MANAGER, "Confirm", "t(oayay)", (cookie, self.session.seal(passcode)), returns="")

    def set_passcode(self, old, new):
        body = (self.session.seal(old), self.session.seal(new))
        self._call(MANAGER, "SetPasscode", "(oayay)(oayay)", body, returns="")

    def follow_passcode(self, passcode):
        self._call(MANAGER, "FollowPasscode", "(oayay)", (self.session.seal(passcode),), returns="")

    def remove_passcode(self, passcode):
        self._call(MANAGER, "RemovePasscode", "(oayay)", (self.session.seal(passcode),), returns="")

    def create_recovery_key(self, passcode):
        """The key as it is shown."""
        body = (self.session.seal(passcode), self.session.path)
        (sealed,) = self._call(MANAGER, "CreateRecoveryKey", "(oayay)o", body, returns="(oayay)")
        return self.session.unseal(sealed)

    def remove_recovery_key(self, passcode):
        self._call(MANAGER, "RemoveRecoveryKey", "(oayay)", (self.session.seal(passcode),), returns="")

    def preview_recovery(self):
        """How many items are kept, and how many lost."""
        return tuple(self._call(MANAGER, "PreviewRecovery", returns="uu"))

    def recover(self, key, passcode, accepted):
        body = (self.session.seal(key), self.session.seal(passcode), accepted)
        return tuple(self._call(MANAGER, "Recover", "(oayay)(oayay)u", body, returns="uu"))

    def force_logout(self, group, service="", reason=""):
        return self._call(MANAGER, "ForceLogout", "sss", (group, service, reason), returns="uut")

    def move_items(self, source, target):
        return self._call(MANAGER, "MoveItems", "ss", (source, target), returns="u")[0]

    def import_item(self, group, mode, attributes, secret):
        """The outcome, the group and when it was changed."""
        body = (group, mode, encode(attributes, self.session), self.session.seal(secret))
        return list(self._call(MANAGER, "ImportItem", "ssa{sv}(oayay)", body, returns="sst"))

    def import_secret(self, group, mode, collection, label, attributes, content_type, secret):
        body = (group, mode, collection, label, attributes, content_type, self.session.seal(secret))
        return list(self._call(MANAGER, "ImportSecret", "ssssa{ss}s(oayay)", body, returns="sst"))

    def reload_policy(self):
        return self._call(MANAGER, "ReloadPolicy", returns="as")[0]

    def list_clients(self):
        (found,) = self._call(MANAGER, "ListClients", returns="aa{sv}")
        return [{key: value for key, (_, value) in one.items()} for one in found]

    def explain(self, connection, group):
        (found,) = self._call(MANAGER, "Explain", "ss", (connection, group), returns="a{sv}")
        return {key: value for key, (_, value) in found.items()}

    def list_groups(self):
        (found,) = self._call(MANAGER, "ListGroups", returns="a(suu)")
        return {group: (background, foreground) for group, background, foreground in found}

    def backup(self, file, passcode, passphrase):
        return self._with_file("Backup", file, passcode, passphrase)

    def restore(self, file, passcode, passphrase):
        return self._with_file("Restore", file, passcode, passphrase)

    def check(self):
        (found,) = self._call(MANAGER, "Check", returns="a{sv}")
        return {key: value for key, (_, value) in found.items()}

    def _with_file(self, member, file, passcode, passphrase):
        body = (file, self.session.seal(passcode), self.session.seal(passphrase))
        (found,) = self._call(MANAGER, member, "h(oayay)(oayay)", body, returns="a{sv}")
        return {key: value for key, (_, value) in found.items()}

    def _call(self, interface, member, signature=None, body=(), **options):
        return self.connection.call(self.path, interface, member, signature, body, **options)
