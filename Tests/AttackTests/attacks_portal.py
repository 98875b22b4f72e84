"""Real Flatpak applications, the desktop's real portal, and what each of them has in org.freedesktop.secrets."""

import contextlib
import json
import os

from attacks_program import bubble
from attacks_sandbox import installed
from expect import SECRET_MARK, NotHere, Table, equal, holds, refused, same_secret, secret
from flatpak_python import SOURCE, absent, application, build
from scene import PROGRAM, write
from secret_words import DENIED, LOGIN, NO_OBJECT

TABLE = Table()
row = TABLE.row
KEEPER, OTHER = "org.test.Keeper", "org.test.Neighbour"
PORTAL_UNIT = "xdg-desktop-portal.service"
PORTALS = "[preferred]\norg.freedesktop.impl.portal.Secret=chatelaine\n"
INSTANCE = "1234567"
PASSCODE = "passcode-of-alice"
ATTRIBUTES = {"server": "mail.example", "user": "alice", "xdg:schema": "org.test.Password"}


def needs_portal(w):
    """Both applications, installed by root, and the desktop's portal with this broker behind it."""
    if reason := absent():
        raise NotHere(reason)
    if os.path.isdir(SOURCE.repository):
        return
    build(KEEPER, OTHER)
    write(f"{w.home}/.config/xdg-desktop-portal/portals.conf", PORTALS, owner=w.user.entry.pw_uid)
    # One that is there already has looked at the file that was not.
    w.user.systemctl("stop", PORTAL_UNIT)


def secret_of(program):
    response, got = program.own_portal_secret()
    equal((response, len(got)), (0, 64), "the response, and the secret's length")
    return got


def chatelaine(w, *words, typed=""):
    done = w.user.run("chatelaine", *words, input=typed)
    equal(done.returncode, 0, f"the status of chatelaine {' '.join(words)} ({done.stderr})")


@contextlib.contextmanager
def passcode(w):
    chatelaine(w, "passcode", "set", typed=PASSCODE + "\n")
    try:
        yield
    finally:
        chatelaine(w, "passcode", "remove", typed=PASSCODE + "\n")


@row(
    "A37",
    "two real Flatpak applications",
    "each asks the desktop's real portal for its own secret, and asks again",
    "64 bytes each, always the same, never the other's",
)
def a37(w):
    needs_portal(w)
    with application(w, KEEPER) as keeper:
        first = secret_of(keeper)
        with application(w, OTHER) as other:
            second = secret_of(other)
            holds(first != second, "the two have different secrets")
            same_secret(secret_of(keeper), first)
            same_secret(secret_of(other), second)
    with application(w, KEEPER) as keeper:
        same_secret(secret_of(keeper), first, "the secret of the application that was started anew")


@row(
    "B173",
    "an application's own secret",
    "ask after a restart, a lock, under a passcode, of another process of the portal's",
    "the same bytes; before the first unlock none at all",
)
def b173(w):
    needs_portal(w)
    with application(w, KEEPER) as keeper:
        first = secret_of(keeper)
        w.broker("restart")
        same_secret(secret_of(keeper), first, "the secret after a restart")
        with passcode(w):
            chatelaine(w, "lock")
            same_secret(secret_of(keeper), first, "the secret while locked")
            w.broker("restart")
            response, got = keeper.own_portal_secret()
            equal((response != 0, got), (True, b""), "the refusal before the first unlock, and what was written")
            chatelaine(w, "unlock", typed=PASSCODE + "\n")
            same_secret(secret_of(keeper), first, "the secret after the first unlock")
            w.user.systemctl("stop", PORTAL_UNIT)
            same_secret(secret_of(keeper), first, "the secret by another process of the portal's")
        same_secret(secret_of(keeper), first, "the secret without the passcode")


def secret_tool(w, name, *words, typed=None):
    return w.user.run("flatpak", "run", "--command=secret-tool", name, *words, input=typed)


@row(
    "A38",
    "libsecret in a Flatpak application, whose own file the portal's secret encrypts",
    "store, restart the broker, look up; another application has a copy of the file",
    "the password; to the other nothing",
)
def a38(w):
    needs_portal(w)
    password = f"{SECRET_MARK}:in-a-file"
    done = secret_tool(w, KEEPER, "store", "--label=kept", "user", "alice", typed=password)
    equal(done.returncode, 0, f"the status of the store ({done.stderr})")
    kept, copied = (f"{w.home}/.var/app/{name}/data/keyrings/default.keyring" for name in (KEEPER, OTHER))
    with open(kept, "rb") as file:
        holds(SECRET_MARK.encode() not in file.read(), "the password is not in the file")
    w.broker("restart")
    equal(secret_tool(w, KEEPER, "lookup", "user", "alice").stdout, password)
    w.user.run("mkdir", "-p", os.path.dirname(copied))
    w.user.run("cp", kept, copied)
    done = secret_tool(w, OTHER, "lookup", "user", "alice")
    equal((done.returncode != 0, done.stdout), (True, ""), "what the other application looks up")


