"""Real Flatpak applications whose program is a puppet: a runtime with Python and `secret-tool`, made here without a
network. They may speak to org.freedesktop.secrets, and as every application to the desktop's portal."""

import contextlib
import importlib.util
import os
import shutil
import sysconfig

import flatpak
from puppets import Puppet, copy_scripts

FOLDER = "/var/tmp/attack-flatpak-python"
SOURCE = flatpak.Source("python", FOLDER + "/repository", "org.test.Python")
PROGRAMS = ("/usr/bin/busybox", "/usr/bin/secret-tool")
MODULES = ("jeepney", "cryptography", "_cffi_backend")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "test", "idlelib", "ensurepip", "config-*")
# What cryptography has OpenSSL load when it starts.
OPENSSL_MODULES = f"/lib/{flatpak.MACHINE}-linux-gnu/ossl-modules"


def absent():
    """Why there is none here; None where there is."""
    if reason := flatpak.absent():
        return reason
    for program in ("/usr/libexec/xdg-desktop-portal", *PROGRAMS):
        if not os.access(program, os.X_OK):
            return f"{program} is not installed here"
    return None


def build(*applications):
    """A repository with the runtime and the applications, which are installed then, by root."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    runtime = FOLDER + "/runtime"
    os.makedirs(runtime + "/files")
    os.makedirs(runtime + "/usr/etc")
    for program in PROGRAMS:
        flatpak.bring(program, runtime + "/usr")
    os.symlink("busybox", runtime + "/usr/bin/sh")
    bring_python(runtime + "/usr")
    flatpak.write_metadata(runtime, "Runtime", SOURCE.runtime, SOURCE.runtime)
    flatpak.export(SOURCE, runtime, is_runtime=True)
    for name in applications:
        folder = os.path.join(FOLDER, name)
        os.makedirs(folder + "/files/bin")
        copy_scripts(folder + "/files/client")
        flatpak.write_metadata(folder, "Application", name, SOURCE.runtime)
        talk = "--talk-name=org.freedesktop.secrets"
        flatpak.ran("flatpak", "build-finish", folder, "--command=python3", talk)
        flatpak.export(SOURCE, folder)
        flatpak.install(name, source=SOURCE)


def bring_python(to):
    """The interpreter, its library, and the packages that the suites' client needs."""
    flatpak.bring("/usr/bin/python3", to)
    library = sysconfig.get_path("stdlib")
    brought = os.path.join(to, os.path.relpath(library, "/usr"))
    shutil.copytree(library, brought, ignore=LEFT_OUT)
    for name in MODULES:
        origin = importlib.util.find_spec(name).origin
        if os.path.basename(origin) == "__init__.py":
            shutil.copytree(os.path.dirname(origin), os.path.join(brought, name), ignore=LEFT_OUT)
        else:
            shutil.copy(origin, brought)
    shutil.copytree(OPENSSL_MODULES, to + OPENSSL_MODULES)
    for folder, _, names in os.walk(brought):
        for name in names:
            if name.endswith(".so"):
                flatpak.bring_libraries(os.path.join(folder, name), to)


@contextlib.contextmanager
def application(w, name):
    """A process of the application, in its sandbox, as a puppet."""
    puppet = Puppet(name, w.environment, "/app/client", [*w.user.wrap, "flatpak", "run"])
    try:
        yield puppet
    finally:
        puppet.close()

