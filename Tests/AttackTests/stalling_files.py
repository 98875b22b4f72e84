"""A file system of a user's own with one program in it, which stops answering when it is told to.

    stalling_files.py PLACE PROGRAM UID GID      started by root, who mounts for the user as fusermount does
                                                 where /etc/fuse.conf lets others in

SIGUSR1 stops it, SIGUSR2 lets it go on, both with a line on standard output. What has been read of the program
stays readable, so that it runs on.
"""

import contextlib
import ctypes
import errno
import os
import signal
import struct
import subprocess
import sys

MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 17, 18, 25, 26
INTERRUPT, BATCH_FORGET = 36, 42
LOOKS = (LOOKUP, GETATTR, OPEN)
ROOT, FILE = 1, 2
HEADER = struct.Struct("<IIQQIII4x")
NAME = "program"


class Files:
    def __init__(self, device, program, user, group):
        self.device, self.user, self.group = device, user, group
        with open(program, "rb") as file:
            self.content = file.read()
        self.stalled, self.kept = False, []

    def serve(self):
        """Until it is unmounted."""
        while True:
            try:
                request = os.read(self.device, 1 << 18)
            except InterruptedError:
                continue
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                raise
            self.handle(request)

    def handle(self, request):
        _, operation, number, node, *_ = HEADER.unpack_from(request)
        if self.stalled and operation in LOOKS:
            self.kept.append(request)
        elif operation not in (FORGET, BATCH_FORGET, INTERRUPT):
            self.answer(number, *self.result(operation, node, request[HEADER.size :]))

    def answer(self, number, error, body=b""):
        # A request that was interrupted meanwhile is no longer known.
        with contextlib.suppress(FileNotFoundError):
            os.write(self.device, struct.pack("<IiQ", 16 + len(body), -error, number) + body)

    def result(self, operation, node, body):
        if operation == INIT:
            return 0, struct.pack("<IIIIHHIIHHI28x", 7, 31, 1 << 16, 0, 0, 0, 1 << 16, 1, 0, 0, 0)
        if operation == LOOKUP:
            if body.rstrip(b"\0").decode() != NAME:
                return (errno.ENOENT,)
            # Valid for no time: whoever looks asks again.
            return 0, struct.pack("<QQQQII", FILE, 0, 0, 0, 0, 0) + self.attributes(FILE)
        if operation == GETATTR:
            return 0, struct.pack("<QII", 0, 0, 0) + self.attributes(node)
        if operation == OPEN:
            return 0, struct.pack("<QII", 0, 0, 0)
        if operation == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return 0, self.content[offset : offset + size]
        if operation in (RELEASE, FLUSH):
            return (0,)
        return (errno.ENOSYS,)

    def attributes(self, node):
        mode, size = (0o40755, 0) if node == ROOT else (0o100755, len(self.content))
        times = (0,) * 6
        return struct.pack("<QQQ3Q3I", node, size, size // 512, *times) + struct.pack(
            "<7I", mode, 1, self.user, self.group, 0, 4096, 0
        )

    def stall(self, *_):
        self.stalled = True
        print("stalled", flush=True)

    def go_on(self, *_):
        self.stalled = False
        kept, self.kept = self.kept, []
        for request in kept:
            self.handle(request)
        print("going on", flush=True)


def main(place, program, user, group):
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={user},group_id={group},allow_other".encode()
    if libc.mount(b"attack", place.encode(), b"fuse", MS_NOSUID | MS_NODEV, options) != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    os.setgroups([])
    os.setgid(int(group))
    os.setuid(int(user))
    files = Files(device, program, int(user), int(group))
    signal.signal(signal.SIGUSR1, files.stall)
    signal.signal(signal.SIGUSR2, files.go_on)
    print("mounted", flush=True)
    files.serve()


@contextlib.contextmanager
def stalling_files(w):
    """A program of the user's on such files, and a function that makes them stall or go on."""
    place = os.path.join(w.home, "files")
    os.makedirs(place, exist_ok=True)
    identity = str(w.user.entry.pw_uid), str(w.user.entry.pw_gid)
    os.chown(place, *map(int, identity))
    command = [sys.executable, __file__, place, os.path.realpath(sys.executable), *identity]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def stall(is_stalled):
        server.send_signal(signal.SIGUSR1 if is_stalled else signal.SIGUSR2)
        server.stdout.readline()

    try:
        if server.stdout.readline() != "mounted\n":
            raise RuntimeError("the files could not be mounted")
        yield os.path.join(place, NAME), stall
    finally:
        ctypes.CDLL(None).umount2(place.encode(), MNT_DETACH)
        server.kill()
        server.wait()
        server.stdout.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
