"""What the rows about refreshes share: an item, and programs that are told what to do with it."""

import contextlib

from expect import equal, generic, holds, refused, same_secret, secret

BACKGROUND = generic(Accessible="after-first-unlock")
FOREGROUND = generic(Account="front", Accessible="when-unlocked")
KEYS = ("Class", "Service", "Account")
LONG, SOON = 45_000_000, 300_000


def query(attributes=BACKGROUND):
    return {key: attributes[key] for key in KEYS}


def added(w, attributes=BACKGROUND, value="1"):
    """An item; its revision."""
    return w.mail.add(attributes, secret(value))[1]


def granted(puppet, revision, attributes=BACKGROUND, timeout=0, value=None):
    """The puppet gets the grant, with the item as it is; its fence."""
    return check_granted(puppet.begin(query(attributes), revision, timeout), revision, value)


def check_granted(answer, revision, value=None):
    outcome, fence, item = answer
    equal((outcome, item.attributes["Revision"]), ("granted", revision))
    holds(fence > 0, "the fence is a number from 1 on")
    if value:
        same_secret(item.secret, secret(value))
    return fence


def check_current(answer, revision, value):
    """The answer of a `Begin` is the item as somebody else left it."""
    outcome, fence, item = answer
    equal((outcome, fence, item.attributes["Revision"]), ("current", 0, revision))
    same_secret(item.secret, secret(value))


def waits(puppet, revision, attributes=BACKGROUND, timeout=LONG):
    """The puppet's `Begin` is with the broker, and is not answered."""
    equal(puppet.begin_later(query(attributes), revision, timeout), True, "whether it waits")


def lost(puppet, fence, value="late"):
    refused("LeaseLost", puppet.complete, fence, {}, secret(value))


def stored(w, value, attributes=BACKGROUND):
    same_secret(w.mail.read(query(attributes)).secret, secret(value))


@contextlib.contextmanager
def another(w, identity):
    """One more process of the program."""
    puppet = w.puppet(identity)
    try:
        yield puppet
    finally:
        if puppet.process.poll() is None:
            puppet.kill()
