"""Refreshes: what is spent once is spent by one, and nobody's late answer undoes what came after."""

import os
import signal

from expect import Table, equal, generic, holds, refused, same_secret, secret
from policy import ONE
from refreshing import (
    BACKGROUND,
    FOREGROUND,
    LONG,
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
from traces import files, found_in

TABLE = Table()
row = TABLE.row


@row("B124", "P1 renews; P2 has the old token, and the server's 401 for it", "P2 reports it", "the new one stays")
def b124(w):
    old = added(w, value="RT1")
    fence = granted(w.mail, old, value="RT1")
    new = w.mail.complete(fence, {}, secret("RT2"))
    # Who holds the old one has nothing to report on, and is told to use what there is.
    check_current(w.calendar.begin(query(), old, 0), new, "RT2")
    refused("LeaseLost", w.calendar.fail, fence, "rejected")
    refused("RevisionMismatch", w.calendar.delete, query() | {"IfRevision": old})
    stored(w, "RT2")


@row("B127", "a foreground item; the screen locks while the holder is at the server", "Complete", "nothing is lost")
def b127(w):
    revision = added(w, FOREGROUND, "RT1")
    fence = granted(w.mail, revision, FOREGROUND)
    w.lock()
    new = w.mail.complete(fence, {}, secret("RT2"))
    equal(found_in(b"".join(files(w.state).values()), {"the secret": secret("RT2")}), {}, "plain text on the disk")
    w.kill()
    w.start()
    w.unlock()
    found = w.mail.read(query(FOREGROUND))
    equal(found.attributes["Revision"], new)
    same_secret(found.secret, secret("RT2"))


@row("B128", "B is at the server; A signs alice out", "B's answer arrives", "it is refused; both were told before")
def b128(w):
    revision = added(w, value="RT1")
    for program in (w.mail, w.calendar):
        program.subscribe(ONE)
    fence = granted(w.calendar, revision)
    w.mail.logout(ONE, "s", "signed out")
    for program in (w.mail, w.calendar):
        while (told := program.next_signal()).name != "LoggedOut":
            pass
        equal(told.arguments[4], "signed out")
    lost(w.calendar, fence, "RT2")
    refused("ItemNotFound", w.calendar.read, query())
    # The account is not back, and a new sign-in is not disturbed by what was late.
    w.mail.add(BACKGROUND, secret("RT3"))
    lost(w.calendar, fence, "RT2")
    stored(w, "RT3")


@row("B132", "a holder that is killed", "another waits", "the lease ends at once, whatever becomes of the pid")
def b132(w):
    revision = added(w)
    with another(w, "mail") as holder:
        fence = granted(holder, revision)
        waits(w.calendar, revision)
        # The process stays in the table, with its pid, for as long as nobody waits for it.
        os.kill(holder.process.pid, signal.SIGKILL)
        next_fence = check_granted(w.calendar.begun_answer(), revision)
        holds(next_fence > fence, "fences grow")
    w.calendar.complete(next_fence, {}, secret("2"))


@row("B135", "no network, 503, 407", "Fail in passing, each time", "the item stays; only 'rejected' ends it")
def b135(w):
    revision = added(w, value="RT1")
    for message in ("no network", "503", "proxy 407"):
        fence = granted(w.mail, revision, timeout=LONG, value="RT1")
        w.mail.fail(fence, "transient", message)
        # The next attempt is put off.
        refused("Busy", w.mail.begin, query(), revision, 0)
        stored(w, "RT1")
    fence = granted(w.mail, revision, timeout=LONG)
    new = w.calendar.store(BACKGROUND, secret("RT2"))[1]
    refused("LeaseLost", w.mail.fail, fence, "rejected")
    fence = granted(w.mail, new, value="RT2")
    w.mail.fail(fence, "rejected")
    refused("ItemNotFound", w.mail.read, query())
    equal(w.mail.search(generic()), [])
