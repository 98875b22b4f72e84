"""Programs that are not the one they look like."""

import contextlib
import os
import shutil

from expect import Table, refused
from puppets import HERE as SCRIPTS
from scene import FOLDER, GROUP, PROGRAM, item, shut_out

TABLE = Table()
row = TABLE.row
NAMESPACE = os.path.join(SCRIPTS, "in_namespace.py")
PYTHON = "/usr/bin/python3"


@row("A01", "an entitled program", "a copy of it, the user's and root's, calls", "denied")
def a01(w):
    with w.honest():
        with w.running(w.own("copy")) as copy:
            shut_out(copy)
        # Root's copy is a program of its own, with a private group and nothing else.
        with w.running(w.install(FOLDER + "/bin/copy")) as copy:
            shut_out(copy, unnamed="ItemNotFound")


@row("A02", "an entitled program", "one of the same name in another folder calls", "denied")
def a02(w):
    with w.honest():
        with w.running(w.own("bin/mail")) as other:
            shut_out(other)
        with w.running(w.install(FOLDER + "/other/bin/mail")) as other:
            shut_out(other, unnamed="ItemNotFound")


@row("A03", "an entitled program", "one that is called the same and ` (deleted)` calls", "denied")
def a03(w):
    mark = " (deleted)"
    with w.honest():
        with w.running(w.install(PROGRAM + mark)) as named:
            shut_out(named)
        os.unlink(PROGRAM + mark)
        # What the kernel writes after the path of a file that is gone, and what such a file was called.
        path = w.own("mail")
        with w.running(path) as gone:
            os.unlink(path)
            shut_out(gone)
        # The user's own folder put over the program's, in a namespace of the user's.
        folder = os.path.dirname(w.own("folder/mail" + mark))
        bound = [PYTHON, NAMESPACE, "mount,user", folder, os.path.dirname(PROGRAM)]
        with w.running(PROGRAM + mark, bound) as named:
            shut_out(named)


@row("A04", "an entitled program", "another file is bound over its path, in a mount namespace", "denied")
def a04(w):
    evil = w.own("evil")
    with w.honest():
        with w.running(PROGRAM, [PYTHON, NAMESPACE, "mount,user", evil, PROGRAM]) as impostor:
            shut_out(impostor)
            refused("AccessDenied", impostor.lock)
        # With root's help there is no user namespace that would give it away.
        with w.running(PROGRAM, before=[PYTHON, NAMESPACE, "mount", evil, PROGRAM]) as impostor:
            shut_out(impostor)
            refused("AccessDenied", impostor.lock)


@row("A05", "an entitled program", "the user builds a root of their own around its path", "denied")
def a05(w):
    evil = w.own("evil")
    with w.honest():
        for program in (evil, PROGRAM):
            with w.running(PROGRAM, bubble(program, PROGRAM)) as impostor:
                shut_out(impostor)
                refused("AccessDenied", impostor.lock)


def bubble(file, path, *options):
    """A sandbox of the user's own making in which the file is at that path."""
    tests = os.path.dirname(SCRIPTS)
    return [
        *("bwrap", "--unshare-user", "--unshare-pid", "--proc", "/proc", "--dev", "/dev"),
        *("--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--bind", "/run", "/run"),
        *("--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
        *("--ro-bind", tests, tests, "--ro-bind", file, path, *options, "--"),
    ]


@row(
    "A06",
    "an entitled program",
    "everybody may write it, its folder, or it is the user's",
    "denied meanwhile",
)
def a06(w):
    with w.honest():
        for place in (PROGRAM, os.path.dirname(PROGRAM)):
            with writable(place), w.running(PROGRAM) as suspect:
                shut_out(suspect)
        os.chown(PROGRAM, w.user.entry.pw_uid, 0)
        try:
            with w.running(PROGRAM) as suspect:
                shut_out(suspect)
        finally:
            os.chown(PROGRAM, 0, 0)


@contextlib.contextmanager
def writable(place):
    mode = os.stat(place).st_mode
    os.chmod(place, mode | 0o002)
    try:
        yield
    finally:
        os.chmod(place, mode)


@row("A07", "an entitled program", "it closes itself to its user's processes", "as much as can be read of it")
def a07(w):
    with w.honest():
        with w.running(PROGRAM) as closed:
            closed.close_to_others()
            if w.mode == "system":
                # The broker may read every process.
                closed.search(item(AccessGroup=GROUP))
            else:
                shut_out(closed)
        with w.running(w.own("evil")) as closed:
            closed.close_to_others()
            shut_out(closed)


@row("A08", "an entitled program", "a script interpreter of root's runs the attacker's script", "denied")
def a08(w):
    with w.honest(), w.running(PYTHON) as script:
        # A carrier has no private group, so there is nothing that all scripts would share.
        shut_out(script)
    shutil.rmtree(FOLDER + "/other")
