"""org.freedesktop.secrets: the broker, and gnome-keyring beside it, against the same messages of the echo."""
from figures import front_row, ratio
from keyring import Keyring
from sections import fill
from world import Failed

STORE = "state-secrets"
COUNTS = (10, 1_000, 10_000)
CALLS = ("get-secret", "search-items", "miss", "look-up", "visit")
HANDFUL = 4


def front(run):
    """One store and one broker grow through all counts; gnome-keyring starts anew at each, with a new file."""
    keyring, missing = None, Keyring.missing()
    if missing:
        run.note(missing)
    else:
        keyring = Keyring(run.world)
    ratios, there = {}, 0
    try:
        run.start_broker(STORE)
        for items in COUNTS:
            there = fill(run, there, items, "--secrets")
            if items == COUNTS[-1]:
                run.attempt("memory of org.freedesktop.secrets", memory, run, "", run.world.broker, there,
                            "after filling")
            if keyring:
                keyring.start(there)
            for where in run.pace["front_where"]:
                found = run.attempt(f"org.freedesktop.secrets, {there:,} items, {where}", calls_on, run, keyring,
                                    there, where)
                ratios.update({(where, call, items): value for call, value in (found or {}).items()})
        flat(run, ratios, there)
        at_last(run, keyring, there)
    finally:
        run.world.stop_broker()
        if keyring:
            keyring.stop()


def at_last(run, keyring, items):
    """What is looked at when all the items are there and were used."""
    services = [("", "secrets", run.world.broker, HANDFUL)]
    if keyring and keyring.process:
        services.append((", gnome-keyring", "gnome", keyring.process, None))
    for name, service, process, handful in services:
        run.attempt(f"memory of org.freedesktop.secrets{name}", memory, run, name, process, items, "after use")
        run.attempt(f"Lock and Unlock{name}", lock, run, name, service, items, handful)


def calls_on(run, keyring, items, where):
    """All calls of one client; returns the p50 ratios that are asked to be flat."""
    if where == "one processor":
        with run.world.one_processor():
            found = measured(run, keyring, items, where)
    else:
        found = measured(run, keyring, items, where)
    one_call = found["search-items"]["echo"]
    for call, lanes in found.items():
        run.fronts += [front_row(items, call, where, service, lane, lanes["echo"])
                       for service, lane in lanes.items() if service != "echo"]
    for service, name in (("secrets", ""), ("gnome", ", gnome-keyring")):
        if service in found["get-secret"]:
            figures(run, f"{items:,} items, {where}{name}", service, found, one_call,
                    goals=(1.6, 3.0) if service == "secrets" else (None, None))
    return {"GetSecret": ratio(found["get-secret"]["secrets"], one_call, "p50"),
            "look-up": ratio(found["look-up"]["secrets"], one_call, "p50")}


def measured(run, keyring, items, where):
    """The lanes, by call and service. Where gnome-keyring dies of it, the broker's are measured without it."""
    services = ("echo", "secrets", "gnome") if keyring and keyring.process else ("echo", "secrets")
    lanes = [f"{service}:{call}" for call in CALLS for service in services] + ["echo:search-items"]
    options = ["--gnome-pid", keyring.process.pid] if "gnome" in services else []
    try:
        found = run.measure(f"org.freedesktop.secrets, {where}", lanes, items, run.pace["slice"],
                            rounds=run.pace["front_rounds"], options=options)
    except Failed:
        if "gnome" not in services or keyring.process.poll() is None:
            raise
        run.note(f"{keyring.last_words()} while {items:,} items were measured, {where}")
        keyring.stop()
        return measured(run, keyring, items, where)
    rows = iter(found)
    found = {call: {service: next(rows) for service in services} for call in CALLS}
    run.note(f"noise at {items:,} items, {where}: the p50 of the echo's SearchItems against itself, same run: "
             f"{ratio(next(rows), found['search-items']['echo'], 'p50'):.2f}")
    return found


def figures(run, name, service, found, one_call, goals):
    get, look_up = found["get-secret"], found["look-up"]
    run.figure(f"GetSecret, {name}: p50 to one call of the echo's", ratio(get[service], one_call, "p50"), "x",
               goal=goals[0])
    run.figure(f"GetSecret, {name}: p50 to the same call of the echo's", ratio(get[service], get["echo"], "p50"), "x")
    run.figure(f"look-up (SearchItems + GetSecrets), {name}: p50 to one call of the echo's",
               ratio(look_up[service], one_call, "p50"), "x", goal=goals[1])
    run.figure(f"look-up, {name}: p50 to the same two calls of the echo's",
               ratio(look_up[service], look_up["echo"], "p50"), "x")


def flat(run, ratios, there):
    for where in run.pace["front_where"]:
        for call in ("GetSecret", "look-up"):
            small, large = (ratios.get((where, call, count)) for count in (COUNTS[0], COUNTS[-1]))
            if small and large:
                run.figure(f"{call}, {where}: p50 ratio at {there:,} items to that at {COUNTS[0]} (flat: 1)",
                           large / small, "x", goal=1.1)


def memory(run, name, process, items, when):
    found = run.world.memory_kb(process)
    run.record(section=f"memory of org.freedesktop.secrets{name}", items=items, when=when, **found)
    for key in ("VmRSS", "VmHWM"):
        run.figure(f"{key}, {items:,} items of org.freedesktop.secrets, {when}{name}", found[key] / 1024, " MiB")


def lock(run, name, service, items, handful):
    found = run.world.bench("lock", service, timeout=150)
    run.record(section=f"lock{name}", items=items, **found)
    for act in ("lock", "unlock"):
        run.figure(f"signals to a client at {act} of a collection of {items:,} items{name}", found[act], goal=handful)