def forged_record(w):
    """A sandbox of the user's own making, with the first application's record in it."""
    forged = os.path.join(w.home, "flatpak-info")
    record = f"[Application]\nname={KEEPER}\nruntime=runtime/{SOURCE.runtime}/x/1\n\n[Instance]\ninstance-id={INSTANCE}\n"
    write(forged, record, owner=w.user.entry.pw_uid)
    return bubble(w.own("evil"), PROGRAM, "--ro-bind", forged, "/.flatpak-info")


@row(
    "A39",
    "the portal's backend",
    "another application, a program, one in a sandbox with the application's record ask it for the secret",
    "refused, with nothing written",
)
def a39(w):
    needs_portal(w)
    with application(w, KEEPER) as keeper:
        first = secret_of(keeper)
    attackers = (
        application(w, OTHER),
        application(w, KEEPER),
        w.running(w.own("evil")),
        w.running(PROGRAM),
        w.running(PROGRAM, forged_record(w)),
    )
    for attacker in attackers:
        with attacker as program:
            for name in (KEEPER, "org.test.Unborn"):
                equal(program.retrieve_secret(name), [DENIED, 0], "the refusal, and how much was written")
    with application(w, KEEPER) as keeper:
        same_secret(secret_of(keeper), first)


@row(
    "A42",
    "the desktop's portal",
    "a program makes a sandbox with the application's record in it, and asks as that; forges Flatpak's record too",
    "refused; then WINS: the portal believes what is the user's to write",
)
def a42(w):
    needs_portal(w)
    with application(w, KEEPER) as keeper:
        first = secret_of(keeper)
    folder = f"{w.user.environment['XDG_RUNTIME_DIR']}/.flatpak/{INSTANCE}"
    with w.running(PROGRAM, forged_record(w)) as impostor:
        refused(DENIED, impostor.own_portal_secret)
        w.user.run("mkdir", "-p", folder)
        write(f"{folder}/bwrapinfo.json", json.dumps({"child-pid": impostor.process.pid}), w.user.entry.pw_uid)
        same_secret(secret_of(impostor), first)
    w.user.run("rm", "-r", folder)


def client(w, program):
    """The calls of its client of org.freedesktop.secrets."""
    return lambda method, *arguments: program.of_secret_service(w.address, method, *arguments)


@row(
    "B036",
    "two real Flatpak applications behind their proxies",
    "the one stores in org.freedesktop.secrets; the other searches, lists, reads and deletes the same",
    "it gets nothing, a program outside gets nothing, and the first has it after a restart",
)
def b036(w):
    needs_portal(w)
    with application(w, KEEPER) as keeper:
        keep = client(w, keeper)
        path = keep("create", "kept", ATTRIBUTES, secret("sandboxed"))
        with application(w, OTHER) as other:
            nothing_of(client(w, other), path)
            # Its own item of the same attributes replaces nobody's.
            own = client(w, other)("create", "kept", ATTRIBUTES, secret("other"), LOGIN, True)
            equal(client(w, other)("search", ATTRIBUTES), ([own], []), "what the other finds")
            client(w, other)("delete", own)
        for program in (w.running(w.own("evil")), w.running(PROGRAM)):
            with program as stranger:
                nothing_of(client(w, stranger), path)
        with w.running(PROGRAM, forged_record(w)) as impostor:
            for method, argument in (("search", ATTRIBUTES), ("secret", path), ("delete", path)):
                refused(DENIED, client(w, impostor), method, argument)
        same_secret(keep("secret", path), secret("sandboxed"))
    w.broker("restart")
    with application(w, KEEPER) as keeper:
        keep = client(w, keeper)
        equal(keep("search", ATTRIBUTES), ([path], []), "what the first finds")
        same_secret(keep("secret", path), secret("sandboxed"))
        keep("delete", path)


def nothing_of(call, path):
    equal(call("search", ATTRIBUTES), ([], []), "what is found by the attributes")
    equal(call("search", {}), ([], []), "what is found by none")
    equal(call("items"), [], "what is listed")
    for method, *arguments in (("secret", path), ("set_secret", path, b"forged"), ("delete", path)):
        refused(NO_OBJECT, call, method, *arguments)


OWN_POLICY = f"[AccessGroup flatpak.{OTHER}]\nRequireTrust=user\n"


@row(
    "A43",
    "a Flatpak application that the user has installed, which anybody of theirs could replace",
    "asks the portal, and org.freedesktop.secrets; the policy asks for no more than `user` trust there",
    "its secret; refused; its own items, and no others",
)
def a43(w):
    needs_portal(w)
    with application(w, KEEPER) as keeper:
        first, path = secret_of(keeper), client(w, keeper)("create", "kept", ATTRIBUTES, secret("roots"))
        with installed(w, OTHER, SOURCE):
            with application(w, OTHER) as other:
                holds(secret_of(other) != first, "the two have different secrets")
                refused(DENIED, client(w, other), "search", {})
            with w.policy(OWN_POLICY), application(w, OTHER) as other:
                nothing_of(client(w, other), path)
                own = client(w, other)("create", "own", ATTRIBUTES, secret("own"))
                same_secret(client(w, other)("secret", own), secret("own"))
        client(w, keeper)("delete", path)
