"""PAM's helper and a broker of all users: root names whose keychain it is."""

import os
import pwd
import subprocess

from expect import Table, equal, holds
from pam_stage import DONE, NOBODY, REFUSED, helper_path
from system_keychains import each, fill, passcode
from traces import files

TABLE = Table()
row = TABLE.row


def hand_over(w, user_id, password, kind="auth"):
    """How it ended; the broker's socket is where the system's is, below a folder that stands for /run."""
    run = w._inside("run")
    socket = f"{run}/chatelaine/bus"
    if not os.path.exists(socket) or os.stat(socket).st_ino != os.stat(w.endpoint).st_ino:
        os.makedirs(os.path.dirname(socket), 0o755, exist_ok=True)
        if os.path.lexists(socket):
            os.unlink(socket)
        os.link(w.endpoint, socket)
    command = (helper_path(), "--hand-over", "--run", run, "--broker", w.daemon, "--seconds", "20")
    environment = {"PAM_TYPE": kind, "PAM_USER": pwd.getpwuid(user_id).pw_name}
    return subprocess.run(command, input=password, env=environment).returncode


@row("K50", "two users, locked", "one logs in; mistypes first; logs in after a restart", "that one's is open, by that password")
def k50(w):
    fill(w)
    for puppet, _ in each(w):
        puppet.lock()
    alice = passcode("alice")
    equal(hand_over(w, w.alice, b"hunter1"), REFUSED)
    equal(w.of(w.alice).property("Conditions").count("passcode-out-of-step"), 1)
    equal(w.of(w.bob).property("Conditions").count("passcode-out-of-step"), 0)
    equal(hand_over(w, w.alice, alice), DONE)
    equal((w.state_of(w.alice), w.state_of(w.bob)), ("unlocked", "locked"))
    equal(w.of(w.alice).property("Conditions").count("passcode-out-of-step"), 0)
    w.restart()
    # Nobody has called on her behalf yet.
    equal(hand_over(w, w.alice, alice), DONE)
    equal((w.state_of(w.alice), w.state_of(w.bob)), ("unlocked", "before-first-unlock"))


@row("K51", "two users, one unlocked", "both change the login's password", "one passcode follows, the other is out of step")
def k51(w):
    fill(w)
    w.of(w.bob).lock()
    equal(hand_over(w, w.alice, b"new", "password"), DONE)
    equal(hand_over(w, w.bob, b"new", "password"), REFUSED)
    conditions = [w.of(user).property("Conditions").count("passcode-out-of-step") for user in (w.alice, w.bob)]
    equal(conditions, [0, 1])
    w.of(w.alice).lock()
    equal(hand_over(w, w.alice, b"new"), DONE)
    w.of(w.alice).set_passcode(b"new", passcode("alice"))
    equal(hand_over(w, w.bob, passcode("bob")), DONE)
    equal(w.of(w.bob).property("Conditions").count("passcode-out-of-step"), 0)


@row("K52", "a user who has no keychain", "logs in, changes the password", "none is made")
def k52(w):
    user = next(one.pw_uid for one in pwd.getpwall() if not os.path.exists(w.folder_of(one.pw_uid)))
    before = files(w.state)
    for kind in ("auth", "password"):
        equal(hand_over(w, user, b"x", kind), REFUSED)
    equal(set(files(w.state)), set(before))
    holds(not os.path.exists(w.folder_of(user)), "no folder was made")


@row("K53", "no broker of the system's, and a stale socket", "log in", "nobody is there")
def k53(w):
    equal(hand_over(w, w.alice, passcode("alice")), DONE)
    with w.without_broker():
        run = ("--run", w._inside("run"), "--broker", w.daemon, "--seconds", "1")
        done = subprocess.run(
            (helper_path(), "--hand-over", *run),
            input=passcode("alice"),
            env={"PAM_TYPE": "auth", "PAM_USER": pwd.getpwuid(w.alice).pw_name},
        )
        equal(done.returncode, NOBODY)
    equal(hand_over(w, w.alice, passcode("alice")), DONE)
