"""The screen is locked: what was open behind it elsewhere is shut."""

from expect import Table, equal, refused, same_secret, secret
from logind_stage import BACKGROUND, FOREGROUND, Screens

TABLE = Table()
row = TABLE.row


@row(
    "B071",
    "a background job that reads, and a screen that locks",
    "Lock, suspend, resume, Unlock; the passcode",
    "shut behind the screen, told once before the next read; open and told once after the passcode",
)
def b071():
    with Screens() as w:
        same_secret(w.mail.read(FOREGROUND).secret, secret("f"))
        w.logind.signal("1", "Lock")
        equal(w.calendar.next_signal().arguments[1:], ("locked", False))
        w.logind.sleep(True)
        w.logind.await_released()
        w.logind.sleep(False)
        w.logind.signal("1", "Unlock")
        w.logind.barrier()
        refused("InteractionNotAllowed", w.mail.read, FOREGROUND)
        same_secret(w.helper.read(BACKGROUND).secret, secret("b"))
        equal([one for one in w.calendar.pending_signals() if one.name == "LockStateChanged"], [])
        w.unlock()
        equal(w.calendar.next_signal().arguments[1:], ("unlocked", True))
        same_secret(w.mail.read(FOREGROUND).secret, secret("f"))
