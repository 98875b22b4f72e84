"""Refreshes on a disk that fails, and past the time that a holder has: each in a world of its own."""

import os
import signal

import faults
from expect import Table, equal, holds, refused, secret
from harness import World
from refreshing import added, another, check_granted, granted, lost, query, stored, waits

TABLE = Table()
row = TABLE.row
PAST_THE_LEASE = 90_000_000


@row("B125", "the server gave RT2, and the disk is full", "Complete; a restart; Complete", "IO; RT1 goes to nobody")
def b125():
    with faults.faulty_library() as library, World(passcode=False, preload=library) as w:
        revision = added(w, value="RT1")
        with another(w, "mail") as holder:
            fence = granted(holder, revision)
            with faults.fault(w, "write"):
                equal(refused("IO", holder.complete, fence, {}, secret("RT2")).code, -36)
                refused("Busy", w.calendar.begin, query(), revision, 0)
            w.kill()
            w.start()
            holder.forget_session()
            # RT1 is spent: who asks for it waits for RT2.
            refused("Busy", w.calendar.begin, query(), revision, 0)
            holder.complete(fence, {}, secret("RT2"))
        stored(w, "RT2")


@row("B133", "a holder that is stopped for longer than it has", "another is granted; it goes on", "its fence is old")
def b133():
    with World(passcode=False) as w, another(w, "mail") as holder:
        revision = added(w)
        fence = granted(holder, revision)
        os.kill(holder.process.pid, signal.SIGSTOP)
        waits(w.calendar, revision, timeout=PAST_THE_LEASE)
        next_fence = check_granted(w.calendar.begun_answer(), revision)
        holds(next_fence > fence, "fences grow")
        os.kill(holder.process.pid, signal.SIGCONT)
        lost(holder, fence)
        refused("LeaseLost", holder.fail, fence, "transient")
        refused("Busy", w.helper.begin, query(), revision, 0)
        w.calendar.complete(next_fence, {}, secret("2"))
        stored(w, "2")
