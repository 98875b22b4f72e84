"""Packaging and start-up: one broker, started in whatever way, that ends when its bus does."""

import contextlib
import os
import select
import shutil
import signal
import subprocess

from connection import BUS_NAME, Connection
from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from harness import REPOSITORY, World
from store_file import StoreFile
from traces import files

TABLE = Table()
row = TABLE.row
OBJECT, MANAGER = "/org/chatelaine/Broker1", BUS_NAME + ".Manager"
PROPERTIES = "org.freedesktop.DBus.Properties"
END_SECONDS = 5
ACTIVATION = os.path.join(REPOSITORY, "dbus", "org.chatelaine.Broker1.service")


def processes_of(world):
    """The process ids of this world's brokers."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                arguments = file.read().split(b"\0")
        except OSError:
            continue
        if world.daemon.encode() in arguments[:1] and world.state.encode() in arguments:
            found.append(int(number))
    return found


@row(
    "B076-name",
    "a broker without a passcode that starts, again and again",
    "ask it for its state as soon as it has its name",
    "unlocked: it has its name when it can answer",
)
def b076_name():
    with World(passcode=False, direct=False) as world:
        for _ in range(40):
            world.stop()
            world.start()
            state = world.watch.call(OBJECT, PROPERTIES, "Get", "ss", (MANAGER, "State"))
            equal(state, (("s", "unlocked"),))


@row(
    "B076",
    "a broker and its state folder",
    "start a second broker on it, on a bus of its own",
    "75, told why",
)
def b076():
    with World(passcode=False) as world, World(passcode=False) as other:
        world.mail.add(generic(), secret())
        other.stop()
        before = StoreFile.path(world.state)
        other.state = world.state
        second = other.launch()
        equal(second.wait(30), 75, "the exit status")
        holds(
            "locked by another broker" in other.log_tail(1), f"the line that says why ({other.log_tail(1)})"
        )
        equal(StoreFile.path(world.state), before)
        same_secret(world.mail.read(generic()).secret, secret())
        # The lock is the living process's: what it leaves behind when it is killed holds up nobody.
        world.kill()
        shutil.copy(os.path.join(world.folder, "device.key"), other.folder)
        other.start()
        same_secret(other.mail.read(generic()).secret, secret())


@row("B158", "64 KiB of memory to lock", "start", "it runs, and Conditions says memory-not-locked")
def b158():
    if shutil.which("prlimit") is None:
        raise NotHere("prlimit (util-linux) is missing")
    wrap = ["prlimit", "--memlock=65536:65536"]
    if os.geteuid() == 0:
        wrap += ["setpriv", "--bounding-set=-ipc_lock,-sys_resource", "--inh-caps=-all"]
    with World(wrap=wrap) as world:
        for number in range(50):
            world.mail.add(generic(Account=str(number)), secret(str(number)) * 100)
        holds("memory-not-locked" in world.user.property("Conditions"), "the condition is readable")
        equal(world.log().count("not locked"), 1, "the number of warnings")
        world.lock()
        world.unlock()
        same_secret(world.mail.read(generic(Account="7")).secret, secret("7") * 100)
        with open(f"/proc/{world.process.pid}/limits") as limits:
            (line,) = [line for line in limits if line.startswith("Max locked memory")]
        equal(line.split()[3:5], ["65536", "65536"])


@contextlib.contextmanager
def activated(world, name="broker.service"):
    """The activation file that ships, with this world's broker in the place of the installed one."""
    with open(ACTIVATION) as file:
        lines = file.read().splitlines()
    equal([line for line in lines if line.startswith("Exec=")], ["Exec=/usr/bin/chatelained --user"])
    # No systemd runs on a private bus, so Exec= it is.
    kept = [line for line in lines if not line.startswith(("Exec=", "SystemdService="))]
    path = os.path.join(world.folder, "services", name)
    with open(path, "w") as file:
        file.write("\n".join([*kept, "Exec=" + " ".join(world.command), ""]))
    world.watch.bus_call("ReloadConfig")
    try:
        yield
    finally:
        os.unlink(path)
        world.watch.bus_call("ReloadConfig")
        for number in processes_of(world):
            end(number)
        world.await_owner(False)


def end(number):
    """Ends a process that is not this one's child."""
    pidfd = os.pidfd_open(number)
    os.kill(number, signal.SIGTERM)
    ready, _, _ = select.select([pidfd], [], [], 30)
    os.close(pidfd)
    holds(ready, "the broker ends on SIGTERM")


@row("B159-first", "a broker that does not run, the keychain with a passcode", "ask it whether one is set", "yes")
def b159_first():
    # Without the other name, which may be there first and open the store.
    with World(direct=False, configuration="[Broker]\nSecretService=no\n") as world:
        world.stop()
        for _ in range(5):
            with activated(world):
                is_set = world.watch.call(OBJECT, PROPERTIES, "Get", "ss", (MANAGER, "PasscodeSet"))
            equal(is_set, (("b", True),))


