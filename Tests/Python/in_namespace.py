"""Puts one file over another in a mount namespace of its own, and runs it by the other's path.

in_namespace.py mount|mount,user FILE OVER PROGRAM [ARGUMENT ...]
"""

import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000


def check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def main(namespaces, file, over, *command):
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if "user" in namespaces.split(","):
        check(libc.unshare(CLONE_NEWUSER), "unshare a user namespace")
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{user} {user} 1")
        write("/proc/self/gid_map", f"{group} {group} 1")
    check(libc.unshare(CLONE_NEWNS), "unshare a mount namespace")
    check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "make the mounts private")
    if file != over:
        check(libc.mount(file.encode(), over.encode(), None, MS_BIND, None), "bind")
    os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
