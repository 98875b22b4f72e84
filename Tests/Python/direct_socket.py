"""The socket itself: its file, who may open it, and who finds it."""

import json
import os
import shutil
import stat
import subprocess
import sys

from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from harness import REPOSITORY, World
from puppets import NOBODY

TABLE = Table()
row = TABLE.row
UNAVAILABLE = 69


def scripts(world):
    return os.path.join(world.folder, "scripts")


def run_as(world, user, script, *arguments):
    """A script of these tests as another user, to its end."""
    environment = world.environment | {"PYTHONPATH": scripts(world), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*World.become(user), sys.executable, os.path.join(scripts(world), script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() or done.stderr.strip()


def root():
    if os.geteuid() != 0:
        raise NotHere("another user's process needs root")


def second(world, *arguments, state="other-state"):
    """A broker beside the world's, on its bus or on none; its status and its last line."""
    command = [argument for argument in world.command if argument != "--no-socket"] + list(arguments)
    command[command.index("--state") + 1] = os.path.join(world.folder, state)
    done = subprocess.run(
        command, env=world.environment, cwd=world.folder, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stderr.strip().splitlines()[-1]


@row("D40", "the socket", "look at its file, end the broker", "0600, and gone with the broker")
def d40():
    with World(direct=True, passcode=False) as world:
        mode = os.lstat(world.socket).st_mode
        equal((stat.S_ISSOCK(mode), stat.S_IMODE(mode)), (True, 0o600))
        world.stop()
        holds(not os.path.lexists(world.socket), "the file is gone")


@row("D41", "--no-socket", "look", "no file, and the bus is served")
def d41():
    with World(direct=False, passcode=False) as world:
        holds(not os.path.exists(world.socket), "there is no socket")
        world.mail.add(generic(), secret())


@row("D42", "a broker that was killed", "start it anew", "its socket file is replaced")
def d42():
    with World(direct=True) as world:
        world.mail.add(generic(Accessible="after-first-unlock"), secret())
        before = os.lstat(world.socket).st_ino
        world.kill()
        equal(os.lstat(world.socket).st_ino, before, "the file that stayed")
        world.start()
        world.unlock()
        same_secret(world.mail.read(generic()).secret, secret())


@row("D43", "a broker that serves a socket", "start a second one on it", "69, told why; the first goes on")
def d43():
    with World(direct=True, passcode=False) as world:
        status, line = second(world)
        equal(status, UNAVAILABLE)
        holds(line.endswith("is served by another broker"), line)
        world.mail.add(generic(), secret())
        # One that finds the name taken leaves no file behind.
        free = os.path.join(world.folder, "free")
        status, line = second(world, "--socket", free, state="third-state")
        equal(status, UNAVAILABLE)
        holds("another broker owns" in line and not os.path.lexists(free), line)


@row("D44", "names that no socket can have", "start", "69, told why, and nothing is overwritten")
def d44():
    with World(direct=True, passcode=False) as world:
        world.stop()
        taken = os.path.join(world.folder, "taken")
        with open(taken, "w") as file:
            file.write("mine")
        cases = {
            os.path.join(world.folder, "x" * 120): "is no name for a socket, which has 1 to 107 bytes",
            taken: "is there and is no socket",
            os.path.join(world.folder, "file/bus"): None,
        }
        for path, words in cases.items():
            if words is None:
                with open(os.path.dirname(path), "w"):
                    words = "cannot be listened on"
            status, line = second(world, "--socket", path)
            equal(status, UNAVAILABLE)
            holds(path in line and words in line, line)
        with open(taken) as file:
            equal(file.read(), "mine")


@row("D45", "a broker of root's whose socket's mode was opened", "another user connects", "closed, not a word")
def d45():
    root()
    with World(direct=True) as world:
        os.chmod(os.path.join(world.folder, "runtime"), 0o755)
        equal(run_as(world, NOBODY, "direct_raw.py", world.socket), "no permission")
        os.chmod(world.socket, 0o666)
        equal(run_as(world, NOBODY, "direct_raw.py", world.socket), "closed")
        equal(run_as(world, 0, "direct_raw.py", world.socket), "let in")
        world.mail.add(generic(), secret())


@row("D46", "a user's broker", "root connects", "it is let in, and has nothing there")
def d46():
    root()
    with World(direct=True, user=NOBODY) as world:
        world.mail.add(generic(), secret())
        mine = world.program(world.executable("mail"), wrap=[])
        try:
            refused("MissingEntitlement", mine.read, generic())
            refused("AccessDenied", mine.lock)
        finally:
            mine.close()


def command(world):
    """A copy of the command, which the policy of a row names."""
    built = os.environ.get("CHATELAINED") or os.path.join(REPOSITORY, ".build/debug/chatelained")
    built = os.path.join(os.path.dirname(built), "chatelaine")
    if not os.access(built, os.X_OK):
        raise NotHere(f"no command at {built}")
    return shutil.copy(built, os.path.join(world.folder, "bin", "chatelaine"))


POLICY = """[Application org.test.Command]
Executable={program}
AccessGroups=org.test.command

[AccessGroup org.test.command]
RequireTrust=user
"""


def connection_of(world, program, *arguments, environment=None):
    """How the broker calls the connection of `chatelaine watch`."""
    watch = subprocess.Popen(
        [program, *arguments, "--json", "watch"],
        env=world.environment | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        line = watch.stdout.readline()
        equal(json.loads(line).get("Event") if line.startswith("{") else line, "Subscribed")
        clients = world.admin.list_clients()
        (found,) = [client["Connection"] for client in clients if client["ProcessID"] == watch.pid]
        return found
    finally:
        watch.kill()
        watch.wait()
        watch.stdout.close()


@row("D47", "the command", "no address, the endpoint's, the bus's", "direct where it can, told of signals there")
def d47():
    with World(direct=True) as world:
        program = command(world)
        with world.policy_file(POLICY.format(program=program)):
            holds(connection_of(world, program).startswith("direct:"), "it prefers the direct endpoint")
            address = f"--address=unix:path={world.socket}"
            holds(connection_of(world, program, address).startswith("direct:"), "the address of the endpoint")
            address = f"--address={world.address}"
            holds(connection_of(world, program, address).startswith(":"), "the address of a bus")
            os.rename(world.socket, world.socket + ".away")
            holds(connection_of(world, program).startswith(":"), "without the endpoint the bus")


@row("D48", "somebody else's socket in the endpoint's place", "the command looks for its broker", "it takes the bus")
def d48():
    root()
    with World(direct=True) as world:
        program = command(world)
        world.admin.list_clients()
        os.rename(world.socket, world.socket + ".away")
        impostor = impostor_at(world, world.socket)
        try:
            with world.policy_file(POLICY.format(program=program)):
                holds(connection_of(world, program).startswith(":"), "it takes the bus")
        finally:
            impostor.kill()
            impostor.wait()
            impostor.stdout.close()


def impostor_at(world, path):
    """Another user's process that listens there, as could be where a folder is open."""
    os.chmod(os.path.dirname(path), 0o777)
    os.chmod(os.path.join(world.folder, "runtime"), 0o755)
    text = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(1, flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [*World.become(NOBODY), sys.executable, "-c", text, path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    equal(process.stdout.readline(), "1\n", "the impostor's word")
    os.chmod(path, 0o666)
    return process


@row("D49", "a program with raised privileges", "its environment points at a broker", "it is not looked at")
def d49():
    root()
    with World(direct=True, user=NOBODY) as world:
        program = command(world)
        os.chown(program, NOBODY, NOBODY)
        with world.policy_file(POLICY.format(program=program)):
            holds(status(world, program).returncode == 0, "without raised privileges it finds the broker")
            os.chown(program, NOBODY, 0)
            os.chmod(program, 0o2755)
            raised = status(world, program)
            if raised.returncode == 0 and set_group_id_is_ignored(program):
                raise NotHere("the file system ignores set-group-id")
            equal(raised.returncode, 5, f"the status ({raised.stderr})")
            holds("cannot be reached" in raised.stderr, raised.stderr)


def status(world, program):
    command = [*World.become(NOBODY), program, "status"]
    return subprocess.run(
        command, env=world.environment, capture_output=True, text=True, timeout=60, check=False
    )


def set_group_id_is_ignored(program):
    return bool(os.statvfs(program).f_flag & os.ST_NOSUID)
