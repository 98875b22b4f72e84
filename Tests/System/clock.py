"""The wall clock is set on a machine whose kernel is its own, so that nobody else's goes wrong."""

import shlex

import uml
from attacks import TESTS, pass_on
from box_folder import REPOSITORY

KINDS = ("trixie",)


def run(report, box, kind, programs):
    box.install(programs)
    box.copy(f"{REPOSITORY}/Tests", TESTS)
    command = ["env", "CHATELAINED=/usr/bin/chatelained", "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3"]
    command += [f"{TESTS}/System/kernel_clock.py", f"--only={report.only}", f"--on={kind}-kernel"]
    if pass_on(report, uml.run(box, shlex.join(command), "lsm=yama").splitlines()) != 1:
        report.fail(f"clock-{kind}", "ended before it had its counts")
