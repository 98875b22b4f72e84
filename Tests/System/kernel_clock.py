"""The rows about clocks, with the kernel's own: for a machine that is there for this alone.

    CHATELAINED=/usr/bin/chatelained python3 kernel_clock.py [--only PREFIX] [--on KIND]
"""

import argparse
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "Python")]
os.environ["SET_KERNEL_CLOCK"] = "yes"

import field_clock  # noqa: E402
import renewal  # noqa: E402
from report import Report  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Sets the clock of the machine that this runs on.")
    parser.add_argument("--only", default="", help="rows whose number begins so")
    parser.add_argument("--on", default="here", help="what the kind of machine is called")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report(options.only)
    for row in field_clock.TABLE.rows + renewal.TABLE.rows:
        report.play(row._replace(number=f"{row.number}-{options.on}"), row.play)
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped", flush=True)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
