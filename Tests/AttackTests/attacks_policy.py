"""Attempts to bring in a policy that is not the administrator's."""

import contextlib
import os
import shutil

from expect import Table, equal, holds
from scene import FOLDER, GROUP, POLICIES, item, shut_out, write

TABLE = Table()
row = TABLE.row
EVIL = FOLDER + "/bin/evil"
GRANT = f"[Application org.test.Evil]\nExecutable={EVIL}\nAccessGroups={GROUP}\n"
FILE = f"{POLICIES}/80-evil.conf"


@row(
    "A20",
    "a file of policy",
    "that a user owns, or that others may write",
    "refused by name, the old one stays",
)
def a20(w):
    w.install(EVIL)
    with w.honest():
        write(FILE, GRANT, owner=w.user.entry.pw_uid)
        with removed(FILE):
            refused_by_name(w, "must belong to root")
        for mode in (0o664, 0o646):
            write(FILE, GRANT)
            os.chmod(FILE, mode)
            with removed(FILE):
                refused_by_name(w, "nobody but its owner may write")
        # The very same words of root's are taken.
        with w.policy(GRANT), w.running(EVIL) as entitled:
            entitled.search(item(AccessGroup=GROUP))


@row("A21", "a file of policy", "that is a link to one of the user's", "refused by name, the old one stays")
def a21(w):
    w.install(EVIL)
    target = FOLDER + "/policy-of-the-user.conf"
    write(target, GRANT, owner=w.user.entry.pw_uid)
    with w.honest():
        os.symlink(target, FILE)
        with removed(FILE):
            refused_by_name(w, "must belong to root")


@row(
    "A22",
    "the administrator's policy",
    "the user masks it and adds to it in files of the user's",
    "nothing comes of it",
)
def a22(w):
    w.install(EVIL)
    own = os.path.join(w.home, ".config/chatelaine/policy.d")
    with w.honest(), removed(os.path.join(w.home, ".config/chatelaine/policy.d")):
        for name, text in (("60-attack.conf", ""), ("80-evil.conf", GRANT)):
            write(os.path.join(own, name), text, owner=w.user.entry.pw_uid)
        equal(w.reload()[0], 0, "the status of a reload")
        with w.running(EVIL) as evil:
            shut_out(evil, unnamed="ItemNotFound")


@row(
    "A23",
    "a broker that also reads the user's own policy",
    "that masks the administrator's, grants a group of its own, grants the administrator's",
    "hides nothing; is taken; is refused by name",
)
def a23(w):
    if w.mode == "system":
        return no_such_option(w)
    own = os.path.join(w.home, ".config/chatelaine/policy.d")
    evil, user = w.own("evil"), w.user.entry.pw_uid
    grant = f"[Application org.test.Own]\nExecutable={evil}\nAccessGroups="
    write(f"{own}/60-attack.conf", "", owner=user)
    write(f"{own}/80-own.conf", grant + "org.test.mine\n", owner=user)
    with removed(own), started_with(w, "--user-policy"), w.honest():
        with w.running(evil) as program:
            # It has a group that nobody else's policy names.
            equal(program.search(item(AccessGroup="org.test.mine")), [])
            shut_out(program, unnamed="ItemNotFound")
        write(f"{own}/80-own.conf", grant + GROUP + "\n", owner=user)
        status, said = w.reload()
        holds(status != 0 and f"{own}/80-own.conf" in said, f"the file is refused by its name: {said}")
        with w.running(evil) as program:
            shut_out(program, unnamed="ItemNotFound")


@row(
    "A24",
    "the folder of the policy",
    "that a user owns or may write, or with a user's empty file in it",
    "refused by name, the old one stays",
)
def a24(w):
    w.install(EVIL)
    with w.honest():
        write(FILE, "", owner=w.user.entry.pw_uid)
        with removed(FILE):
            refused_by_name(w, "must belong to root")
        # An empty file of root's masks, which is no mistake.
        write(FILE, "")
        with removed(FILE):
            equal(w.reload()[0], 0, "the status of a reload")
        before = os.stat(POLICIES)
        try:
            os.chown(POLICIES, w.user.entry.pw_uid, -1)
            refused_by_name(w, "the folder must belong to root", name=POLICIES)
            os.chown(POLICIES, before.st_uid, -1)
            os.chmod(POLICIES, 0o777)
            refused_by_name(w, "nobody but its owner may write the folder", name=POLICIES)
        finally:
            os.chown(POLICIES, before.st_uid, -1)
            os.chmod(POLICIES, before.st_mode & 0o7777)
        equal(w.reload()[0], 0, "the status of a reload")


def no_such_option(w):
    done = w.user.run("chatelained", "--system", "--user-policy")
    holds(done.returncode != 0, "a broker for all users reads no user's policy")


@contextlib.contextmanager
def started_with(w, *options):
    """The user's broker, started with options more."""
    folder = os.path.join(w.home, ".config/systemd/user/chatelained.service.d")
    start = f"[Service]\nExecStart=\nExecStart=/usr/bin/chatelained --user {' '.join(options)}\n"
    write(os.path.join(folder, "options.conf"), start)
    w.user.systemctl("daemon-reload")
    w.broker("restart")
    try:
        yield
    finally:
        shutil.rmtree(folder)
        w.user.systemctl("daemon-reload")
        w.broker("restart")


def refused_by_name(w, reason, name=FILE):
    status, said = w.reload()
    holds(status != 0, "the policy is refused")
    for words in (name, reason):
        holds(words in said, f"'{words}' is in what is said: {said}")
    with w.running(EVIL) as evil:
        shut_out(evil, unnamed="ItemNotFound")


@contextlib.contextmanager
def removed(path):
    try:
        yield
    finally:
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
