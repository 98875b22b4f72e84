"""The attacks of Tests/AttackTests, played on a whole machine."""

import contextlib
import os
import re
import subprocess

from box_folder import REPOSITORY, BoxError

TESTS = "/opt/chatelaine/Tests"
BINDS = (f"{REPOSITORY}/Tests:{TESTS}",)
PARTS = ("program", "connection", "policy", "bus", "sandbox", "unit", "observe", "kernel")
PARTS_OF_SYSTEM = ("users",)
# Existing programs and the desktop's portal are on the session bus.
PARTS_OF_USER = ("portal",)
COUNTS = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


def run(report, box, kind, programs, mode="user"):
    box.install(programs)
    box.copy(preload_library(), "/opt/attack/preload.so")
    box.boot()
    box.allow_sandboxes()
    box.add_user("alice", 1000)
    box.add_user("bob", 1001)
    # So that numbers of processes are used again soon. Older kernels have one such limit for all.
    with contextlib.suppress(BoxError):
        box.sysctl("kernel.pid_max", 3000)
    parts = PARTS + (PARTS_OF_SYSTEM if mode == "system" else PARTS_OF_USER)
    environment = ("PYTHONDONTWRITEBYTECODE=1",)
    with box.start(
        *command(report, kind, mode, parts), environment=environment, stdin=subprocess.DEVNULL
    ) as attacks:
        counts = pass_on(report, attacks.stdout)
    if counts != 1:
        report.fail(f"attacks-{mode}-{kind}", f"ended with {attacks.returncode} and no counts")


def command(report, kind, mode, parts):
    options = (f"--mode={mode}", f"--parts={','.join(parts)}", f"--on={kind}", f"--only={report.only}")
    return ("/usr/bin/python3", f"{TESTS}/AttackTests/run.py", *options)


def pass_on(report, lines):
    """Prints the lines of rows that were played elsewhere and takes over their counts; how many those were."""
    found = 0
    for line in lines:
        if counts := COUNTS.fullmatch(line.strip()):
            found += 1
            passed, failed, skipped = map(int, counts.groups())
            report.passed, report.failed = report.passed + passed, report.failed + failed
            report.skipped += skipped
        else:
            print(line.rstrip("\n"), flush=True)
    return found


def preload_library():
    """Code for other programs, compiled."""
    built = os.path.join(REPOSITORY, ".build/system/preload.so")
    os.makedirs(os.path.dirname(built), exist_ok=True)
    source = os.path.join(REPOSITORY, "Tests/AttackTests/preload.c")
    command = [
        "gcc",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O1",
        "-shared",
        "-fPIC",
        "-o",
        built,
        source,
    ]
    subprocess.run([*command, "-lsystemd"], check=True)
    return built
