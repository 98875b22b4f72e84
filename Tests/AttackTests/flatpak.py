"""Real Flatpak applications, made here without a network: a small runtime, and applications whose program is the
`chatelaine` command."""

import os
import shutil
import subprocess
from typing import NamedTuple

from scene import ran

FOLDER = "/var/tmp/attack-flatpak"
REPOSITORY = FOLDER + "/repository"
RUNTIME = "org.test.Runtime"
MACHINE = os.uname().machine
TOOLS = ("sh", "cat", "id", "ls", "sleep")


class Source(NamedTuple):
    """Where applications are installed from: the remote's name, its repository, and the runtime there."""

    remote: str
    repository: str
    runtime: str


SOURCE = Source("local", REPOSITORY, RUNTIME)
METADATA = "[{kind}]\nname={name}\nruntime={runtime}/{machine}/1\nsdk={runtime}/{machine}/1\n"


def absent():
    """Why there is none here; None where there is."""
    if shutil.which("flatpak") is None or shutil.which("xdg-dbus-proxy") is None:
        return "Flatpak is not installed here"
    version = ran("xdg-dbus-proxy", "--version").split()[-1]
    if tuple(map(int, version.split("."))) < (0, 1, 5):
        return f"xdg-dbus-proxy {version} breaks clients of sd-bus"
    return None


def build(*applications):
    """A repository with the runtime and the applications."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    runtime = os.path.join(FOLDER, "runtime")
    os.makedirs(runtime + "/files")
    os.makedirs(runtime + "/usr/etc")
    bring("/usr/bin/busybox", runtime + "/usr")
    for tool in TOOLS:
        os.symlink("busybox", f"{runtime}/usr/bin/{tool}")
    bring("/usr/bin/chatelaine", runtime + "/usr")
    os.unlink(runtime + "/usr/bin/chatelaine")
    write_metadata(runtime, "Runtime", RUNTIME)
    export(SOURCE, runtime, is_runtime=True)
    for name in applications:
        folder = os.path.join(FOLDER, name)
        os.makedirs(folder + "/files/bin")
        shutil.copy("/usr/bin/chatelaine", folder + "/files/bin/chatelaine")
        write_metadata(folder, "Application", name)
        talk = [f"--{bus}talk-name=org.chatelaine.Broker1" for bus in ("", "system-")]
        ran("flatpak", "build-finish", folder, "--command=chatelaine", *talk)
        export(SOURCE, folder)


def bring(program, to):
    """The program and the libraries that it is linked with."""
    os.makedirs(to + "/bin", exist_ok=True)
    shutil.copy(program, to + "/bin")
    bring_libraries(program, to)


def bring_libraries(program, to):
    """What a program or a library is linked with."""
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    for word in linked.split():
        if word.startswith("/"):
            folder = "/lib64" if "/ld-linux" in word else f"/lib/{MACHINE}-linux-gnu"
            os.makedirs(to + folder, exist_ok=True)
            shutil.copy(os.path.realpath(word), os.path.join(to + folder, os.path.basename(word)))


def write_metadata(folder, kind, name, runtime=RUNTIME):
    with open(folder + "/metadata", "w") as file:
        file.write(METADATA.format(kind=kind, name=name, runtime=runtime, machine=MACHINE))


def export(source, folder, *, is_runtime=False):
    """Into the repository."""
    kind, branch = (["--runtime"], ["1"]) if is_runtime else ([], [])
    ran("flatpak", "build-export", *kind, source.repository, folder, *branch)


def install(name, user=None, source=SOURCE):
    """For all users, by root, or for one, by that user."""
    where = "--system" if user is None else "--user"
    for arguments in (
        ("remote-add", "--if-not-exists", "--no-gpg-verify", source.remote, source.repository),
        ("install", "--assumeyes", "--noninteractive", source.remote, f"{source.runtime}//1", name),
    ):
        command = ["flatpak", where, *arguments]
        if user is None:
            ran(*command)
        else:
            done = user.run(*command)
            if done.returncode != 0:
                raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
