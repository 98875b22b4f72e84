"""What the suites share: a table of rows, items, and comparisons that never show a secret."""

import hashlib
import re
from typing import Callable, NamedTuple

from connection import BrokerError

ANY = "any"
SECRET_MARK = "not-for-any-log"


class NotHere(Exception):
    """The row cannot be played on this machine; says why."""


class Row(NamedTuple):
    number: str
    given: str
    when: str
    then: str
    play: Callable


class Table:
    """The rows of one suite, in the order they are written."""

    def __init__(self):
        self.rows, self.absent = [], {}

    def row(self, number, given, when, then):
        def add(function):
            self.rows.append(Row(number, given, when, then, function))
            return function

        return add

    def not_here(self, numbers, reason):
        for number in numbers.split():
            if number in self.absent:
                raise ValueError(f"{number} is listed twice as not here")
            self.absent[number] = reason


def secret(name="x"):
    """A test's secret, told apart by its name and found by its mark where it should not be."""
    return f"{SECRET_MARK}:{name}".encode()


def redacted(text):
    return re.sub(SECRET_MARK + r"[^\s'\"]*", "(a secret)", text)


def generic(**attributes):
    return {"Class": "generic-password", "Service": "s", "Account": "a"} | attributes


def internet(**attributes):
    return {"Class": "internet-password", "Server": "example.com", "Account": "a"} | attributes


def without(attributes, *keys):
    return {key: value for key, value in attributes.items() if key not in keys}


def by_reference(reference):
    return {"Reference": reference}


def refused(names, function, *args, **options):
    """The call must be refused with one of the names; returns the error."""
    names = (names,) if isinstance(names, str) else names
    try:
        function(*args, **options)
    except BrokerError as error:
        if error.name not in names:
            raise AssertionError(f"refused with {error.name}, not with {' or '.join(names)}") from None
        return error
    raise AssertionError(f"was answered, not refused with {' or '.join(names)}")


def equal(got, wanted, what="the answer"):
    if got != wanted:
        raise AssertionError(f"{what} is {got!r}, not {wanted!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(f"not so: {what}")


def same_secret(got, wanted, what="the secret"):
    if got != wanted:
        raise AssertionError(f"{what} differs: {_shape(got)}, not {_shape(wanted)}")


def _shape(value):
    return f"{len(value)} bytes, digest {hashlib.sha256(value).hexdigest()[:8]}"
