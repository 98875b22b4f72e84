"""What a broker that was taken over would try from inside its unit: run as an ExecStartPre= of it, which has
the same walls. Prints what succeeded, and ends with 1 where anything did.

A system call that the filter keeps out says EPERM whatever its arguments; these have arguments for which the
kernel would say something else, or nothing.
"""

import ctypes
import errno
import mmap
import os
import socket
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
CALLS = {
    "x86_64": {"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311},
    "aarch64": {"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271},
}
CALLS_EVERYWHERE = {"pidfd_getfd": 438, "process_madvise": 440}
CLONE_NEWUSER = 0x10000000


def filtered(number):
    ctypes.set_errno(0)
    LIBC.syscall(number, -1, 0, 0, 0, 0, 0)
    return ctypes.get_errno() == errno.EPERM


def refused(attempt):
    try:
        attempt()
    except OSError:
        return True
    return False


def unshare():
    if LIBC.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def attempts():
    for name, number in (CALLS[os.uname().machine] | CALLS_EVERYWHERE).items():
        yield name, filtered(number)
    yield "a file in /etc", refused(lambda: write("/etc/written"))
    yield "a file in /usr", refused(lambda: write("/usr/written"))
    yield "the memory of the first process", refused(lambda: write("/proc/1/mem"))
    yield "a file through the first process's root", refused(lambda: write("/proc/1/root/etc/written"))
    yield "a signal to the first process", refused(lambda: os.kill(1, 0))
    yield "root's user id", refused(lambda: os.setuid(0))
    yield "a user namespace", refused(unshare)
    yield "the Internet", refused(lambda: socket.socket(socket.AF_INET))
    yield "netlink", refused(lambda: socket.socket(socket.AF_NETLINK))
    yield "a page to write and run", refused(
        lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    )


def main():
    succeeded = [what for what, is_refused in attempts() if not is_refused]
    # What the broker lives by, so that the rest is no broken test.
    write(os.path.join(os.environ["STATE_DIRECTORY"], "walls"))
    os.readlink("/proc/1/exe")
    print("succeeded:", ", ".join(succeeded) or "nothing", flush=True)
    return 1 if succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
