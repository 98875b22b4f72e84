"""What one connection, one program and one user may have of the broker, and that nobody else notices."""

import collections
import contextlib
import json
import os
import select
import subprocess
import sys

from chatelaine_client import MANAGER, OBJECT, Client
from connection import BrokerError
from expect import Table, equal, generic, holds, same_secret, secret
from harness import World
from puppets import copy_interpreter

TABLE = Table()
row = TABLE.row
CROWD, PER_PROGRAM, PER_PROCESS, PER_USER, DIRECT_PER_USER = 2_000, 128, 64, 2_048, 256
PROGRAMS, EACH = 17, 125
WAITING, CALLS = 512, 600


@contextlib.contextmanager
def crowd(world, executable, count, processes=1):
    """Many connections of one program, which are gone at the end."""
    scripts = os.path.join(world.folder, "scripts")
    environment = world.environment | {
        "PYTHONPATH": scripts,
        "PYTHONHOME": sys.base_prefix,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [executable, os.path.join(scripts, "crowd.py"), world.client_address, str(count), str(processes)]
    process = subprocess.Popen(
        ["prlimit", "--nofile=4096:4096", *command],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def ask(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def keep_reading(world, process):
    """Another program's reads, from before the crowd comes until all of it is there; how many they were."""
    count = 0
    while not ready(process):
        same_secret(world.mail.read(generic()).secret, secret())
        newcomer = world.puppet("calendar")
        same_secret(newcomer.read(generic()).secret, secret())
        newcomer.close()
        count += 1
    return count


def served_again(world):
    """The crowd is gone, and its program is as welcome as before; until the broker has seen it go, it is not."""
    while len(world.admin.list_clients()) > PER_PROCESS:
        pass
    newcomer = world.puppet("stranger")
    equal(newcomer.search(generic()), [])
    newcomer.close()


def ready(process):
    return bool(select.select([process.stdout], [], [], 0)[0])


@row("Q01", f"a program that opens {CROWD} connections to the bus", "it calls over each", "128 are served, others notice nothing")
def q01():
    with World(direct=False) as w:
        w.mail.store(generic(), secret())
        with crowd(w, w.executable("stranger"), CROWD) as process:
            holds(keep_reading(w, process) > 0, "others were served meanwhile")
            found = json.loads(process.stdout.readline())
            equal(found, {"served": PER_PROGRAM, "QuotaExceeded": CROWD - PER_PROGRAM})
            # A place that is free is the next one's who asks, on a connection that was refused too.
            equal(ask(process), "served")
            same_secret(w.mail.read(generic()).secret, secret())
            equal(len([c for c in w.admin.list_clients() if c["Application"] == "org.test.Stranger"]), PER_PROGRAM)
        served_again(w)


@row("Q02", f"a program that opens {CROWD} direct connections", "it calls over each", "64 are served, the rest is closed")
def q02():
    with World(direct=True) as w:
        w.mail.store(generic(), secret())
        with crowd(w, w.executable("stranger"), CROWD) as process:
            holds(keep_reading(w, process) > 0, "others were served meanwhile")
            equal(json.loads(process.stdout.readline()), {"served": PER_PROCESS, "closed": CROWD - PER_PROCESS})
        served_again(w)


@row("Q03", "one program in several processes", "400 direct connections", "128 are served, others get in all the same")
def q03():
    with World(direct=True) as w:
        w.mail.store(generic(), secret())
        with crowd(w, w.executable("stranger"), 400, 8) as process:
            found = json.loads(process.stdout.readline())
            equal(found.get("served"), PER_PROGRAM)
            # Those without a place make room for whoever comes.
            for _ in range(20):
                newcomer = w.puppet("mail")
                same_secret(newcomer.read(generic()).secret, secret())
                newcomer.close()
            equal(w.log().count("too many direct connections"), 0, "newcomers that were refused")
        served_again(w)


@row("Q04", f"{PROGRAMS} programs of one user", f"{PROGRAMS * EACH} connections of all of them", f"{PER_USER} are served, for more there is QuotaExceeded")
def q04():
    with World(direct=False) as w, contextlib.ExitStack() as stack:
        before = len(w.admin.list_clients())
        paths = [w.executable(identity) for identity in ("mail", "calendar", "helper", "stranger", "weak")]
        for number in range(PROGRAMS - len(paths)):
            paths.append(os.path.join(w.folder, "bin", f"program-{number}"))
            copy_interpreter(paths[-1])
        crowds = [stack.enter_context(crowd(w, path, EACH)) for path in paths]
        found = collections.Counter()
        for process in crowds:
            found.update(json.loads(process.stdout.readline()))
        equal(before + found["served"] + found["MissingEntitlement"], PER_USER)
        equal(found["QuotaExceeded"], before + PROGRAMS * EACH - PER_USER)
        equal(len(w.admin.list_clients()), PER_USER)


@row("Q05", "calls that wait", f"{CALLS} wrong passcodes at once", f"QuotaExceeded past {WAITING}, others are served")
def q05():
    for direct in (False, True):
        with World(direct=direct) as w:
            w.mail.store(generic(), secret())
            w.lock()
            client = Client(w.client_address)
            client.property("State")
            session = client.session
            send = client.connection.send
            serials = [send(OBJECT, MANAGER, "Unlock", "(oayay)", (session.seal(b"x"),)) for _ in range(CALLS)]
            refusals = [refusal(client, serial) for serial in serials[WAITING + 8 :]]
            equal(set(refusals), {"QuotaExceeded"})
            equal(w.calendar.search(generic(Service="nothing")), [])
            client.close()
            w.kill()


def refusal(client, serial):
    try:
        client.connection.reply(serial)
    except BrokerError as error:
        return error.name
    return "served"


def run(report):
    for each in TABLE.rows:
        report.play(each, each.play)
