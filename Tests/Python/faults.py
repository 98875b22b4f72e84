"""Broken worlds: small and read-only disks, files that change under the broker's feet."""

import contextlib
import os
import shutil
import subprocess
import tempfile

from expect import NotHere


def content(path):
    with open(path, "rb") as file:
        return file.read()


def overwrite(path, data, offset=0):
    """Changes the file in place, so that inode, owner and mode stay."""
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def without_capabilities():
    """A command prefix under which root is bound by file modes as everybody is."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        raise NotHere("root reads every file, and setpriv is missing")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


class Disk:
    """A tmpfs of a few megabytes, with the state folder in it."""

    def __init__(self, mount_point):
        self.mount_point = mount_point
        self.state = os.path.join(mount_point, "state")

    def remount(self, option):
        subprocess.run(["mount", "-o", f"remount,{option}", self.mount_point], check=True)

    def fill(self):
        """Writes until nothing fits, by smaller and smaller pieces; `free` undoes it."""
        with open(os.path.join(self.mount_point, "filler"), "wb", buffering=0) as file:
            piece = 1 << 20
            while piece:
                try:
                    if file.write(bytes(piece)) < piece:
                        raise OSError
                except OSError:
                    piece //= 2

    def free(self):
        os.unlink(os.path.join(self.mount_point, "filler"))


@contextlib.contextmanager
def small_disk(size="8m"):
    if os.geteuid() != 0:
        raise NotHere("mounting a small disk needs root")
    mount_point = tempfile.mkdtemp(prefix="chatelaine-disk-")
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", mount_point], capture_output=True
        )
        if mounted.returncode != 0:
            raise NotHere("this machine does not let root mount a tmpfs")
        try:
            disk = Disk(mount_point)
            os.mkdir(disk.state, 0o700)
            yield disk
        finally:
            subprocess.run(["umount", mount_point], check=True)
    finally:
        os.rmdir(mount_point)
