"""Plays attacks by real processes against the broker of the machine that this runs on, as root.

    python3 run.py --mode user|system --parts PART,... [--on KIND] [--only PREFIX]

It changes the machine: users, policy, programs. So it is for a machine that is thrown away afterwards; the
system tests (Tests/System/run.py) start it in such ones.
A row's number ends with the mode and the kind of machine.
"""

import argparse
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Python")]

import attacks_apparmor  # noqa: E402
import attacks_bus  # noqa: E402
import attacks_connection  # noqa: E402
import attacks_kernel  # noqa: E402
import attacks_observe  # noqa: E402
import attacks_policy  # noqa: E402
import attacks_portal  # noqa: E402
import attacks_program  # noqa: E402
import attacks_sandbox  # noqa: E402
import attacks_selinux  # noqa: E402
import attacks_unit  # noqa: E402
import attacks_users  # noqa: E402
from report import Report  # noqa: E402
from scene import Scene, Session  # noqa: E402

PARTS = {
    "program": attacks_program,
    "connection": attacks_connection,
    "policy": attacks_policy,
    "bus": attacks_bus,
    "sandbox": attacks_sandbox,
    "portal": attacks_portal,
    "observe": attacks_observe,
    "unit": attacks_unit,
    "kernel": attacks_kernel,
    "users": attacks_users,
    "apparmor": attacks_apparmor,
    "selinux": attacks_selinux,
}


def main():
    parser = argparse.ArgumentParser(description="Attacks on the broker of this machine.")
    parser.add_argument("--mode", choices=("user", "system"), required=True)
    parser.add_argument("--on", default="here", help="what the kind of machine is called")
    parser.add_argument(
        "--parts", type=lambda text: text.split(","), required=True, help=f"of {','.join(PARTS)}"
    )
    parser.add_argument("--only", default="", help="rows whose number begins so")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report(options.only)
    with Session("alice") as user, Scene(options.mode, user) as scene:
        for part in options.parts:
            for row in PARTS[part].TABLE.rows:
                number = f"{row.number}-{options.mode}-{options.on}"
                report.play(row._replace(number=number), lambda row=row: row.play(scene))
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped", flush=True)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
