"""Whose turn it is: grants, waiters, fences, and who wins over a late result."""

import contextlib
import time

from expect import Table, by_reference, equal, generic, holds, refused, same_secret, secret
from policy import ONE, TWO
from refreshing import (
    BACKGROUND,
    LONG,
    SOON,
    added,
    another,
    check_current,
    check_granted,
    granted,
    lost,
    query,
    stored,
    waits,
)

TABLE = Table()
row = TABLE.row


@row("R01", "an item that was renewed", "Begin with the old revision", "current, with the latest secret, no grant")
def r01(w):
    old = added(w)
    w.calendar.update(query(), {}, secret("2"))
    new = w.mail.read(query()).attributes["Revision"]
    check_current(w.mail.begin(query(), old, 0), new, "2")
    check_current(w.mail.begin(query(), 0, 0), new, "2")
    check_granted(w.mail.begin(query(), new, 0), new, "2")


@row("R02", "several programs", "all Begin; one completes", "one grant; the others get its result, at once")
def r02(w):
    revision = added(w)
    fence = granted(w.mail, revision, value="1")
    with contextlib.ExitStack() as stack:
        others = [stack.enter_context(another(w, name)) for name in ("mail", "calendar", "helper") * 3]
        for other in others:
            waits(other, revision)
        new = w.mail.complete(fence, {"Comment": "renewed"}, secret("2"))
        holds(new > revision, "the revision grows")
        for other in others:
            check_current(other.begun_answer(), new, "2")
    equal(w.mail.read(query()).attributes["Comment"], "renewed")


