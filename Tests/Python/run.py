"""Runs chosen suites against the broker named in CHATELAINED (default .build/debug/chatelained).

    /usr/bin/python3 Tests/Python/run.py [--only PREFIX] [--rounds N] [--direct] [--at-once N] [SUITE ...]

Needs Debian's dbus-daemon, python3-jeepney and python3-cryptography. One line for each row; the last line
is `N passed, N failed, N skipped`.
"""

import argparse
import importlib.util
import signal
import sys
import time

SUITES = (
    "vectors",
    "main_job",
    "refresh",
    "scenarios",
    "lock_matrix",
    "screen_lock",
    "session_unlock",
    "recovery",
    "pam_helper",
    "hostile",
    "storage_faults",
    "field_failures",
    "renewal",
    "leaks",
    "contract",
    "trust",
    "system_users",
    "observe",
    "audit",
    "direct",
    "limits",
    "git_helper",
    "docker_helper",
    "import_files",
    "import_keyring",
    "refresh_command",
    "refresh_command_running",
    "secret_portal",
    "token_storm",
    "secret_prompts",
    "secret_service",
    "secret_programs",
    "secret_crowd",
    "secret_foreground",
    "secret_when_unlocked",
    "secret_owner",
    "presence",
    "prompt_pictures",
)
PACKAGES = {"jeepney": "python3-jeepney", "cryptography": "python3-cryptography"}


def main():
    # Started in the background it would be ignored from here on, and no shell of a test's could trap it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = parsed()
    missing = [package for module, package in PACKAGES.items() if importlib.util.find_spec(module) is None]
    if missing:
        sys.exit(f"missing for {sys.executable}: {' '.join(missing)}")
    import side_by_side
    from harness import World
    from report import Report

    World.direct_default = options.direct

    # Whoever ends the run ends the private buses and brokers with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report(options.only)
    suites = options.suites or SUITES
    if options.at_once > 1:
        side_by_side.play([alone(name) for name in suites], options.at_once, report)
    else:
        for name in suites:
            run_suite(name, report, options)
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped", flush=True)
    sys.exit(1 if report.failed else 0)


def alone(name):
    """The run of one suite, with what this one was given, by a process of its own."""
    given = [word for word in sys.argv[1:] if word not in SUITES]
    return name, [sys.executable, sys.argv[0], *given, "--at-once", "1", name]


def run_suite(name, report, options):
    suite = importlib.import_module(name)
    print(f"# {name}", flush=True)
    begun = time.monotonic()
    try:
        if name == "storage_faults":
            suite.run(report, rounds=options.rounds)
        elif name == "token_storm":
            suite.run(report, seconds=options.seconds, seed=options.seed)
        elif name == "secret_crowd":
            suite.run(report, seconds=options.crowd_seconds, items=options.items)
        else:
            suite.run(report)
    except Exception as problem:
        report.fail(name, f"could not be set up: {type(problem).__name__}: {problem}")
    print(f"# {name}: {time.monotonic() - begun:.1f} s", flush=True)


def parsed():
    parser = argparse.ArgumentParser(description="Tests of the broker through its bus.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; default all")
    parser.add_argument("--only", default="", help="rows whose number begins so")
    parser.add_argument("--rounds", type=int, default=20, help="kills in storage_faults")
    parser.add_argument("--seconds", type=int, default=20, help="of token_storm")
    parser.add_argument("--seed", type=int, help="of token_storm")
    parser.add_argument("--crowd-seconds", type=int, default=2, help="of secret_crowd")
    parser.add_argument("--items", type=int, default=300, help="of the collection in secret_crowd")
    parser.add_argument("--at-once", type=int, default=1, help="suites that are played at the same time")
    parser.add_argument("--direct", action="store_true", help="clients use the direct endpoint, not the bus")
    options = parser.parse_args()
    unknown = [name for name in options.suites if name not in SUITES]
    if unknown:
        parser.error(f"no suite is called {', '.join(unknown)}")
    return options


if __name__ == "__main__":
    main()
