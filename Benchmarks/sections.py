"""What is measured, a function a section; each takes the run, which knows the world and takes the figures."""
import shutil
from statistics import median

import machine
from figures import call_row, lane_row, ratio, typical

CROWDS = (1, 8, 32)
SUBSCRIBERS = 1_000


def pairs_of(call, crowds):
    return [f"{side}:{call}@{crowd}" for crowd in crowds for side in ("echo", "broker")]


def show_calls(run, items, where, found):
    """The table's rows of pairs of lanes: the echo's and the broker's."""
    pairs = list(zip(found[0::2], found[1::2]))
    for base, lane in pairs:
        call = lane["lane"].partition(":")[2].partition("@")[0]
        run.calls.append(call_row(items, call, where, lane, base))
    return pairs


def read_figures(run, items, base, lane):
    clients = lane["clients"]
    name = f"Read, {items:,} items, {clients} client{'s' if clients > 1 else ''}"
    run.figure(f"{name}: p50 to echo's", ratio(lane, base, "p50"), "x", goal=1.25)
    run.figure(f"{name}: rate to echo's", ratio(lane, base, "rate"), "x", goal=0.8, at_least=True)


def calls(run, items):
    """Read and Search by one client on one processor, then by crowds on all; returns the p50 ratio of Read."""
    with run.world.one_processor():
        lanes = pairs_of("read", (1,)) + pairs_of("search", (1,))
        found = run.measure("calls on one processor", lanes, items, run.pace["slice"])
    pairs = show_calls(run, items, "one", found)
    read_figures(run, items, *pairs[0])
    growth = ratio(*reversed(pairs[0]), "p50")
    lanes = pairs_of("read", CROWDS) + pairs_of("search", CROWDS)
    found = run.measure("calls", lanes + ["echo:search@32"], items, run.pace["slice"])
    for base, lane in show_calls(run, items, "all", found)[1:3]:
        read_figures(run, items, base, lane)
    run.note(f"noise at {items:,} items: the echo's rate against itself with 32 clients, same run: "
             f"{ratio(found[-1], found[-3], 'rate'):.2f}")
    return growth


def begins(run, items):
    """Begin where nobody refreshes and nobody need to: "current" with the secret, as a program asks before a call."""
    with run.world.one_processor():
        found = run.measure("begin on one processor", pairs_of("begin", (1,)), items, run.pace["slice"])
    pairs = show_calls(run, items, "one", found)
    pairs += show_calls(run, items, "all", run.measure("begin", pairs_of("begin", CROWDS), items, run.pace["slice"]))
    for where, (base, lane) in zip(("one processor", *["all processors"] * len(CROWDS)), pairs):
        clients = lane["clients"]
        name = f"Begin/current, {items:,} items, {clients} client{'s' if clients > 1 else ''}, {where}"
        run.figure(f"{name}: p50 to echo's", ratio(lane, base, "p50"), "x")
        run.figure(f"{name}: rate to echo's", ratio(lane, base, "rate"), "x")


def signals(run):
    """From one call that changes 50 items, and one that changes one, to the last of 1,000 subscribers."""
    world, rounds = run.world, run.pace["signal_rounds"]
    found = world.bench("signals", "--subscribers", SUBSCRIBERS, "--rounds", rounds, "--broker-pid", world.broker.pid,
                        "--echo-pid", world.echo.pid, *world.listeners, timeout=120 + 30 * rounds)
    run.record(section="signals", load=machine.load(), **found)
    for base, lane in zip(found["lanes"][0::2], found["lanes"][1::2]):
        name = f"Signals, {found['subscribers']:,} subscribers, {lane['changes']} at once"
        if lane["changes"] > 1:
            run.figure(f"{name}: signals a second to echo's", ratio(lane, base, "rate"), "x")
            run.figure(f"{name}: signals a second", typical(lane, "rate"), "/s")
        else:
            run.figure(f"{name}: from the call to the last subscriber, to echo's", ratio(lane, base, "ms"), "x")
            run.figure(f"{name}: from the call to the last subscriber", typical(lane, "ms"), " ms")
        run.figure(f"{name}: CPU us a signal to echo's", ratio(lane, base, "cpu_us"), "x")
    read = sum(len(lane["rounds"]) * lane["changes"] for lane in found["lanes"]) * found["subscribers"]
    run.note(f"{read:,} signals were read, to each subscriber all of them and in their order")


def direct(run, items):
    """Read over the direct endpoint, encrypted as on the bus and plain as only there, beside Read over the bus."""
    with run.world.one_processor():
        direct_on(run, items, "one processor", (1,))
    direct_on(run, items, "all processors", CROWDS)


def direct_alone(run, items):
    """The same by a single client, on the processor where a single client's goals are judged."""
    with run.world.one_processor():
        direct_on(run, items, "one processor", (1,))


def direct_on(run, items, where, crowds):
    lanes = [f"{side}:read@{crowd}" for crowd in crowds for side in ("broker", "direct", "plain")]
    found = run.measure(f"direct endpoint, {where}", lanes, items, run.pace["slice"])
    run.lanes += [lane_row(lane, where) for lane in found]
    for base, *others in zip(found[0::3], found[1::3], found[2::3]):
        for lane, secrets in zip(others, ("encrypted", "plain")):
            clients = lane["clients"]
            name = (f"Read, direct endpoint, {secrets}, {items:,} items, {clients} client{'s' if clients > 1 else ''}, "
                    f"{where}")
            run.figure(f"{name}: p50 of the bus's to its own", 1 / ratio(lane, base, "p50"), "x", goal=2,
                       at_least=True)
            run.figure(f"{name}: rate to the bus's", ratio(lane, base, "rate"), "x")


