"""Sessions of the broker's contract, written from its text: how a secret crosses the bus."""

import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from connection import WireViolation

ENCRYPTED = "x25519-hkdf-sha256-chacha20poly1305"
PLAIN = "plain"
INFORMATION = b"chatelaine-session-1"
FROM_CLIENT, FROM_BROKER = b"c", b"b"


def derive_key(shared, client_public, broker_public, direction):
    """The 32-byte key of one direction."""
    return HKDF(
        algorithm=SHA256(), length=32, salt=client_public + broker_public, info=INFORMATION + direction
    ).derive(shared)


def nonce(counter):
    """Four zero bytes and a 64-bit big-endian counter."""
    return bytes(4) + struct.pack(">Q", counter)


class EncryptedSession:
    """One side's keys; `open_with` takes the broker's half."""

    algorithm = ENCRYPTED

    def __init__(self):
        self._private = X25519PrivateKey.generate()
        self.public = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.path = None
        self._sent, self._seen = 0, set()

    @property
    def input(self):
        return ("ay", self.public)

    def open_with(self, output, path):
        kind, broker_public = output
        if kind != "ay" or len(broker_public) != 32:
            raise WireViolation("the broker's public key is not 32 bytes")
        shared = self._private.exchange(X25519PublicKey.from_public_bytes(broker_public))
        self._sealer = ChaCha20Poly1305(derive_key(shared, self.public, broker_public, FROM_CLIENT))
        self._opener = ChaCha20Poly1305(derive_key(shared, self.public, broker_public, FROM_BROKER))
        self.path = path
        return self

    def seal(self, secret, counter=None):
        """`(oayay)`; a counter of the caller's choice leaves the session's own alone."""
        if counter is None:
            self._sent += 1
            counter = self._sent
        sealed = self._sealer.encrypt(nonce(counter), secret, self.path.encode())
        return (self.path, nonce(counter), sealed)

    def unseal(self, value):
        path, parameters, sealed = value
        if path != self.path:
            raise WireViolation("a reply names another session")
        if len(parameters) != 12 or parameters[:4] != bytes(4) or parameters[4:] == bytes(8):
            raise WireViolation("a nonce is not four zero bytes and a counter from 1")
        if parameters in self._seen:
            raise WireViolation("the broker used a nonce twice")
        self._seen.add(parameters)
        try:
            return self._opener.decrypt(parameters, sealed, path.encode())
        except InvalidTag:
            raise WireViolation("a secret does not open with the session's key") from None


class PlainSession:
    """The secret's bytes as they are."""

    algorithm = PLAIN
    input = ("s", "")

    def __init__(self, path=None):
        self.path = path

    def open_with(self, output, path):
        if output != ("s", ""):
            raise WireViolation("a plain session's output is the empty string")
        self.path = path
        return self

    def seal(self, secret):
        return (self.path, b"", secret)

    def unseal(self, value):
        path, parameters, secret = value
        if path != self.path or parameters:
            raise WireViolation("a plain secret names its session and has no parameters")
        return secret
