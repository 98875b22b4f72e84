"""The helper that PAM starts: what it hands over, what the broker makes of it, and that no login waits for either."""

import contextlib
import os
import select
import shutil
import signal
import time

from expect import Table, equal, generic, holds, refused, same_secret, secret
from harness import PASSCODE
from pam_stage import (
    BACKGROUND,
    FOREGROUND,
    NAME,
    NO_ANSWER,
    NOBODY,
    NOT_FOR_US,
    OUT_OF_STEP,
    REFUSED,
    USER,
    Logins,
)
from traces import files, found_in

TABLE = Table()
row = TABLE.row
# What PAM waits for is a program that starts another and ends.
AT_ONCE = 2.0
NEW = b"the new password"


@row("PH01", "a first log-in", "the helper", "open: background and foreground; a client is told; again: nothing changes")
def ph01():
    with Logins() as w:
        w.fill()
        w.restart()
        w.mail.subscribe()
        equal(w.state_word, "before-first-unlock")
        w.log_in(PASSCODE)
        equal(w.mail.next_signal().arguments[1:], ("unlocked", True))
        for item in (FOREGROUND, BACKGROUND):
            same_secret(w.mail.read(item).secret, secret(item["Service"]))
        w.log_in(PASSCODE)
        equal((w.state_word, w.mail.pending_signals(), w.conditions), ("unlocked", [], set()))


@row("PH02", "passwords of all kinds of bytes", "the helper", "exactly those bytes; one with a line's end more is wrong")
def ph02():
    with Logins() as w:
        for password in (b"\n", b"a\0b\xff\xfe\n", b"p" * 512, b"q" * 1024):
            w.set_passcode(password)
            w.lock()
            if len(password) < 1024:
                w.log_in(password + b"\n", REFUSED)
                equal(w.state_word, "locked")
            w.log_in(password)
            equal(w.state_word, "unlocked")


@row("PH03", "no bytes, too many; no name, an unknown one; a session", "the helper", "nobody is asked; nothing changes")
def ph03():
    with Logins() as w:
        w.restart()
        w.log_in(b"", NOT_FOR_US)
        w.log_in(b"x" * 1025, NOT_FOR_US)
        for user in ("", "nobody-is-called-so", f"{NAME}\n"):
            w.log_in(PASSCODE, NOT_FOR_US, user=user)
        for kind in ("account", "open_session", "setcred", ""):
            equal(w.hand_over(PASSCODE, kind), NOT_FOR_US)
        equal((w.state_word, w.conditions), ("before-first-unlock", set()))


@row("PH04", "no broker", "log in, change the password", "PAM goes on at once; nobody holds the password any longer")
def ph04():
    with Logins() as w:
        w.stop()
        for kind in ("auth", "password"):
            begun = time.monotonic()
            equal(w.hand_over(PASSCODE, kind, inner=False, seconds=1), 0, "what PAM hears")
            holds(time.monotonic() - begun < AT_ONCE, f"{kind}: PAM waited")
        w.change(PASSCODE, NOBODY)
        begun = time.monotonic()
        w.log_in(PASSCODE, NOBODY, seconds=1)
        holds(0.9 < time.monotonic() - begun < 1 + AT_ONCE, "it has waited for as long as it may")
        equal(w.helpers(), [], "processes that hold a password")
        w.start()


@row("PH05", "no broker, no folder of the user's", "log in; both come", "open, as soon as the broker is there")
def ph05():
    with Logins() as w:
        for absent in ("socket", "runtime"):
            w.stop()
            if absent == "runtime":
                shutil.rmtree(w.runtime)
            process = w.start_helper()
            process.stdin.write(PASSCODE)
            process.stdin.close()
            if absent == "runtime":
                os.mkdir(w.runtime, 0o700)
                os.chown(w.runtime, USER, USER)
            w.start()
            equal((process.wait(30), w.state_word), (0, "unlocked"), f"without the {absent}")


