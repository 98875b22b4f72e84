"""Runs a program where the journal's socket is the one in a folder, in a mount namespace of its own.

in_journal.py FOLDER PROGRAM [ARGUMENT ...]
"""

import ctypes
import os
import sys

from in_namespace import CLONE_NEWNS, MS_BIND, MS_PRIVATE, MS_REC, check


def main(folder, *command):
    libc = ctypes.CDLL(None, use_errno=True)
    check(libc.unshare(CLONE_NEWNS), "unshare a mount namespace")
    check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "make the mounts private")
    check(libc.mount(b"tmpfs", b"/run", b"tmpfs", 0, None), "mount over /run")
    os.makedirs("/run/systemd/journal")
    check(libc.mount(folder.encode(), b"/run/systemd/journal", None, MS_BIND, None), "bind")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
