"""User-mode Linux: Debian's own kernel, with security modules that this machine's may not have, as a process.

    with Box("label", trixie()) as box:
        box.install()                    # and whatever else has to be there; it is not booted
        print(run(box, "python3 /opt/test.py", "lsm=apparmor apparmor=1"))

What the command prints, once it has ended and the machine is off. Takes some twenty seconds.
"""

import os
import shutil
import subprocess
import tempfile

from box_folder import BoxError, quietly

SECONDS = 300
UNIT = """[Unit]
After=multi-user.target dbus.service systemd-logind.service
[Service]
ExecStart=/bin/sh -c 'mount -t hostfs -o hostfs=/share none /mnt && ({command}) >/mnt/output 2>&1; sync; poweroff -f'
"""
DEVICES = ("null", "zero", "random", "urandom", "tty")


def run(box, command, arguments):
    """Boots a copy of the box's files with those arguments for the kernel; what the command prints."""
    box.write("/etc/systemd/system/uml.service", UNIT.format(command=command))
    box.link("../uml.service", "/etc/systemd/system/multi-user.target.wants/uml.service")
    box.link("/dev/null", "/etc/systemd/system/serial-getty@.service")
    work = tempfile.mkdtemp(prefix="chatelaine-uml-", dir="/var/tmp")
    try:
        return _boot(box, work, arguments)
    finally:
        for place in ("/proc", "/dev", "/run/uml"):
            subprocess.run(["umount", "--recursive", "--lazy", box.path(place)], capture_output=True)
        shutil.rmtree(work)


def _boot(box, work, arguments):
    share = os.path.join(work, "share")
    os.mkdir(share)
    image = os.path.join(work, "image")
    with open(image, "wb") as file:
        file.truncate(3 << 30)
    quietly("mke2fs", "-q", "-t", "ext4", "-d", box.root, "-F", image)
    # The kernel is a program of that Debian, and runs with its libraries.
    place = box.path("/run/uml")
    os.makedirs(place, exist_ok=True)
    quietly("mount", "--bind", work, place)
    quietly("mount", "-t", "proc", "proc", box.path("/proc"))
    quietly("mount", "-t", "tmpfs", "tmpfs", box.path("/dev"))
    os.mkdir(box.path("/dev/shm"))
    quietly("mount", "-t", "tmpfs", "tmpfs", box.path("/dev/shm"))
    for device in DEVICES:
        open(box.path(f"/dev/{device}"), "w").close()
        quietly("mount", "--bind", f"/dev/{device}", box.path(f"/dev/{device}"))
    kernel = ["/usr/bin/linux.uml", "mem=1G", "ubd0=/run/uml/image", "root=/dev/ubda", "rw", "con=null"]
    kernel += ["con0=null,fd:1", "hostfs=/run/uml", "quiet", "systemd.show_status=0", *arguments.split()]
    # Its processes are traced children of the kernel's, and end with it.
    done = subprocess.run(
        [
            "setpriv",
            "--pdeathsig=KILL",
            "timeout",
            "--kill-after=5",
            str(SECONDS),
            "chroot",
            box.root,
            *kernel,
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env={"PATH": os.environ["PATH"], "HOME": "/root", "TMPDIR": "/dev/shm"},
    )
    output = os.path.join(share, "output")
    if not os.path.exists(output):
        raise BoxError(
            f"{box.name}: nothing came of it ({done.returncode}): {(done.stdout + done.stderr)[-2000:]}"
        )
    with open(output, errors="replace") as file:
        return file.read()