@row("R03", "somebody refreshes", "Begin with a short timeout, and with none", "Busy, and no grant")
def r03(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    for timeout in (0, SOON):
        refused("Busy", w.calendar.begin, query(), revision, timeout)
    w.mail.complete(fence, {}, secret("2"))


@row("R04", "a holder", "its connection ends", "the next is granted at once; the old fence is worth nothing")
def r04(w):
    revision = added(w)
    with another(w, "calendar") as holder:
        fence = granted(holder, revision)
        waits(w.helper, revision)
        holder.kill()
        next_fence = check_granted(w.helper.begun_answer(), revision, "1")
    holds(next_fence > fence, "fences grow")
    lost(w.calendar, fence)
    lost(w.helper, fence)
    w.helper.complete(next_fence, {}, secret("2"))
    stored(w, "2")


@row("R05", "a fence", "others Complete and Fail with it", "LeaseLost, nothing happens")
def r05(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    with another(w, "mail") as same_program:
        for other in (w.calendar, same_program):
            lost(other, fence)
            for kind in ("transient", "rejected"):
                refused("LeaseLost", other.fail, fence, kind)
    for wrong in (0, fence + 1, (1 << 63) + 1, (1 << 64) - 1):
        lost(w.mail, wrong)
    stored(w, "1")
    w.mail.complete(fence, {}, secret("2"))
    stored(w, "2")


@row("R06", "a completion", "repeat it, also with another secret", "the same revision; the first secret stays")
def r06(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    new = w.mail.complete(fence, {}, secret("2"))
    for value in ("2", "3"):
        equal(w.mail.complete(fence, {}, secret(value)), new)
    stored(w, "2")
    refused("LeaseLost", w.mail.fail, fence, "transient")


@row("R07", "a grant", "Complete with changes of the primary key", "Param, and the grant stays")
def r07(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    for changes in (
        {"Account": "b"},
        {"Service": "t"},
        {"AccessGroup": TWO},
        {"Synchronizable": True},
        {"Accessible": "when-unlocked"},
        {"IfRevision": revision},
        {"Expires": 1},
    ):
        refused("Param", w.mail.complete, fence, changes, secret("2"))
    refused("NoSuchAttribute", w.mail.complete, fence, {"Server": "x"}, secret("2"))
    refused("TooLarge", w.mail.complete, fence, {}, bytes((1 << 20) + 1))
    w.mail.complete(fence, {"FreshUntil": w.mail.now() + LONG}, secret("2"))
    stored(w, "2")


@row("R08", "a holder that fails in passing", "Fail transient, twice", "the item stays; a pause, that grows")
def r08(w):
    revision = added(w)
    for _ in range(2):
        fence = granted(w.mail, revision, timeout=LONG)
        waits(w.calendar, revision)
        w.mail.fail(fence, "transient", "no network")
        refused("Busy", w.helper.begin, query(), revision, 0)
        lost(w.mail, fence)
        fence = check_granted(w.calendar.begun_answer(), revision, "1")
        w.calendar.fail(fence, "transient", "503")
    stored(w, "1")


@row("R09", "a pause", "Store anew; Begin", "granted at once: a sign-in owes nothing")
def r09(w):
    revision = added(w)
    w.mail.fail(granted(w.mail, revision), "transient")
    refused("Busy", w.mail.begin, query(), revision, 0)
    _, revision, _ = w.mail.store(BACKGROUND, secret("2"))
    granted(w.mail, revision, value="2")


@row("R10", "a grant that the server calls dead", "Fail rejected", "the item alone goes; LoggedOut; an epoch")
def r10(w):
    revision = added(w)
    w.mail.add(generic(Account="other", Accessible="after-first-unlock"), secret("other"))
    _, epochs, _ = w.helper.subscribe(ONE)
    fence = granted(w.mail, revision)
    waits(w.calendar, revision)
    w.mail.fail(fence, "rejected", "invalid_grant")
    refused("ItemNotFound", w.calendar.begun_answer)
    refused("ItemNotFound", w.mail.read, query())
    same_secret(w.mail.read(generic(Account="other")).secret, secret("other"))
    signals = [w.helper.next_signal(), w.helper.next_signal()]
    equal(signals[0].name, "ItemChanged")
    equal(signals[1].name, "LoggedOut")
    equal(signals[1].arguments[1:], (ONE, "s", epochs[ONE] + 1, "rejected"))


@row("R11", "a grant", "another Stores, Updates, Deletes, logs out", "that wins: LeaseLost, waiters get its result")
def r11(w):
    for change, answer in (
        (lambda: w.calendar.store(BACKGROUND, secret("sign-in")), "sign-in"),
        (lambda: w.calendar.update(query(), {}, secret("update")), "update"),
        (lambda: w.calendar.delete(query()), None),
        (lambda: w.calendar.logout(ONE, "s"), None),
    ):
        revision = w.mail.store(BACKGROUND, secret("1"))[1]
        fence = granted(w.mail, revision)
        waits(w.helper, revision)
        begun = time.monotonic()
        change()
        if answer:
            check_current(w.helper.begun_answer(), w.mail.read(query()).attributes["Revision"], answer)
        else:
            refused("ItemNotFound", w.helper.begun_answer)
        holds(time.monotonic() - begun < LONG / 2_000_000, "the waiter hears of it, and does not wait to its own end")
        lost(w.mail, fence)
        refused("LeaseLost", w.mail.fail, fence, "rejected")
        if answer:
            stored(w, answer)


@row("R28", "a grant, and a sign-in meanwhile", "the holder fails in passing; Begin", "LeaseLost; granted at once")
def r28(w):
    fence = granted(w.mail, added(w))
    _, revision, _ = w.calendar.store(BACKGROUND, secret("2"))
    refused("LeaseLost", w.mail.fail, fence, "transient", "no network")
    granted(w.calendar, revision, value="2")


@row("R23", "an item by its reference", "refresh it", "as by its attributes")
def r23(w):
    reference, revision = w.mail.add(BACKGROUND, secret("1"))
    _, fence, item = w.mail.begin(by_reference(reference), revision, 0)
    same_secret(item.secret, secret("1"))
    refused("Busy", w.calendar.begin, query(), revision, 0)
    w.mail.complete(fence, {}, secret("2"))
    stored(w, "2")


@row("R25", "a waiter", "it goes away; the holder completes", "nothing is left of it")
def r25(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    with another(w, "calendar") as waiter:
        waits(waiter, revision)
    w.helper.begin_later(query(), revision, LONG)
    w.mail.fail(fence, "transient")
    check_granted(w.helper.begun_answer(), revision)
