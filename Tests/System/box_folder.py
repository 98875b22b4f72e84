"""The folder that a box boots from: a throw-away layer over another root, and what is put into it."""

import contextlib
import os
import shlex
import shutil
import subprocess

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROGRAMS = os.path.join(REPOSITORY, ".build/release")


class BoxError(Exception):
    """A box that could not be made, or a command in it that failed."""


def quietly(*command, **options):
    """Runs it on this machine; BoxError with what it says where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise BoxError(f"{shlex.join(command)}: {done.stdout}{done.stderr}")


class BoxFolder:
    """`lower` is the root below, `folder` has room for the layer, `root` is where both are seen as one; `bus` is
    dbus-daemon or dbus-broker."""

    def __init__(self, name, lower, folder, bus):
        self.name, self.lower, self.folder, self.bus = name, lower, folder, bus
        self.root = os.path.join(folder, "root")

    # The first five work in a running box too.

    def path(self, inside):
        """The place as seen from outside."""
        return os.path.join(self.root, inside.lstrip("/"))

    def write(self, inside, text, mode=0o644):
        """A file of root's."""
        os.makedirs(os.path.dirname(self.path(inside)), 0o755, exist_ok=True)
        with open(self.path(inside), "w") as file:
            file.write(text)
        os.chmod(self.path(inside), mode)

    def copy(self, source, inside, mode=0o755):
        """A copy of a file or a folder of this machine's, as root's."""
        os.makedirs(os.path.dirname(self.path(inside)), 0o755, exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, self.path(inside), dirs_exist_ok=True)
        else:
            shutil.copyfile(source, self.path(inside))
            os.chmod(self.path(inside), mode)

    def remove(self, inside):
        path = self.path(inside)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def link(self, target, inside):
        self.remove(inside)
        os.makedirs(os.path.dirname(self.path(inside)), 0o755, exist_ok=True)
        os.symlink(target, self.path(inside))

    def install(self, programs=PROGRAMS):
        """The project as a package would bring it. The programs must be linked with Swift's libraries
        (`make release`), unless the box is of this machine's own root."""
        built = [os.path.join(programs, name) for name in ("chatelained", "chatelaine", "chatelaine-pam")]
        if absent := [path for path in built if not os.access(path, os.X_OK)]:
            raise BoxError(f"not built: {' '.join(absent)} (make release)")
        # No build from in here: what is installed is what is there.
        quietly(
            "make",
            "--silent",
            "-C",
            REPOSITORY,
            "--old-file=release",
            *(f"--old-file={b}" for b in built),
            "install",
            f"DESTDIR={self.root}",
            "PREFIX=/usr",
            f"PROGRAMS={' '.join(built[:2])}",
            f"LOGIN={built[2]}",
        )
        # What a package does when it is installed.
        quietly("chroot", self.root, "systemd-sysusers", "chatelaine.conf")

    def _overlay(self):
        memory = os.path.join(self.folder, "memory")
        for place in (self.root, memory):
            os.makedirs(place, exist_ok=True)
        quietly("mount", "-t", "tmpfs", "-o", "mode=755", f"box-{self.name}", memory)
        for name in ("upper", "work"):
            os.mkdir(os.path.join(memory, name), 0o755)
        layers = f"lowerdir={self.lower},upperdir={memory}/upper,workdir={memory}/work"
        quietly("mount", "-t", "overlay", f"box-{self.name}", "-o", layers, self.root)

    def _tidy(self):
        self.write("/etc/machine-id", "")
        self.write("/etc/hostname", self.name + "\n")
        self.write("/etc/fstab", "")
        self.write("/etc/hosts", f"127.0.0.1 localhost {self.name}\n")
        # This machine's people, and what it starts for itself, are no part of a test; Debian's own is left.
        for name in ("passwd", "shadow", "group", "gshadow", "subuid", "subgid"):
            self._without_people(f"/etc/{name}")
        for name in os.listdir(self.path("/etc/systemd/system")):
            if name.endswith(".target.wants"):
                self.remove(f"/etc/systemd/system/{name}")
        # Its settings would be this machine's.
        for unit in ("systemd-sysctl.service", "getty@.service", "console-getty.service"):
            self.link("/dev/null", f"/etc/systemd/system/{unit}")
        self.link("/lib/systemd/system/multi-user.target", "/etc/systemd/system/default.target")
        for scope in ("system", "user"):
            self.remove(f"/etc/systemd/{scope}/dbus.service")
            if self.bus == "dbus-broker":
                unit = f"/lib/systemd/{scope}/dbus-broker.service"
                if not os.path.exists(self.path(unit)):
                    raise BoxError(f"{self.lower} has no dbus-broker")
                self.link(unit, f"/etc/systemd/{scope}/dbus.service")

    def _without_people(self, inside, _people=range(1000, 60000)):
        """Takes those out of a database of users or groups whose number is a person's."""
        if not os.path.exists(self.path(inside)):
            return
        numbers = inside.replace("gshadow", "group").replace("shadow", "passwd")
        if inside.startswith("/etc/sub"):
            return self.write(inside, "")
        with open(os.path.join(self.lower, numbers.lstrip("/"))) as file:
            people = {line.split(":")[0] for line in file if int(line.split(":")[2]) in _people}
        mode = os.stat(self.path(inside)).st_mode & 0o777
        with open(self.path(inside)) as file:
            kept = [line for line in file if line.split(":")[0] not in people]
        self.write(inside, "".join(kept), mode)