@row("PH06", "a keychain without a passcode, and no keychain", "log in, change the password", "nothing: no passcode is set")
def ph06():
    with Logins(passcode=False) as w:
        w.fill()
        before = files(w.state)
        w.log_in(PASSCODE, REFUSED)
        w.change(NEW, REFUSED)
        w.change(b"", REFUSED)
        equal((w.user.property("PasscodeSet"), w.conditions), (False, set()))
        holds(files(w.state) == before, "the files are as they were")


@row("PH07", "unlocked", "change the password", "the new one opens, and the old one does not; every item is there")
def ph07():
    with Logins() as w:
        w.fill()
        w.user.create_recovery_key(PASSCODE)
        w.mail.subscribe()
        w.change(NEW)
        equal((w.state_word, w.mail.pending_signals()), ("unlocked", []))
        w.passcode = NEW
        w.restart()
        refused("AuthFailed", w.user.unlock, PASSCODE)
        w.log_in(NEW)
        for item in (FOREGROUND, BACKGROUND):
            same_secret(w.mail.read(item).secret, secret(item["Service"]))
        equal((w.conditions, w.user.property("RecoveryKeySet")), (set(), True))
        w.user.remove_recovery_key(NEW)
        w.change(PASSCODE)
        w.lock()
        w.log_in(PASSCODE)


@row("PH08", "locked, or before the first unlock", "change the password", f"{OUT_OF_STEP}, lasting; SetPasscode ends it")
def ph08():
    with Logins() as w:
        w.fill()
        for shut in (w.lock, w.restart):
            shut()
            w.change(NEW, REFUSED)
            equal(w.conditions, {OUT_OF_STEP})
            w.restart()
            w.unlock()
            equal(w.conditions, {OUT_OF_STEP}, "after a restart, and an unlock by the old one")
            w.await_log("'chatelaine passcode change'", 1)
            w.set_passcode(NEW)
            equal(w.conditions, set())
            w.lock()
            w.log_in(NEW)
            w.set_passcode(PASSCODE)
            w.restart()
            w.unlock()
            equal(w.conditions, set(), "after the next restart")


@row("PH09", "out of step, locked", "the login's password becomes the old one again", "in step")
def ph09():
    with Logins() as w:
        for end in (lambda: w.change(PASSCODE), lambda: w.log_in(PASSCODE)):
            w.lock()
            w.change(NEW, REFUSED)
            equal(w.conditions, {OUT_OF_STEP})
            end()
            equal(w.conditions, set())
            w.restart()
            w.unlock()
            equal(w.conditions, set(), "after a restart")


@row("PH10", "a PAM that does not tell the new password", "change it", f"{OUT_OF_STEP}, also while unlocked; nothing else")
def ph10():
    with Logins() as w:
        w.change(b"")
        equal((w.conditions, w.state_word), ({OUT_OF_STEP}, "unlocked"))
        w.restart()
        w.unlock()
        equal(w.conditions, {OUT_OF_STEP})
        w.set_passcode(NEW)
        equal(w.conditions, set())


@row("PH11", "root, on the user's socket", "each of the manager's calls", "Unlock and FollowPasscode, and nothing else")
def ph11():
    with Logins() as w:
        with w.root() as root:
            w.lock()
            root.unlock(PASSCODE)
            equal(w.state_word, "unlocked")
            root.follow_passcode(NEW)
            for call in (root.lock, root.list_groups, root.check, root.list_clients, root.reload_policy):
                refused("AccessDenied", call)
            refused("AccessDenied", root.set_passcode, NEW, PASSCODE)
            refused("AccessDenied", root.remove_passcode, NEW)
            refused("AccessDenied", root.create_recovery_key, NEW)
            refused("MissingEntitlement", root.search, generic())
        w.passcode = NEW
        w.lock()
        w.unlock()


@row("PH12", "programs of the user", "FollowPasscode, unlocked and locked", "AccessDenied: the passcode stays")
def ph12():
    with Logins() as w:
        for shut in (lambda: None, w.lock):
            shut()
            for puppet in (w.user, w.mail, w.admin, w.nobody):
                refused("AccessDenied", puppet.follow_passcode, NEW)
        equal(w.conditions, set())
        w.unlock()


