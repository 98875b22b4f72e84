"""Refreshes on disks that fail, and in stores from before there were any; each in a world of its own."""

import faults
from expect import Table, refused, secret
from harness import World
from refreshing import added, granted, query, stored
from store_file import StoreFile

TABLE = Table()
row = TABLE.row


@row("R30", "a disk that fails", "Complete; again when it is well", "IO, and the grant stays")
def r30():
    with faults.faulty_library() as library, World(passcode=False, preload=library) as w:
        revision = added(w)
        fence = granted(w.mail, revision)
        with faults.fault(w, "sync"):
            refused("IO", w.mail.complete, fence, {}, secret("2"))
            refused("Busy", w.calendar.begin, query(), revision, 0)
        w.mail.complete(fence, {}, secret("2"))
        stored(w, "2")


@row("R31", "a disk that fails", "Begin; again when it is well", "IO, no grant; then granted")
def r31():
    with faults.faulty_library() as library, World(passcode=False, preload=library) as w:
        revision = added(w)
        with faults.fault(w, "sync"):
            refused("IO", w.mail.begin, query(), revision, 0)
        granted(w.calendar, revision)


@row("R32", "a store of a broker that knew no refreshes", "start", "its items are there, and are refreshed")
def r32():
    with World(passcode=False) as w:
        revision = added(w)
        with StoreFile.of(w) as store:
            store.forget_refreshes()
        w.mail.complete(granted(w.mail, revision), {}, secret("2"))
        stored(w, "2")
