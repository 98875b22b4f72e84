"""Broken worlds: small and read-only disks, files that change under the broker's feet."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time

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


@contextlib.contextmanager
def faulty_library():
    """The path of a library that makes calls fail on demand (faulty.c)."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        raise NotHere("making a faulty library needs a C compiler")
    with tempfile.TemporaryDirectory(prefix="chatelaine-faults-") as folder:
        os.chmod(folder, 0o755)
        library = os.path.join(folder, "faulty.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faulty.c")
        built = subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"],
            capture_output=True,
            text=True,
        )
        if built.returncode != 0:
            raise NotHere(f"the faulty library cannot be built: {built.stderr.strip()[-200:]}")
        yield library


@contextlib.contextmanager
def fault(world, name, text=""):
    """The fault of that name, from here to the end of the block."""
    path = os.path.join(world.folder, name)
    with open(path, "w") as file:
        file.write(text)
    try:
        yield
    finally:
        os.unlink(path)


class WallClock:
    """The wall clock of a broker that was started with the faulty library."""

    def __init__(self, world):
        self.path = os.path.join(world.folder, "clock")
        self.offset = 0

    def now(self):
        """What it reads, in microseconds since the epoch."""
        return time.time_ns() // 1000 + self.offset * 1_000_000

    def set(self, seconds):
        """So far off what it was at first, from one moment to the next."""
        with open(self.path + ".new", "w") as file:
            file.write(str(seconds))
        self.offset = seconds
        os.replace(self.path + ".new", self.path)


class KernelClock:
    """The wall clock of a machine that is there for this alone."""

    def __init__(self):
        self.offset = 0

    def now(self):
        return time.time_ns() // 1000

    def set(self, seconds):
        time.clock_settime(time.CLOCK_REALTIME, time.time() + seconds - self.offset)
        self.offset = seconds


@contextlib.contextmanager
def clocked_world(**options):
    """A world and the wall clock of its broker, which is the kernel's where `SET_KERNEL_CLOCK` says so."""
    from harness import World

    if os.environ.get("SET_KERNEL_CLOCK"):
        clock = KernelClock()
        try:
            with World(**options) as world:
                yield world, clock
        finally:
            clock.set(0)
        return
    with faulty_library() as library, World(preload=library, **options) as world:
        yield world, WallClock(world)


class BlockDisk:
    """A file system on a loop device, whose image can be copied as a power cut would leave it."""

    def __init__(self, folder):
        self.image, self.mount_point = os.path.join(folder, "image"), os.path.join(folder, "disk")
        self.state = os.path.join(self.mount_point, "state")
        os.mkdir(self.mount_point)
        with open(self.image, "wb") as file:
            file.truncate(64 << 20)
        run("mkfs.ext4", "-q", self.image)
        self.mount()
        os.mkdir(self.state, 0o700)
        run("sync", "-f", self.mount_point)

    def mount(self):
        run("mount", "-o", "loop,commit=3600", self.image, self.mount_point)

    def copy(self):
        """The image now: what was written to the device, and nothing that only the file system holds."""
        with open(self.image, "rb") as file:
            return file.read()

    def become(self, image):
        """The disk as it was when the image was taken, after the power has come back."""
        run("umount", self.mount_point)
        # In a file of its own: another mount namespace may keep the old file system alive for a while.
        os.unlink(self.image)
        self.image += "-later"
        with open(self.image, "wb") as file:
            file.write(image)
        self.mount()


def run(*command):
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        raise NotHere(f"{command[0]} does not work here: {problem}") from None


@contextlib.contextmanager
def block_disk():
    if os.geteuid() != 0:
        raise NotHere("a disk to cut the power of needs root")
    with tempfile.TemporaryDirectory(prefix="chatelaine-disk-") as folder:
        os.chmod(folder, 0o755)
        try:
            yield BlockDisk(folder)
        finally:
            subprocess.run(["umount", os.path.join(folder, "disk")], capture_output=True)
