"""A writer that keeps several writes in flight until the broker dies, and knows what it was promised."""

import hashlib
import random

from attributes import encode
from chatelaine_client import ITEMS
from connection import BrokerError

ACCOUNTS, IN_FLIGHT = 12, 4
SERVICE = "storm"


def content(account, number):
    """The one secret that belongs to an account's write of this number; its length varies up to 20 KiB."""
    seed = hashlib.sha256(f"{account}/{number}".encode()).digest()
    length = 40 + int.from_bytes(seed[:4], "big") % 20_000
    return hashlib.shake_256(seed).digest(length)


def query(account):
    return {"Class": "generic-password", "Service": SERVICE, "Account": account}


class Storm:
    """Stores and deletes. A number that is acknowledged is in `acknowledged`, one under way in `pending`."""

    def __init__(self, client, name, seed):
        self.client, self.random = client, random.Random(seed)
        self.accounts = [f"{name}-{index}" for index in range(ACCOUNTS)]
        self.number = int(seed) * 1_000_000
        self.acknowledged, self.pending = {}, {}

    def run(self):
        client, waiting = self.client, []
        try:
            while True:
                while len(waiting) < IN_FLIGHT:
                    waiting.append(self._send())
                account, number, serial = waiting.pop(0)
                self._note(account, number, client.connection.reply(serial))
        except BrokerError as error:
            if not error.name.startswith("org.freedesktop.DBus.Error."):
                raise
        return {"acknowledged": self.acknowledged, "pending": self.pending}

    def _send(self):
        free = [account for account in self.accounts if account not in self.pending]
        account = self.random.choice(free)
        self.number += 1
        number, client = self.number, self.client
        present = (self.acknowledged.get(account) or [0, None])[1]
        if present and self.random.random() < 0.15:
            self.pending[account] = [number, "delete"]
            serial = client.connection.send(client.path, ITEMS, "Delete", "a{sv}", (encode(query(account)),))
        else:
            self.pending[account] = [number, "store"]
            given = query(account) | {"Accessible": "after-first-unlock", "Comment": str(number)}
            body = (encode(given), client.session.seal(content(account, number)))
            serial = client.connection.send(client.path, ITEMS, "Store", "a{sv}(oayay)", body)
        return account, number, serial

    def _note(self, account, number, reply):
        kind = self.pending.pop(account)[1]
        self.acknowledged[account] = [number, reply[1] if kind == "store" else None]
