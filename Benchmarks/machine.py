"""What a figure was measured on."""
import json
import os
import subprocess


def first_line(path, key):
    with open(path, encoding="utf-8", errors="replace") as file:
        return next((line.split(":", 1)[1].strip() for line in file if line.startswith(key)), "unknown")


def said(*command):
    """The first line that a program prints, or nothing where there is no such program."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        return (done.stdout.splitlines() or [""])[0].strip()
    except OSError:
        return ""


def file_system(folder):
    """Type of the file system that holds the folder."""
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
        rows = [line.split() for line in mounts]
    holds = [row for row in rows if os.path.commonpath([row[1], folder]) == row[1]]
    return max(enumerate(holds), key=lambda one: (len(one[1][1]), one[0]))[1][2]


def load():
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def describe(folder):
    memory = int(first_line("/proc/meminfo", "MemTotal").split()[0]) / 2**20
    return (f"machine: {os.cpu_count()} x {first_line('/proc/cpuinfo', 'model name')}, {memory:.0f} GiB, "
            f"Linux {os.uname().release}, {os.uname().machine}; store on {file_system(folder)}")


def versions(bench, broker):
    own = json.loads(said(bench, "versions"))
    here = os.path.dirname(os.path.realpath(__file__))
    tree = said("git", "-C", here, "describe", "--always", "--dirty") or "unknown"
    bus = said("dbus-daemon", "--version").rsplit(" ", 1)[-1]
    keyring = said("gnome-keyring-daemon", "--version").rsplit(" ", 1)[-1] or "none"
    systemd = said("pkg-config", "--modversion", "libsystemd")
    return (f"versions: broker {broker}, tree {tree}, dbus-daemon {bus}, libsystemd {systemd}, "
            f"gnome-keyring {keyring}, libsodium {own['libsodium']}, SQLite {own['sqlite']}, "
            f"compiler of the clients {own['compiler']}")
