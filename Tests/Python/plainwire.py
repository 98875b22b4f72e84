"""Python values as JSON and back, for the pipe between a test and its puppets."""

import json

from attributes import Item, Typed
from chatelaine_client import Signal

NAMED = {"Typed": Typed, "Item": Item, "Signal": Signal}


def dumps(value):
    return json.dumps(_plain(value))


def loads(text):
    return _value(json.loads(text))


def _plain(value):
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if type(value).__name__ in NAMED:
        return {type(value).__name__: [_plain(part) for part in value]}
    if isinstance(value, tuple):
        return {"tuple": [_plain(part) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[key, _plain(part)] for key, part in value.items()]}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value


def _value(plain):
    if isinstance(plain, list):
        return [_value(part) for part in plain]
    if not isinstance(plain, dict):
        return plain
    ((tag, content),) = plain.items()
    if tag == "bytes":
        return bytes.fromhex(content)
    if tag == "dict":
        return {key: _value(part) for key, part in content}
    parts = [_value(part) for part in content]
    return NAMED[tag](*parts) if tag in NAMED else tuple(parts)
