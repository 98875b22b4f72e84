"""Refreshes across locks, restarts and the end of an item."""

from expect import Table, equal, refused, same_secret, secret
from policy import ONE
from refreshing import (
    BACKGROUND,
    FOREGROUND,
    SOON,
    added,
    another,
    check_current,
    granted,
    lost,
    query,
    waits,
)
from traces import files, found_in

TABLE = Table()
row = TABLE.row
LOCKED = "InteractionNotAllowed"


@row("R12", "locked", "refresh both kinds", "the background item as ever; the other is locked")
def r12(w):
    revision, front = added(w), added(w, FOREGROUND)
    w.lock()
    fence = granted(w.helper, revision)
    waits(w.mail, revision)
    new = w.helper.complete(fence, {}, secret("2"))
    check_current(w.mail.begun_answer(), new, "2")
    refused(LOCKED, w.mail.begin, query(FOREGROUND), front, 0)


@row("R13", "a lock while the holder is at the server", "Complete; unlock", "kept sealed; then there")
def r13(w):
    revision = added(w, FOREGROUND)
    fence = granted(w.mail, revision, FOREGROUND)
    waits(w.calendar, revision, FOREGROUND)
    w.lock()
    new = w.mail.complete(fence, {"Comment": "renewed"}, secret("sealed"))
    refused(LOCKED, w.calendar.begun_answer)
    equal(w.mail.complete(fence, {}, secret("sealed")), new)
    equal(found_in(b"".join(files(w.state).values()), {"the secret": secret("sealed")}), {})
    w.mail.subscribe(ONE)
    w.unlock()
    equal(w.mail.next_signal().name, "LockStateChanged")
    changed = w.mail.next_signal()
    equal((changed.name, changed.arguments[3:]), ("ItemChanged", ("updated", new)))
    found = w.mail.read(query(FOREGROUND))
    equal((found.attributes["Revision"], found.attributes["Comment"]), (new, "renewed"))
    same_secret(found.secret, secret("sealed"))


@row("R14", "a completion that is kept sealed", "delete the item, or log it out; unlock", "it does not come back")
def r14(w):
    for change in (lambda: w.calendar.delete(query(FOREGROUND)), lambda: w.calendar.logout(ONE, "s")):
        revision = added(w, FOREGROUND)
        fence = granted(w.mail, revision, FOREGROUND)
        w.lock()
        w.mail.complete(fence, {}, secret("2"))
        change()
        w.unlock()
        refused("ItemNotFound", w.mail.read, query(FOREGROUND))


@row("R15", "a grant, and a restart", "others Begin; Complete from a new connection", "they wait; it is taken, once")
def r15(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    w.kill()
    w.start()
    # The background classes open with the first unlock.
    w.unlock()
    refused("Busy", w.calendar.begin, query(), revision, SOON)
    waits(w.helper, revision)
    lost(w.calendar, fence)
    with another(w, "mail") as mail:
        new = mail.complete(fence, {}, secret("2"))
        equal(mail.complete(fence, {}, secret("2")), new)
    check_current(w.helper.begun_answer(), new, "2")
    lost(w.calendar, fence)


@row("R16", "a grant, and a restart", "Complete before the first unlock; unlock", "kept sealed; then there")
def r16(w):
    revision, front = added(w), added(w, FOREGROUND)
    fences = granted(w.mail, revision), granted(w.mail, front, FOREGROUND)
    w.restart()
    news = [w.mail.complete(fence, {}, secret("2")) for fence in fences]
    w.restart()
    equal([w.mail.complete(fence, {}, secret("2")) for fence in fences], news, "the repeated completions")
    w.unlock()
    for attributes, new in zip((BACKGROUND, FOREGROUND), news):
        found = w.mail.read(query(attributes))
        equal(found.attributes["Revision"], new)
        same_secret(found.secret, secret("2"))


@row("R17", "kept sealed before the first unlock", "log out, unlock", "the logout wins")
def r17(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    w.restart()
    w.mail.complete(fence, {}, secret("2"))
    w.mail.logout(ONE, "s")
    w.unlock()
    refused("ItemNotFound", w.mail.read, query())


@row("R18", "kept sealed", "remove the passcode", "the completion is there under the new keys")
def r18(w):
    revision = added(w, FOREGROUND)
    fence = granted(w.mail, revision, FOREGROUND)
    w.lock()
    new = w.mail.complete(fence, {}, secret("2"))
    w.remove_passcode()
    found = w.mail.read(query(FOREGROUND))
    equal(found.attributes["Revision"], new)
    same_secret(found.secret, secret("2"))


@row("R19", "fences", "restart, again and again", "none comes twice")
def r19(w):
    seen = []
    for number in range(3):
        revision = w.mail.store(BACKGROUND, secret(str(number)))[1]
        seen.append(granted(w.mail, revision))
        w.kill()
        w.start()
        w.unlock()
    equal(seen, sorted(set(seen)))


@row("R24", "a holder whose item expires", "Complete", "LeaseLost: what has ceased to exist stays so")
def r24(w):
    soon = w.mail.now() + 1_500_000
    _, revision = w.mail.add(BACKGROUND | {"Expires": soon}, secret("1"))
    w.mail.subscribe(ONE)
    fence = granted(w.mail, revision)
    while w.mail.next_signal().arguments[3:4] != ("removed",):
        pass
    lost(w.mail, fence)
    refused("ItemNotFound", w.mail.begin, query(), revision, 0)