def fill(run, first, items, *options):
    """Adds items first..items-1; returns how many there are now."""
    filled = run.world.bench("fill", *options, "--from", first, "--items", items, "--connections", 4, "--window", 60,
                             "--limit", run.pace["fill_limit"], timeout=run.pace["fill_limit"] + 150)
    run.record(section="fill", **filled)
    if filled["items"] < items:
        run.note(f"filling stopped after {run.pace['fill_limit']} s: {filled['items']:,} of {items:,} items; "
                 "what follows is measured with those")
    if items - first >= 1000:
        call = "CreateItem" if "--secrets" in options else "Store"
        run.figure(f"{call}, up to {filled['items']:,} items, 240 calls in flight: rate", filled["rate"], "/s")
    return filled["items"]


def use(run, items):
    """What a broker has done before its memory is looked at."""
    run.measure("use", ["broker:read@8", "broker:search@8", "broker:read@32"], items, 0.5, rounds=3)


def memory(run, items, when):
    use(run, items)
    found = run.world.memory_kb(run.world.broker)
    run.record(section="memory", items=items, when=when, **found)
    run.figure(f"VmRSS, {items:,} items, {when}", found["VmRSS"] / 1024, " MiB", goal=16)
    run.figure(f"VmHWM, {items:,} items, {when}", found["VmHWM"] / 1024, " MiB")


def writes(run, items):
    lanes = ["echo:store@1", "broker:store@1", "sqlite:commit", "broker:store@32", "echo:store@32"]
    found = run.measure("writes", lanes, items, run.pace["write_slice"])
    run.lanes += [lane_row(lane, "all processors") for lane in found]
    echo_one, one, commit, crowd, echo_crowd = (lane["rate"] for lane in found)
    goal = min(8 * one, 0.6 * echo_crowd)
    run.figure("Store, 1 writer: rate", one, "/s")
    run.figure("Store, 1 writer: rate to bare SQLite commits'", one / commit, "x")
    run.figure("Store, 1 writer: rate to echo's", one / echo_one, "x")
    run.figure("Store, 32 writers: rate (goal: the lesser of 8 x one writer's and 0.6 x echo's)", crowd, "/s",
               goal=goal, at_least=True)
    run.figure("Store, 32 writers: rate to one writer's", crowd / one, "x")
    run.figure("Store, 32 writers: rate to bare SQLite commits'", crowd / commit, "x")
    run.figure("Store, 32 writers: rate to echo's", crowd / echo_crowd, "x")


def beside(run, items):
    with run.world.one_processor():
        beside_on(run, items, "one processor")
    beside_on(run, items, "all processors")


def beside_on(run, items, where):
    lanes = ["echo:read", "echo:read+echo:store", "broker:read", "broker:read+broker:store"]
    found = run.measure(f"beside a writer, {where}", lanes, items, run.pace["write_slice"])
    run.lanes += [lane_row(lane, where) for lane in found]
    echo_alone, echo_beside, alone, together = found
    run.figure(f"Read beside a writer, {where}: p50 to read alone", ratio(together, alone, "p50"), "x", goal=2)
    run.figure(f"Read beside a writer, {where}: p99 to read alone", ratio(together, alone, "p99"), "x")
    run.figure(f"the same of the echo, {where}: p50", ratio(echo_beside, echo_alone, "p50"), "x")


def starts(run, items, command):
    found = []
    for _ in range(run.pace["starts"]):
        found.append(run.world.bench("start", "--items", items, "--log", run.world.log_path, "--", *command,
                                     timeout=120))
        run.record(section="start", items=items, **found[-1])
    for key, what in (("state_ms", "first answer (State)"), ("search_ms", "first Search")):
        run.figure(f"spawn to {what}, {items:,} items, median of {len(found)}",
                   median(one[key] for one in found), " ms", goal=30)
    times = [one["search_ms"] for one in found]
    run.note(f"spawn to first Search: {min(times):.1f} to {max(times):.1f} ms; no floor runs beside this figure, "
             "so other load shows in it")


def floor(run):
    """The echo and SQLite alone, so the harness can be tried and the machine's noise be seen without a broker."""
    with run.world.one_processor():
        floor_on(run, "one processor", (1,))
    floor_on(run, "all processors", CROWDS)
    lanes = ["sqlite:commit", "echo:read", "echo:read+echo:store"]
    found = run.measure("floor", lanes, 1000, run.pace["write_slice"])
    run.lanes += [lane_row(lane, "all processors") for lane in found]


def floor_on(run, where, crowds):
    for call in ("read", "search", "store"):
        lanes = [f"echo:{call}@{crowd}" for crowd in crowds for _ in (0, 1)]
        found = run.measure(f"floor, {where}", lanes, 1000, run.pace["slice"])
        run.lanes += [lane_row(lane, where) for lane in found[0::2]]
        for base, again in zip(found[0::2], found[1::2]):
            run.figure(f"noise: {again['lane']} to itself, {where}: p50", ratio(again, base, "p50"), "x")
