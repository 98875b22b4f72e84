#!/usr/bin/env python3
"""Measures the broker against a bare echo service and bare SQLite commits, in alternating slices of one run.

What is not as good as its goal is shown so and is no failure; the exit status is 1 where something could not
be measured at all, 2 where there is nothing to measure."""
import argparse
import json
import os
import shutil
import signal
import sys
import time

import machine
from figures import CALLS_HEAD, FRONT_HEAD, LANES_HEAD, Figure, markdown
from front import front
from sections import begins, beside, calls, direct, direct_alone, fill, floor, memory, signals, starts, writes
from world import BENCH, ECHO, HERE, Failed, World

STORE, WRITTEN = "state", "state-written"
SMALL, MEDIUM, MIDDLE, LARGE = 10, 1_000, 10_000, 100_000
# Many short slices and not a few long ones: what disturbs one then mostly disturbs its neighbour too.
FULL = {"rounds": 50, "slice": 0.1, "write_slice": 0.25, "starts": 15, "signal_rounds": 12, "front_rounds": 16,
        "front_where": ("one processor", "all processors"), "fill_limit": 300}
QUICK = {"rounds": 9, "slice": 0.1, "write_slice": 0.2, "starts": 4, "signal_rounds": 3, "front_rounds": 5,
         "front_where": ("one processor",), "fill_limit": 35}


class Run:
    """One run: the world it happens in, how long it takes, and what it has found."""

    def __init__(self, world, pace, out):
        self.world, self.pace, self.out = world, pace, out
        self.figures, self.calls, self.fronts, self.lanes, self.notes = [], [], [], [], []
        self.version, self.verified, self.failed = "unknown", 0, False

    def record(self, **line):
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def figure(self, *arguments, **options):
        one = Figure(*arguments, **options)
        self.figures.append(one)
        self.record(**one.as_json())
        print("  " + one.row(), flush=True)

    def note(self, text):
        self.notes.append(text)
        self.record(note=text)
        print("  " + text, flush=True)

    def attempt(self, title, step, *arguments):
        """One section; what goes wrong in it is said in the report and does not end the run."""
        print(title, flush=True)
        try:
            return step(*arguments)
        except Failed as error:
            self.failed = True
            self.note(f"NOT MEASURED: {title}: {error}")
            return None

    def measure(self, section, lanes, items, slice_seconds, rounds=None, options=()):
        """Runs `bench measure` and returns its lanes."""
        world, rounds, seconds = self.world, rounds or self.pace["rounds"], slice_seconds
        options = ["--items", items, "--rounds", rounds, "--seconds", seconds, "--echo-pid", world.echo.pid, *options]
        if world.broker:
            options += ["--broker-pid", world.broker.pid]
        rows = world.path("rows")
        shutil.rmtree(rows)
        os.makedirs(rows)
        found = world.bench("measure", *options, "--folder", rows, *lanes,
                            timeout=60 + 5 * rounds * seconds * len(lanes))
        self.verified += sum(lane["verified"] for lane in found["lanes"])
        self.record(section=section, items=items, load=machine.load(), **found)
        return found["lanes"]

    def start_broker(self, state):
        said = self.world.start_broker(state)
        self.version = said["version"]
        if said["state"] != "unlocked":
            raise Failed(f"the broker is {said['state']}, not unlocked")


def at_count(run, first, items, more=lambda run, items: None):
    """Fills up to that many items and measures calls; returns the count reached and the p50 ratio of Read."""
    try:
        run.start_broker(STORE)
        items = fill(run, first, items)
        run.attempt(f"direct endpoint, {items:,} items", direct_alone, run, items)
        growth = run.attempt(f"Read and Search, {items:,} items", calls, run, items)
        more(run, items)
        return items, growth
    finally:
        run.world.stop_broker()


def refreshes_and_signals(run, items):
    run.attempt("Begin", begins, run, items)
    run.attempt("signals", signals, run)


