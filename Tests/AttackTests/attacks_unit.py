"""Units of systemd, the machine's and the user's own."""

from expect import Table, refused, same_secret, secret
from scene import FOLDER, item, shut_out

TABLE = Table()
row = TABLE.row
SERVICE, WORKER, GROUP = "attack-sync.service", "attack-worker.service", "org.test.unit"
BOTH = FOLDER + "/bin/worker"
POLICY = f"""[Application org.test.Sync]
Unit={SERVICE}
AccessGroups={GROUP}

[Application org.test.Worker]
Unit={WORKER}
Executable={BOTH}
AccessGroups={GROUP}
"""
TRANSIENT = ("systemd-run", "--quiet", "--pipe", "--wait", "--collect")


def in_unit(w, *options):
    """A prefix that starts a program in a unit, with the environment of the suite's programs."""
    return [
        *w.on_session_bus,
        *TRANSIENT,
        *options,
        "env",
        *(f"{key}={value}" for key, value in w.environment.items()),
    ]


@row(
    "A35",
    "a group for a unit of the machine's",
    "the user starts a unit of that name, also in a slice that is called as the machine's",
    "denied: trust `user`",
)
def a35(w):
    program = w.install(FOLDER + "/bin/sync")
    with w.honest(), w.policy(POLICY):
        of_the_machine = in_unit(w, f"--uid={w.user.entry.pw_name}", f"--unit={SERVICE}")
        with w.running(program, by=of_the_machine) as service:
            service.store(item(AccessGroup=GROUP), secret("unit"))
            shut_out(service, unnamed="ok")
        for options in ((), ("--slice=system.slice",), ("--slice=system-attack.slice",)):
            with w.running(program, in_unit(w, "--user", f"--unit={SERVICE}", *options)) as impostor:
                refused("MissingEntitlement", impostor.read, item(AccessGroup=GROUP))
                shut_out(impostor, unnamed="ItemNotFound")
        with w.running(program, by=of_the_machine) as service:
            same_secret(service.read(item(AccessGroup=GROUP)).secret, secret("unit"))
            service.delete(item(AccessGroup=GROUP))


@row(
    "A36",
    "a group for a program in a unit of the user's",
    "the user starts another program in that unit, and that program in another unit",
    "denied: both have to match",
)
def a36(w):
    w.install(BOTH)
    other = w.install(FOLDER + "/bin/other")
    with w.honest(), w.policy(POLICY):
        with w.running(BOTH, in_unit(w, "--user", f"--unit={WORKER}")) as worker:
            worker.store(item(AccessGroup=GROUP), secret("unit"))
        for program, unit in ((other, WORKER), (BOTH, "attack-other.service")):
            with w.running(program, in_unit(w, "--user", f"--unit={unit}")) as impostor:
                refused("MissingEntitlement", impostor.read, item(AccessGroup=GROUP))
                shut_out(impostor, unnamed="ItemNotFound")
        with w.running(BOTH, in_unit(w, "--user", f"--unit={WORKER}")) as worker:
            same_secret(worker.read(item(AccessGroup=GROUP)).secret, secret("unit"))
            worker.delete(item(AccessGroup=GROUP))
