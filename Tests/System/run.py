"""The system tests: the installed project on whole machines, each booted from a folder (box.py).

    /usr/bin/python3 Tests/System/run.py [--on KIND]... [--only PREFIX] [--programs FOLDER] [--at-once N]
        [SUITE ...]

Needs root and what `.ci/packages system` installs. A row's number ends with the kind of machine that it was
played on. The last line is `N passed, N failed, N skipped`.
"""

import argparse
import importlib
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Python")]

import box  # noqa: E402
import box_folder  # noqa: E402
import side_by_side  # noqa: E402

SUITES = ("machine", "service", "polkit", "presence", "keys", "audited", "doctor", "keyring", "attacks", "attacks_system", "session_lock", "login", "finger", "labels", "clock")


def main():
    options = parsed()
    if reason := box.missing():
        print(f"not here system tests ({reason})\n0 passed, 0 failed, 1 skipped")
        return 0
    from report import Report

    # Whoever ends the run ends the boxes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report(options.only)
    played = [(name, kind) for kind in options.on or box.KINDS for name in options.suites or SUITES]
    if options.at_once > 1:
        side_by_side.play([alone(name, kind, options) for name, kind in played], options.at_once, report)
    else:
        for name, kind in played:
            run_suite(name, kind, report, options)
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped", flush=True)
    return 1 if report.failed else 0


def alone(name, kind, options):
    """The run of one suite on one machine, by a process of its own."""
    given = ["--on", kind, "--only", options.only, "--programs", options.programs]
    return f"{name}-{kind}", [sys.executable, os.path.abspath(__file__), *given, name]


def run_suite(name, kind, report, options):
    """One suite on one fresh machine."""
    suite = importlib.import_module(name)
    if kind not in getattr(suite, "KINDS", box.KINDS):
        return
    print(f"# {name} on {kind}", flush=True)
    begun = time.monotonic()
    try:
        with box.KINDS[kind](binds=getattr(suite, "BINDS", ())) as machine:
            suite.run(report, machine, kind, options.programs)
    except Exception as problem:
        report.fail(f"{name}-{kind}", f"could not be set up: {type(problem).__name__}: {problem}")
    print(f"# {name} on {kind}: {time.monotonic() - begun:.1f} s", flush=True)


def parsed():
    parser = argparse.ArgumentParser(description="Tests of the installed project on whole machines.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; default all")
    parser.add_argument("--on", action="append", choices=box.KINDS, help="kind of machine; default all")
    parser.add_argument("--only", default="", help="rows whose number begins so")
    parser.add_argument("--at-once", type=int, default=1, help="machines at the same time")
    parser.add_argument(
        "--programs", default=box_folder.PROGRAMS, type=os.path.abspath, help="where chatelained and chatelaine are"
    )
    options = parser.parse_args()
    unknown = [name for name in options.suites if name not in SUITES]
    if unknown:
        parser.error(f"no suite is called {', '.join(unknown)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