@row("PH13", "a program of the user that guesses, its pause running", "log in", "open, without waiting for it")
def ph13():
    with Logins() as w:
        w.lock()
        for _ in range(2):
            refused("AuthFailed", w.user.unlock, b"guess")
        with contextlib.closing(w.puppet("nobody")) as guesser:
            guesser.start("unlock", b"guess")
            begun = time.monotonic()
            w.log_in(PASSCODE)
            spent = time.monotonic() - begun
            refused("AuthFailed", guesser.finish)
            holds(spent < time.monotonic() - begun, "the login was through before the guess was answered")


@row("PH14", "a helper that waits", "look at its process", "no password in arguments and environment; in locked memory")
def ph14():
    with Logins() as w:
        w.stop()
        process = w.start_helper(inner=False, seconds=4)
        process.communicate(secret("password"))
        (number,) = w.helpers()
        for name in ("cmdline", "environ"):
            with open(f"/proc/{number}/{name}", "rb") as file:
                equal(found_in(file.read(), {"the password": secret("password")}), {}, name)
        deadline = time.monotonic() + 2
        while locked_memory(number) == 0:
            holds(time.monotonic() < deadline, "it has memory that is locked")
        holds(os.getsid(number) == number, "it hears of no terminal that goes")
        with open(f"/proc/{number}/limits") as file:
            holds(any(line.split() == "Max core file size 0 0 bytes".split() for line in file), "no core")
        pidfd = os.pidfd_open(number)
        holds(select.select([pidfd], [], [], 4 + AT_ONCE)[0], "it ends at its deadline")
        os.close(pidfd)
        w.start()


def locked_memory(number):
    with open(f"/proc/{number}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmLck"))


@row("PH15", "real PAM with pam_exec", "log in: right, wrong, right", "PAM goes on at once, each time; open, still open, open")
def ph15():
    with Logins() as w:
        for password in (PASSCODE, b"with space, \xc3\xa9 and \xff", b"p" * 300):
            w.set_passcode(password)
            w.restart()
            holds(max(w.pam(password)) < AT_ONCE, "PAM waited")
            w.comes_to_be("unlocked")
        holds(max(w.pam(b"wrong", password)) < AT_ONCE, "PAM waited")
        equal(w.state_word, "unlocked")


@row("PH16", "real PAM, a broker that hangs", "log in; change the password", "PAM goes on at once; after some seconds")
def ph16():
    with Logins() as w:
        w.process.send_signal(signal.SIGSTOP)
        try:
            holds(max(w.pam(PASSCODE, seconds=1)) < AT_ONCE, "PAM waited")
            w.log_in(PASSCODE, NO_ANSWER, seconds=1)
            begun = time.monotonic()
            equal(w.hand_over(NEW, "password", inner=False, seconds=1), 0, "what PAM hears")
            holds(1 < time.monotonic() - begun < 1 + AT_ONCE, "PAM waited for longer than it may")
        finally:
            w.process.send_signal(signal.SIGCONT)
        # What never got an answer has changed nothing: no password was sent.
        w.lock()
        w.unlock()


@row("PH17", "PAM in a program of the user", "log in", "nothing: who listens could not be seen")
def ph17():
    with Logins() as w:
        w.lock()
        # As a screen's locker runs it that has no rights of its own.
        w.log_in(PASSCODE, NOT_FOR_US, wrap=w.become(USER))
        equal(w.state_word, "locked")


@row("PH18", "the helper in a mount namespace of its own", "log in", "open: root is root wherever it is")
def ph18():
    with Logins() as w:
        w.lock()
        w.log_in(PASSCODE, wrap=["unshare", "--mount"])
        equal(w.state_word, "unlocked")


@row("PH19", "options that are none", "log in", "nothing, and PAM hears nothing of it")
def ph19():
    with Logins() as w:
        w.lock()
        for options in (["--seconds"], ["--seconds", "x"], ["--seconds", "999"], ["--run", "relative"], ["--what", "x"]):
            process = w.start_helper(wrap=[], arguments=options)
            process.communicate(PASSCODE)
            equal(process.returncode, NOT_FOR_US, str(options))
        equal(w.state_word, "locked")


def run(report):
    import pam_attacks

    for table in (TABLE, pam_attacks.TABLE):
        for entry in table.rows:
            report.play(entry, entry.play)
