"""The broker as a service of the system, for the suites about that: how it comes to be there, is seen and used."""

import json
import subprocess

from expect import SECRET_MARK, equal

WAIT_SECONDS = 60.0
UNIT = "chatelained.service"
NAME = "org.chatelaine.Broker1"
MANAGER = (NAME, "/org/chatelaine/Broker1", NAME + ".Manager")
SECRET = f"{SECRET_MARK}:on-a-system"


def serve(box, programs, policy):
    """A fresh machine, and then what README.md says."""
    box.boot()
    box.install(programs)
    box.write("/etc/chatelaine/policy.d/60-test.conf", policy)
    for command in (
        ("systemd-sysusers",),
        ("systemctl", "daemon-reload"),
        ("systemctl", "reload", "dbus"),
        ("systemctl", "enable", "--now", "chatelained"),
    ):
        if (done := box.run(*command, check=False)).returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}{box.journal('--unit=chatelaine*')}")
    box.add_user("alice", 1000)


def restart(box, unit=UNIT, check=True):
    box.run("systemctl", "daemon-reload")
    # The rows start it more often than systemd takes for sane.
    box.run("systemctl", "reset-failed", unit)
    box.run("systemctl", "restart", unit, check=check)


def set_unit(box, name, line):
    """One more setting of the unit's, as an administrator writes it."""
    box.write(f"/etc/systemd/system/{UNIT}.d/{name}.conf", f"[Service]\n{line}\n")


def shown(box, *properties):
    return [box.output("systemctl", "show", "--property", one, "--value", UNIT) for one in properties]


def pid(box):
    return shown(box, "MainPID")[0]


def limit(box, name):
    limits = box.output("cat", f"/proc/{pid(box)}/limits")
    return next(line for line in limits.splitlines() if name in line).split(name)[1].split()[0]


def run_tool(box, user, program, *arguments, **options):
    """`chatelaine`, or a copy of it, in a session of the user's."""
    return box.login(user, program, "--system", *arguments, check=False, **options)


def chatelaine(box, user, *arguments):
    done = run_tool(box, user, "/usr/bin/chatelaine", *arguments)
    equal(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)


def put(box, user, program, group):
    item = ("--group", group, "--service", "s", "--account", "a")
    done = run_tool(box, user, program, "set", *item, input=SECRET)
    equal(done.returncode, 0, done.stderr)


def get(box, user, program, group):
    done = run_tool(box, user, program, "get", "--group", group, "--service", "s")
    equal(done.returncode, 0, done.stderr)
    return done.stdout


def trust_of(box, program, group):
    """What the broker takes a program of alice's for that is connected now: its application and its trust."""
    command = (program, "--system", "watch", "--group", group)
    with box.start_login("alice", *command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        client = box.until(lambda: client_of(box, program), f"{program} is among the clients")
        box.run("kill", str(client["ProcessID"]))
    return client["Application"], client["Trust"]


def client_of(box, program):
    listed = json.loads(box.output("busctl", "--json=short", "call", *MANAGER, "ListClients"))["data"][0]
    for client in listed:
        found = {key: value["data"] for key, value in client.items()}
        if box.run("readlink", f"/proc/{found['ProcessID']}/exe", check=False).stdout.strip() == program:
            return found
    return None
