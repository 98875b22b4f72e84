"""`.Refresh`: one process refreshes an item and the others wait for its result, each in processes of their own."""

import contextlib

import faults
from expect import Table, by_reference, equal, generic, holds, refused, same_secret, secret, without
from harness import World
from policy import ONE, TWO
from refreshing import (
    BACKGROUND,
    FOREGROUND,
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
from stage import Stage
from store_file import StoreFile
from traces import files, found_in

TABLE = Table()
row = TABLE.row
ALONE = Table()
alone = ALONE.row
LOCKED = "InteractionNotAllowed"


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
        change()
        if answer:
            check_current(w.helper.begun_answer(), w.mail.read(query()).attributes["Revision"], answer)
        else:
            refused("ItemNotFound", w.helper.begun_answer)
        lost(w.mail, fence)
        refused("LeaseLost", w.mail.fail, fence, "rejected")
        if answer:
            stored(w, answer)


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


@row("R20", "programs with less", "Begin, Complete, Fail", "MissingEntitlement, or the item is absent")
def r20(w):
    revision = added(w)
    refused("MissingEntitlement", w.nobody.begin, query(), revision, 0)
    refused("MissingEntitlement", w.nobody.complete, 1, {}, secret())
    refused("MissingEntitlement", w.nobody.fail, 1, "transient")
    refused("MissingEntitlement", w.stranger.begin, query() | {"AccessGroup": ONE}, revision, 0)
    refused("ItemNotFound", w.stranger.begin, query(), revision, 0)
    front = added(w, FOREGROUND)
    refused("ItemNotFound", w.helper.begin, query(FOREGROUND), front, 0)
    text = f"[Application org.test.Nobody]\nExecutable={w.executable('nobody')}\nAccessGroups={ONE}\n"
    with w.policy_file(text + "Operations=read\n"):
        refused("MissingEntitlement", w.nobody.begin, query(), revision, 0)
    with w.policy_file(text + "Operations=refresh\n"):
        fence = granted(w.nobody, revision)
        w.nobody.complete(fence, {}, secret("2"))
    stored(w, "2")


@row("R21", "a waiting call", "a new policy takes the group; the holder completes", "it is judged anew")
def r21(w):
    revision = added(w)
    text = f"[Application org.test.Nobody]\nExecutable={w.executable('nobody')}\nAccessGroups={ONE}\n"
    with w.policy_file(text):
        fence = granted(w.mail, revision)
        waits(w.nobody, revision)
    w.mail.complete(fence, {}, secret("2"))
    refused("MissingEntitlement", w.nobody.begun_answer)


@row("R22", "words that are none", "Fail, Begin", "Param, TooLarge; the grant stays")
def r22(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    refused("Param", w.mail.fail, fence, "Transient")
    refused("TooLarge", w.mail.fail, fence, "transient", "x" * 1025)
    refused("Param", w.mail.begin, without(query(), "Class"), revision, 0)
    refused("Param", w.mail.begin, query() | {"Limit": 1}, revision, 0)
    refused("ItemNotFound", w.mail.begin, generic(Account="absent"), revision, 0)
    w.mail.complete(fence, {}, secret("2"))


@row("R23", "an item by its reference", "refresh it", "as by its attributes")
def r23(w):
    reference, revision = w.mail.add(BACKGROUND, secret("1"))
    _, fence, item = w.mail.begin(by_reference(reference), revision, 0)
    same_secret(item.secret, secret("1"))
    refused("Busy", w.calendar.begin, query(), revision, 0)
    w.mail.complete(fence, {}, secret("2"))
    stored(w, "2")


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


@row("R25", "a waiter", "it goes away; the holder completes", "nothing is left of it")
def r25(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    with another(w, "calendar") as waiter:
        waits(waiter, revision)
    w.helper.begin_later(query(), revision, LONG)
    w.mail.fail(fence, "transient")
    check_granted(w.helper.begun_answer(), revision)


@row("R26", "an item with an application password", "Begin", "Param: who knows it renews it by Update")
def r26(w):
    control = ("after-first-unlock", ["application-password"])
    given = without(BACKGROUND, "Accessible") | {"AccessControl": control}
    w.mail.add(given | {"ApplicationPassword": b"password"}, secret())
    refused("Param", w.mail.begin, query() | {"ApplicationPassword": b"password"}, 0, 0)
    refused("Param", w.mail.begin, query(), 0, 0)


@row("R27", "what is written down", "grants and results", "the audit names the operation, and no value")
def r27(w):
    revision = added(w)
    granted(w.mail, revision)
    w.mail.begin(query(), 0, 0)
    w.stop()
    log = w.log()
    w.start()
    holds("refresh" in log, "the audit names the operation")
    equal(found_in(log.encode(), {"the secret": secret("1")}), {})


@alone("R30", "a disk that fails", "Complete; again when it is well", "IO, and the grant stays")
def r30():
    with faults.faulty_library() as library, World(passcode=False, preload=library) as w:
        revision = added(w)
        fence = granted(w.mail, revision)
        with faults.fault(w, "sync"):
            refused("IO", w.mail.complete, fence, {}, secret("2"))
            refused("Busy", w.calendar.begin, query(), revision, 0)
        w.mail.complete(fence, {}, secret("2"))
        stored(w, "2")


@alone("R31", "a disk that fails", "Begin; again when it is well", "IO, no grant; then granted")
def r31():
    with faults.faulty_library() as library, World(passcode=False, preload=library) as w:
        revision = added(w)
        with faults.fault(w, "sync"):
            refused("IO", w.mail.begin, query(), revision, 0)
        granted(w.calendar, revision)


@alone("R32", "a store of a broker that knew no refreshes", "start", "its items are there, and are refreshed")
def r32():
    with World(passcode=False) as w:
        revision = added(w)
        with StoreFile.of(w) as store:
            store.forget_refreshes()
        w.mail.complete(granted(w.mail, revision), {}, secret("2"))
        stored(w, "2")


def run(report):
    with contextlib.closing(Stage()) as stage:
        for entry in TABLE.rows:
            report.play(entry, lambda entry=entry: entry.play(stage.emptied()))
    for entry in ALONE.rows:
        report.play(entry, entry.play)
