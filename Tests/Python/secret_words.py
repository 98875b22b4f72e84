"""The words of org.freedesktop.secrets, and how a secret crosses the bus: written from the draft's text."""

import hashlib
import hmac
import os

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from connection import WireViolation

NAME, ROOT = "org.freedesktop.secrets", "/org/freedesktop/secrets"
LOGIN, SESSION_COLLECTION, DEFAULT = (
    ROOT + "/collection/login",
    ROOT + "/collection/session",
    ROOT + "/aliases/default",
)
SERVICE, COLLECTION = "org.freedesktop.Secret.Service", "org.freedesktop.Secret.Collection"
ITEM, SESSION = "org.freedesktop.Secret.Item", "org.freedesktop.Secret.Session"
PROMPT, PROPERTIES = "org.freedesktop.Secret.Prompt", "org.freedesktop.DBus.Properties"
ERROR = "org.freedesktop.Secret.Error."
IS_LOCKED, NO_SESSION, NO_OBJECT = ERROR + "IsLocked", ERROR + "NoSession", ERROR + "NoSuchObject"
DENIED = "org.freedesktop.DBus.Error.AccessDenied"
INVALID, LIMIT = "org.freedesktop.DBus.Error.InvalidArgs", "org.freedesktop.DBus.Error.LimitsExceeded"
PLAIN, ENCRYPTED = "plain", "dh-ietf1024-sha256-aes128-cbc-pkcs7"

# RFC 2409, 6.2: 2^1024 - 2^960 - 1 + 2^64 * (floor(2^894 pi) + 129093)
GROUP = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF",
    16,
)


class WireSession:
    """One side of a session; without a key it is a plain one."""

    def __init__(self, path, key=None, shared=b""):
        self.path, self.key, self.shared = path, key, shared

    def seal(self, secret, content_type="text/plain"):
        if self.key is None:
            return (self.path, b"", secret, content_type)
        vector, padder = os.urandom(16), PKCS7(128).padder()
        sealer = Cipher(algorithms.AES(self.key), modes.CBC(vector)).encryptor()
        padded = padder.update(secret) + padder.finalize()
        return (self.path, vector, sealer.update(padded) + sealer.finalize(), content_type)

    def unseal(self, value):
        path, vector, sealed, content_type = value
        if path != self.path:
            raise WireViolation("a secret names another session")
        if self.key is None:
            return bytes(sealed), content_type
        opener, padder = (
            Cipher(algorithms.AES(self.key), modes.CBC(bytes(vector))).decryptor(),
            PKCS7(128).unpadder(),
        )
        padded = opener.update(bytes(sealed)) + opener.finalize()
        return padder.update(padded) + padder.finalize(), content_type


def agree(private, theirs):
    """The shared number, padded to the group's size, and the key that comes of it."""
    shared = pow(int.from_bytes(theirs, "big"), private, GROUP).to_bytes(128, "big")
    extracted = hmac.new(bytes(32), shared, hashlib.sha256).digest()
    return shared, hmac.new(extracted, b"\x01", hashlib.sha256).digest()[:16]