@row("B159", "a broker that does not run", "call it with an activation file, and without", "started; told so")
def b159():
    with World(passcode=False) as world:
        world.mail.add(generic(), secret())
        world.stop()
        unknown = "org.freedesktop.DBus.Error.ServiceUnknown"
        holds(
            BUS_NAME in refused(unknown, world.mail.search, generic()).text, "the error names what is missing"
        )
        with activated(world):
            clients = [world.puppet("calendar") for _ in range(8)]
            for client in clients:
                client.start("read", generic())
            for client in clients:
                same_secret(client.finish().secret, secret())
                client.close()
            equal(len(processes_of(world)), 1, "the number of brokers")
        equal(processes_of(world), [], "brokers that are left")


@row(
    "B161",
    "two brokers started at once",
    "ten times",
    "one serves, the other ends with a line; store untouched",
)
def b161():
    with World(passcode=False) as world:
        world.mail.add(generic(), secret())
        for _ in range(10):
            world.stop()
            before = set(files(world.state))
            first, second = world.launch(), world.launch()
            world.process = first
            loser = first_to_end(first, second)
            world.process = second if loser is first else first
            holds(loser.returncode in (69, 75), f"the exit status is 69 or 75 ({loser.returncode})")
            world.await_owner(True)
            same_secret(world.mail.read(generic()).secret, secret())
            names = {name for name in files(world.state) if not name.endswith(("-wal", "-shm"))}
            equal(names - before, set(), "files that are new")


def first_to_end(*processes):
    pidfds = {os.pidfd_open(process.pid): process for process in processes}
    ready, _, _ = select.select(list(pidfds), [], [], 30)
    for pidfd in pidfds:
        os.close(pidfd)
    if len(ready) != 1:
        raise AssertionError(f"{len(ready)} of the two brokers have ended")
    loser = pidfds[ready[0]]
    loser.wait()
    return loser


@row("B161-name", "a program that owns the broker's name", "start the broker", "69 and a line that says so")
def b161_name():
    with World(passcode=False) as world:
        world.stop()
        squatter = Connection(world.address)
        squatter.bus_call("RequestName", "su", (BUS_NAME, 4))
        process = world.launch()
        equal(process.wait(30), 69, "the exit status")
        holds(f"another broker owns {BUS_NAME}" in world.log_tail(1), f"the line ({world.log_tail(1)})")
        squatter.close()
        world.start()


@row(
    "B164", "a session that ends", "kill the bus under the broker, five times", "it ends, and nothing is left"
)
def b164():
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        with World(passcode=False) as world:
            world.mail.add(generic(), secret())
            world.bus.send_signal(number)
            world.bus.wait()
            equal(world.process.wait(END_SECONDS), 69, "the exit status")
            equal(processes_of(world), [], "brokers that are left")
            log = StoreFile.path(world.state)
            subprocess.run(["flock", "--nonblock", os.path.dirname(log) + "/lock", "true"], check=True)
            world.start_bus()
            world.start()
            client = world.program(world.executable("mail"))
            same_secret(client.read(generic()).secret, secret())
            client.close()


@row("B164-no-bus", "no bus, a wrong address, a full life before", "start", "it ends at once with a line")
def b164_no_bus():
    with World(passcode=False) as world:
        world.stop()
        for address in ("unix:path=/nowhere/at/all", "nonsense", "unix:path=" + world.folder):
            process = world.launch(DBUS_SESSION_BUS_ADDRESS=address)
            equal(process.wait(30), 69, f"the exit status with {address}")
            holds("no session bus" in world.log_tail(1), f"the line that says why ({world.log_tail(1)})")
        world.start()


@row(
    "B164-signals",
    "SIGTERM and SIGINT amid writes",
    "start anew",
    "ended with 0; what was acknowledged is there",
)
def b164_signals():
    with World(passcode=False) as world:
        for number in (signal.SIGTERM, signal.SIGINT):
            writer = world.puppet("mail")
            world.calendar.subscribe()
            writer.start("storm", "ended", 1)
            for _ in range(50):
                world.calendar.next_signal()
            world.process.send_signal(number)
            equal(world.process.wait(END_SECONDS), 0, "the exit status")
            promised = writer.finish()["acknowledged"]
            writer.close()
            world.start()
            for puppet in world.puppets.values():
                puppet.forget_session()
            for account, (write, revision) in promised.items():
                look(world, account, write, revision)


def look(world, account, write, revision):
    """The acknowledged write, or a later one whose answer the end overtook."""
    found = world.mail.find({"Class": "generic-password", "Service": "storm", "Account": account})
    if revision is not None and found is not None:
        holds(int(found.attributes["Comment"]) >= write, f"{account} has write {write} or a later one")
