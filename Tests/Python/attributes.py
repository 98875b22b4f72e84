"""Attributes and queries between Python values and `a{sv}`, with the types that the contract gives them."""

from typing import NamedTuple

from connection import WireViolation

BLOB = {"s", "ay"}
TYPES = {
    "Class": {"s"},
    "AccessGroup": {"s"},
    "Accessible": {"s"},
    "AccessControl": {"(sas)"},
    "Synchronizable": {"b"},
    "Reference": {"s"},
    "Limit": {"u"},
    "SkipGated": {"b"},
    "Service": BLOB,
    "Account": BLOB,
    "Server": BLOB,
    "SecurityDomain": BLOB,
    "Protocol": BLOB,
    "AuthenticationType": BLOB,
    "Path": BLOB,
    "Generic": BLOB,
    "Label": BLOB,
    "Description": BLOB,
    "Comment": BLOB,
    "Port": {"u"},
    "Creator": {"u"},
    "Type": {"u"},
    "Invisible": {"b"},
    "Negative": {"b"},
    "Expires": {"t"},
    "FreshUntil": {"t"},
    "Revision": {"t"},
    "Created": {"t"},
    "Modified": {"t"},
    "IfRevision": {"t"},
    "ApplicationPassword": {"(oayay)"},
}
ALWAYS = ("Class", "AccessGroup", "Synchronizable", "Reference", "Revision", "Created", "Modified")


class Typed(NamedTuple):
    """A value with a D-Bus type of the test's choice, right or wrong."""

    signature: str
    value: object


class Item(NamedTuple):
    """What `Read` answers."""

    attributes: dict
    secret: bytes


def encode(attributes, session=None):
    """`a{sv}`; `ApplicationPassword` is given as bytes and sealed for the session."""
    return {key: _variant(key, value, session) for key, value in attributes.items()}


def _variant(key, value, session):
    if isinstance(value, Typed):
        return (value.signature, value.value)
    if key == "ApplicationPassword":
        return ("(oayay)", session.seal(value))
    if isinstance(value, bool):
        return ("b", value)
    if isinstance(value, int):
        return ("t" if TYPES.get(key) == {"t"} else "u", value)
    if isinstance(value, bytes):
        return ("ay", value)
    if isinstance(value, str):
        return ("s", value)
    protection, flags = value
    return ("(sas)", (protection, list(flags)))


def decode(variants):
    """Python values from a reply's `a{sv}`; WireViolation where the contract says otherwise."""
    result = {}
    for key, (signature, value) in variants.items():
        if signature not in TYPES.get(key, ()):
            raise WireViolation(f"a reply has {key} with the type '{signature}'")
        result[key] = (value[0], tuple(value[1])) if key == "AccessControl" else value
    missing = [key for key in ALWAYS if key not in result]
    if not ("Accessible" in result or "AccessControl" in result):
        missing.append("Accessible")
    if missing:
        raise WireViolation(f"a reply lacks {', '.join(missing)}")
    return result
