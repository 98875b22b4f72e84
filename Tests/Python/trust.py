"""What evidence is worth, as it shows from outside: in ListClients, in Explain, in what groups admit."""

import contextlib
import os

from expect import NotHere, Table, equal, generic, holds, refused, same_secret, secret
from field_identity import guarded_folder, install, needs_root, running
from puppets import copy_interpreter
from stage import Stage

TABLE = Table()
row = TABLE.row
LEVELS = ("user", "file", "kernel")
GROUP = "org.test.trust."
APPLICATION = """[Application org.test.Graded]
Executable={path}
AccessGroups={groups}

"""


def policy(path, levels=LEVELS):
    groups = " ".join(GROUP + level for level in levels)
    sections = "".join(f"[AccessGroup {GROUP}{level}]\nRequireTrust={level}\n\n" for level in levels)
    return APPLICATION.format(path=path, groups=groups) + sections


@contextlib.contextmanager
def graded(w, trust):
    """A program whose evidence is worth that, and the policy that grants it a group of each level."""
    if trust == "user":
        path = os.path.join(w.folder, "bin", "graded")
        copy_interpreter(path)
        with w.policy_file(policy(path)):
            yield path
    else:
        needs_root("a program of root's")
        with guarded_folder() as folder:
            path = os.path.join(folder, "program")
            install(path)
            with w.policy_file(policy(path)):
                yield path


def shown(w, puppet):
    """The caller as an administrator sees it."""
    (one,) = [client for client in w.admin.list_clients() if client["ProcessID"] == puppet.process.pid]
    return one


def up_to(trust):
    return LEVELS[: LEVELS.index(trust) + 1]


def is_admitted(w, puppet, trust, anew=None):
    """The groups up to that level are the caller's, and all who tell of it agree; `anew` is what the process is
    worth where it is looked at again."""
    admitted = up_to(trust)
    for level in LEVELS:
        item = generic(AccessGroup=GROUP + level)
        if level in admitted:
            puppet.store(item, secret(level))
            same_secret(puppet.read(item).secret, secret(level))
        else:
            refused("MissingEntitlement", puppet.read, item)
            refused("MissingEntitlement", puppet.store, item, secret())
            refused("MissingEntitlement", puppet.subscribe, GROUP + level)
    client = shown(w, puppet)
    equal((client["Application"], client["Trust"]), ("org.test.Graded", trust))
    granted = [group for group in client["AccessGroups"] if group.startswith(GROUP)]
    equal(granted, [GROUP + level for level in admitted], "the groups in ListClients")
    for target, worth in ((client["Connection"], trust), (f"pid:{puppet.process.pid}", anew or trust)):
        for level in LEVELS:
            told = w.admin.explain(target, GROUP + level)
            decision = "allow" if level in up_to(worth) else "deny"
            equal((told["Decision"], told["Trust"]), (decision, worth), f"what Explain says of {level}")
            holds("60-test.conf:" in told["Policy"], "the line that decided is named")


@row("T01", "a program that its user could have written", "groups of each level", "user trust, everywhere")
def t01(w):
    with graded(w, "user") as path, running(w, path) as puppet:
        is_admitted(w, puppet, "user")
        told = w.admin.explain(shown(w, puppet)["Connection"], GROUP + "file")
        holds(any("root's alone to write" in reason for reason in told["Reasons"]), "it is told why")


@row("T02", "a program of root's in a folder of root's", "groups of each level", "file trust, everywhere")
def t02(w):
    with graded(w, "file") as path, running(w, path) as puppet:
        is_admitted(w, puppet, "file")


@row("T03", "a group that requires kernel trust", "load it with --user", "a warning with file:line")
def t03(w):
    with graded(w, "user"):
        text = "RequireTrust=kernel admits nobody without --system: org.test.trust.kernel cannot be reached."
        (line,) = [line for line in w.warnings if text in line]
        holds(f"60-test.conf:{policy('x').split('kernel]')[0].count(chr(10)) + 2}: " in line, f"where: {line}")


@row("T04", "a subscriber at file trust", "require kernel trust, reload", "refused at once; hears no more")
def t04(w):
    with graded(w, "file") as path, running(w, path) as puppet:
        item = generic(AccessGroup=GROUP + "file")
        puppet.store(item, secret())
        puppet.subscribe(GROUP + "file", GROUP + "user")
        with open(os.path.join(w.folder, "policy", "60-test.conf"), "w") as file:
            file.write(policy(path).replace("RequireTrust=file", "RequireTrust=kernel"))
        w.admin.reload_policy()
        refused("MissingEntitlement", puppet.read, item)
        w.admin.force_logout(GROUP + "file")
        equal(puppet.pending_signals(), [], "what it hears of the group")
        puppet.store(generic(AccessGroup=GROUP + "user"), secret())
        equal(puppet.next_signal().arguments[1], GROUP + "user", "the group that it still hears of")


@row("T05", "a program of root's", "make it writable for others", "user trust for connections from then on")
def t05(w):
    with graded(w, "file") as path, running(w, path) as before:
        before.store(generic(AccessGroup=GROUP + "file"), secret())
        os.chmod(path, 0o757)
        with running(w, path) as after:
            is_admitted(w, after, "user")
        same_secret(before.read(generic(AccessGroup=GROUP + "file")).secret, secret(), "to the one before")


@row("T06", "a program of root's", "the broker starts anew; it calls again", "user trust, or file with a pidfd")
def t06(w):
    if w.direct:
        raise NotHere("a direct connection goes with its broker")
    with graded(w, "file") as path, running(w, path) as puppet:
        puppet.store(generic(AccessGroup=GROUP + "file"), secret())
        w.restart()
        w.unlock()
        puppet.forget_session()
        own = w.watch.bus_call("GetConnectionCredentials", "s", (w.watch.unique_name,))[0]
        is_admitted(w, puppet, "file" if "ProcessFD" in own else "user", anew="file")
        puppet.disconnect()
        puppet.connect(w.address)
        same_secret(puppet.read(generic(AccessGroup=GROUP + "file")).secret, secret(), "on a new connection")


def run(report):
    with contextlib.closing(Stage()) as stage:
        for row in TABLE.rows:
            report.play(row, lambda row=row: row.play(stage.emptied()))
