"""Sandboxes, real ones and forged ones."""

import contextlib
import os

import flatpak
from expect import SECRET_MARK, NotHere, Table, equal, holds, refused, same_secret, secret
from attacks_program import bubble
from scene import GROUP, PROGRAM, item, ran, shut_out, write

TABLE = Table()
row = TABLE.row
SHARED, APP, OTHER = "org.test.shared", "org.test.App", "org.test.Mail"
HOST = "/opt/attack/bin/host"
POLICY = f"""[Application org.test.Host]
Executable={HOST}
AccessGroups={SHARED}

[Application org.test.Sandboxed]
Flatpak={APP}
AccessGroups={SHARED}
Operations=read search
"""
VALUE = f"{SECRET_MARK}:shared"
DENIED, NOT_FOUND = 3, 1


def needs_flatpak():
    if reason := flatpak.absent():
        raise NotHere(reason)
    if not os.path.isdir(flatpak.REPOSITORY):
        flatpak.build(APP, OTHER)
        flatpak.install(APP)


def command(w, application, *arguments):
    """The command as that Flatpak application: the CompletedProcess."""
    mode = ["--system"] if w.mode == "system" else ["--user"]
    return w.user.run("flatpak", "run", application, *mode, *arguments)


def get(w, application, group, *options):
    return command(w, application, "get", "--group", group, "--service", "attack", *options)


@row(
    "A30",
    "a real Flatpak application, installed by root",
    "it reads what a host program shares with it by policy, and everything else",
    "it has the shared item, and nothing else",
)
def a30(w):
    needs_flatpak()
    w.install(HOST)
    with w.honest() as mail, w.policy(POLICY), w.running(HOST) as host:
        host.store(item(), VALUE.encode())
        shared = get(w, APP, SHARED)
        equal(
            (shared.stdout, shared.returncode), (VALUE, 0), f"what it reads, and its status ({shared.stderr})"
        )
        holds(VALUE not in shared.stderr, "no secret is in what it says")
        # The host program's private group, and the honest one's.
        host.store(item(AccessGroup="app.org.test.Host"), secret())
        for group in ("app.org.test.Host", GROUP, "app.org.test.Mail"):
            equal(get(w, APP, group).returncode, DENIED, f"the status of a read in {group}")
        everything = command(w, APP, "--json", "list", "--class", "generic-password")
        holds(everything.stdout.count("Reference") == 1, f"it sees one item: {everything.stdout}")
        # It may not store, nor administer.
        done = command(w, APP, "delete", "--group", SHARED, "--service", "attack")
        equal(done.returncode, DENIED, "the status of a deletion")
        equal(command(w, APP, "policy", "reload").returncode, DENIED, "the status of a reload")
        equal(command(w, APP, "lock").returncode, DENIED, "the status of a lock")
        host.delete(item(AccessGroup=SHARED))
        holds(mail.search(item()) != [], "the honest program's item is there")


@row(
    "A31",
    "a Flatpak application of root's",
    "the user installs one of its id, or another runtime under it",
    "denied: both have to be root's for the trust `file`",
)
def a31(w):
    needs_flatpak()
    w.install(HOST)
    with w.policy(POLICY), w.running(HOST) as host:
        host.store(item(), VALUE.encode())
        equal(get(w, APP, SHARED).returncode, 0, "the status of root's application")
        with installed(w, APP):
            done = w.user.run("flatpak", "run", "--user", APP, f"--{w.mode}", "get", "--group", SHARED)
            equal(done.returncode, DENIED, f"the status of the user's application ({done.stderr})")
            holds("MissingEntitlement" in done.stderr, done.stderr)
        with installed(w, OTHER):
            # With that one came the user's runtime, which Flatpak now takes for root's application too.
            equal(get(w, APP, SHARED).returncode, DENIED, "the status with the user's runtime")
        equal(get(w, APP, SHARED).returncode, 0, "the status of root's application afterwards")
        host.delete(item())


@contextlib.contextmanager
def installed(w, application, source=flatpak.SOURCE):
    """An application of the user's, and the runtime that it needs."""
    flatpak.install(application, w.user, source)
    try:
        yield
    finally:
        w.user.run("flatpak", "uninstall", "--user", "--noninteractive", "--assumeyes", "--all")


@row("A32", "a host program's application", "the user builds a Flatpak of its id, with its program", "denied")
def a32(w):
    needs_flatpak()
    with installed(w, OTHER), w.honest():
        for group in (GROUP, "app.org.test.Mail"):
            done = get(w, OTHER, group)
            equal(done.returncode, DENIED, f"the status of a read in {group} ({done.stderr})")


def record(w, instance):
    """What Flatpak writes of an instance of the application that root has installed."""
    path = ran("flatpak", "info", "--system", "--show-location", APP).strip() + "/files"
    runtime = (
        ran("flatpak", "info", "--system", "--show-location", f"{flatpak.RUNTIME}//1").strip() + "/files"
    )
    return (
        f"[Application]\nname={APP}\nruntime=runtime/{flatpak.RUNTIME}/{flatpak.MACHINE}/1\n\n"
        f"[Instance]\ninstance-id={instance}\ninstance-path={w.home}/.var/app/{APP}\n"
        f"app-path={path}\nruntime-path={runtime}\n"
    )


@row(
    "A33",
    "a Flatpak application of root's",
    "the user makes a sandbox with the same record in it (bwrap)",
    "denied, beside the real one, which is accepted",
)
def a33(w):
    needs_flatpak()
    w.install(HOST)
    forged = os.path.join(w.home, "flatpak-info")
    with open(forged, "w") as file:
        file.write(record(w, "1234567"))
    with w.policy(POLICY), w.running(HOST) as host:
        host.store(item(), VALUE.encode())
        evil = w.own("evil")
        inside = bubble(evil, PROGRAM, "--ro-bind", forged, "/.flatpak-info")
        with w.running(PROGRAM, inside) as impostor:
            refused("MissingEntitlement", impostor.search, item(AccessGroup=SHARED))
            shut_out(impostor)
            refused("AccessDenied", impostor.lock)
        equal(get(w, APP, SHARED).stdout, VALUE, "what the real one reads")
        host.delete(item())


@row(
    "A34",
    "a Flatpak application of root's",
    "the user forges all that Flatpak keeps of an instance: record, scope, folder",
    "WINS at `file`, by design: all of it is the user's to write",
)
def a34(w):
    needs_flatpak()
    w.install(HOST)
    instance, forged = "7654321", os.path.join(w.home, "flatpak-info")
    folder = f"{w.user.environment['XDG_RUNTIME_DIR']}/.flatpak/{instance}"
    with w.policy(POLICY), w.running(HOST) as host:
        host.store(item(), VALUE.encode())
        write(forged, record(w, instance), owner=w.user.entry.pw_uid)
        w.user.run("mkdir", "-p", folder)
        w.user.run("cp", forged, f"{folder}/info")
        # No process has this number.
        w.user.run("sh", "-c", f"echo 4194304 >{folder}/pid")
        scope = [
            *w.on_session_bus,
            "systemd-run",
            "--user",
            "--quiet",
            "--scope",
            f"--unit=app-flatpak-{APP}-{instance}",
        ]
        inside = [
            *scope,
            *w.on_broker_bus,
            *bubble(w.own("evil"), PROGRAM, "--ro-bind", forged, "/.flatpak-info"),
        ]
        with w.running(PROGRAM, inside) as impostor:
            same_secret(impostor.read(item(AccessGroup=SHARED)).secret, VALUE.encode())
            # It has no more than the application that it forged.
            shut_out(impostor, unnamed="ok")
        host.delete(item())