def middle(run, first):
    """Memory, writes and reads beside a writer, with 10,000 items; the writes go to a copy of the store."""
    try:
        run.start_broker(STORE)
        items = fill(run, first, MIDDLE)
        run.attempt("memory", memory, run, items, "after filling and use")
        run.attempt("direct endpoint", direct, run, items)
        run.world.stop_broker()
        shutil.copytree(run.world.path(STORE), run.world.path(WRITTEN))
        run.start_broker(STORE)
        run.attempt("memory after a restart", memory, run, items, "after a restart and use")
        run.world.stop_broker()
        run.start_broker(WRITTEN)
        run.attempt("writes", writes, run, items)
        run.attempt("reads beside a writer", beside, run, items)
        return items
    finally:
        run.world.stop_broker()
        shutil.rmtree(run.world.path(WRITTEN), ignore_errors=True)


def everything(run):
    """One store grows through all counts, so that each fill adds only what is missing."""
    there, ratio_small = run.attempt(f"{SMALL} items", at_count, run, 0, SMALL) or (0, None)
    there, _ = run.attempt(f"{MEDIUM:,} items", at_count, run, there, MEDIUM, refreshes_and_signals) or (there, None)
    there = run.attempt(f"{MIDDLE:,} items", middle, run, there) or there
    there, ratio_large = run.attempt(f"{LARGE:,} items", at_count, run, there, LARGE) or (there, None)
    if ratio_small and ratio_large:
        run.figure(f"Read: p50 ratio at {there:,} items to that at {SMALL} (flat: 1)",
                   ratio_large / ratio_small, "x", goal=1.1)
    run.attempt("org.freedesktop.secrets", front, run)
    if there:
        run.attempt("start", starts, run, there, run.world.broker_command(STORE))


def parse():
    parser = argparse.ArgumentParser(description="Benchmark of the broker; see README.md")
    parser.add_argument("--quick", action="store_true", help="two minutes, rougher")
    parser.add_argument("--floor", action="store_true", help="the echo and SQLite alone, without a broker")
    parser.add_argument("--secrets", action="store_true",
                        help="org.freedesktop.secrets alone, and gnome-keyring beside it")
    parser.add_argument("--out", default=os.path.join(HERE, "build", "results"), help="folder of the results")
    return parser.parse_args()


def program(options):
    """The broker to measure; ends the run where there is none."""
    path = os.environ.get("CHATELAINED") or os.path.join(HERE, "..", ".build", "release", "chatelained")
    path = os.path.realpath(path)
    missing = [one for one in (BENCH, ECHO) if not os.access(one, os.X_OK)]
    if missing:
        sys.exit(f"bench: {missing[0]} is missing: run `make build` here first")
    if not options.floor and not os.access(path, os.X_OK):
        print(f"bench: there is no broker at {path}\n"
              "       build it (swift build -c release --product chatelained) or set CHATELAINED to its path;\n"
              "       `make floor` measures the echo service and SQLite alone", file=sys.stderr)
        sys.exit(2)
    return path


def report(run, header, folder):
    if run.verified:
        run.note(f"{run.verified:,} replies were opened and compared with what had been stored")
    tables = ((CALLS_HEAD, run.calls), (FRONT_HEAD, run.fronts), (LANES_HEAD, run.lanes))
    text = markdown(header, run.figures, tables, run.notes)
    path = os.path.join(folder, "bench.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print("\n" + text + f"\n{path}\n{run.out.name}")


def main():
    options = parse()
    broker_program = program(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.makedirs(options.out, exist_ok=True)
    began, load = time.monotonic(), machine.load()
    results = os.path.join(options.out, "bench.jsonl")
    with open(results, "w", encoding="utf-8") as out, World(broker_program) as world:
        run = Run(world, QUICK if options.quick else FULL, out)
        header = [machine.describe(world.work)]
        if options.floor:
            run.attempt("floor", floor, run)
        elif options.secrets:
            run.attempt("org.freedesktop.secrets", front, run)
        else:
            everything(run)
        header.append(machine.versions(BENCH, "none" if options.floor else run.version))
        header.append(f"load: {load} at the start, {machine.load()} at the end; "
                      f"{'quick' if options.quick else 'full'} run of {time.monotonic() - began:.0f} s")
        run.record(header=header)
        report(run, header, options.out)
    return 1 if run.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except Failed as error:
        sys.exit(f"bench: {error}")
