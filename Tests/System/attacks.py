"""The attacks of Tests/AttackTests, played on a whole machine."""

import contextlib
import os
import re
import subprocess

from box import REPOSITORY, BoxError

TESTS = "/opt/chatelaine/Tests"
BINDS = (f"{REPOSITORY}/Tests:{TESTS}",)
COUNTS = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


def run(report, box, kind, programs, mode="user"):
    box.install(programs)
    box.copy(preload_library(), "/opt/attack/preload.so")
    box.boot()
    box.allow_sandboxes()
    box.add_user("alice", 1000)
    # So that numbers of processes are used again soon. Older kernels have one such limit for all.
    with contextlib.suppress(BoxError):
        box.sysctl("kernel.pid_max", 3000)
    command = (
        "/usr/bin/python3",
        f"{TESTS}/AttackTests/run.py",
        f"--mode={mode}",
        f"--on={kind}",
        f"--only={report.only}",
    )
    counts = None
    with box.start(*command, environment=("PYTHONDONTWRITEBYTECODE=1",), stdin=subprocess.DEVNULL) as attacks:
        for line in attacks.stdout:
            if counts := COUNTS.fullmatch(line.strip()):
                passed, failed, skipped = map(int, counts.groups())
                report.passed, report.failed = report.passed + passed, report.failed + failed
                report.skipped += skipped
            else:
                print(line, end="", flush=True)
    if not counts:
        report.fail(f"attacks-{mode}-{kind}", f"ended with {attacks.returncode} and no counts")


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
