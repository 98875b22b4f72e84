"""One broker, several users: who manages whose keychain."""

import os
import subprocess
import sys

from chatelaine_client import OBJECT, PREFIX
from direct_socket import command
from expect import NotHere, Table, by_reference, equal, generic, holds, refused, same_secret, secret
from policy import ONE, TWO
from puppets import NOBODY
from system_keychains import (
    ADMINISTRATORS,
    DENIED,
    FIND,
    MANAGER_CALLS,
    TOKEN,
    each,
    ends_without,
    fill,
    manage,
    manager_signatures,
    object_of,
    passcode,
)
from system_world import SystemWorld
from traces import files

TABLE = Table()
row = TABLE.row


@row("K06", "both have items and subscribers", "root lists and logs out one user", "that user's alone")
def k06(w):
    fill(w)
    alice, bob = w.of(w.alice), w.of(w.bob)
    for puppet in (alice, bob):
        puppet.subscribe(ONE)
    bob.add(generic(Service="third", Accessible="after-first-unlock"), secret())
    equal(w.over(w.alice).list_groups()[ONE], (1, 1))
    equal(w.over(w.bob).list_groups()[ONE], (2, 1))
    deleted, told, _ = w.over(w.alice).force_logout(ONE, "token", "by root")
    equal((deleted, told), (1, 1))
    equal([one.arguments[4] for one in alice.pending_signals() if one.name == "LoggedOut"], ["by root"])
    equal([one.name for one in bob.pending_signals() if one.name == "LoggedOut"], [])
    same_secret(bob.read(FIND).secret, secret("bob token"))
    report = w.over(w.bob).check()
    equal((report["BackgroundRows"], report["BackgroundDamaged"]), (2, 0))
    equal(w.over(w.bob).move_items(ONE, TWO), 3)
    equal(w.over(w.bob).move_items(TWO, ONE), 3)
    bob.delete(generic(Service="third"))
    ends_without(w, w.alice, w.bob)


@row("K07", "programs of both and of root", "root lists clients", "all on the main object; one user's on its own")
def k07(w):
    fill(w)

    def processes(client):
        return {one["ProcessID"] for one in client.list_clients()}

    hers, his = w.of(w.alice).process.pid, w.of(w.bob).process.pid
    holds({hers, his} <= processes(w.user), "root sees both users' programs")
    over = processes(w.over(w.alice))
    holds(hers in over and his not in over, "and at one user's object that user's")
    found = w.user.explain(f"pid:{hers}", ONE)
    equal((found["Application"], found["Decision"]), ("org.test.Mail", "allow"))


@row("K08", "objects that name a user", "a user calls every method, reads properties", DENIED)
def k08(w):
    equal(sorted(MANAGER_CALLS), sorted(manager_signatures()), "the methods that are called")
    fill(w)
    # What it writes behind an answer is written then.
    with w.without_broker():
        before = files(w.folder_of(w.alice))
    for named in (w.alice, w.bob, w.unregistered(), 0):
        for member in MANAGER_CALLS:
            for caller in (w.of(w.bob), w.of(w.bob, "admin")):
                refused(DENIED, manage, caller, object_of(named), member)
        refused(DENIED, w.properties, w.of(w.bob), object_of(named))
    for member in ADMINISTRATORS:
        refused(DENIED, manage, w.of(w.bob), OBJECT, member)
        # [Manager] is for --user.
        refused(DENIED, manage, w.of(w.bob, "admin"), OBJECT, member)
    holds(files(w.folder_of(w.alice)) == before, "the other user's files are as they were")
    for user_id in (0, w.unregistered()):
        holds(not os.path.exists(w.folder_of(user_id)), "no keychain was made for a call that is refused")


@row("K09", "objects that name a user", "introspect, call other interfaces and numbers", "listed to root alone")
def k09(w):
    fill(w)
    users = f"{OBJECT}/user"
    equal(w.introspect(w.of(w.bob), users).count("<node name="), 0)
    seen = w.introspect(w.of(0, "nobody"), users)
    holds(f'<node name="{w.alice}"/>' in seen and f'<node name="{w.bob}"/>' in seen, "root sees both")
    own = w.introspect(w.of(0, "nobody"), object_of(w.alice))
    holds(f"{PREFIX}Manager" in own and f"{PREFIX}Items" not in own, "the manager alone")
    for name in (f"0{w.alice}", "4294967295", "x", f"{w.alice}/0", "99999999999999999999"):
        refused("org.freedesktop.DBus.Error.UnknownObject", manage, w.user_puppet, f"{users}/{name}", "Lock")
    refused("Param", w.over(w.unregistered()).list_groups)
    holds(not os.path.exists(w.folder_of(w.unregistered())), "no folder for nobody")


@row("K10", "root's own programs", "store, read, lock", "root's own keychain, and no other")
def k10(w):
    references = fill(w)
    root = w.of(0)
    for found in references[0] + references[1]:
        refused("ItemNotFound", root.read, by_reference(found))
    refused("ItemNotFound", root.read, FIND)
    root.store(TOKEN, secret("root's"))
    same_secret(root.read(FIND).secret, secret("root's"))
    refused("NotAvailable", root.lock)
    for puppet, name in each(w):
        same_secret(puppet.read(FIND).secret, secret(f"{name} token"))
    equal(root.delete(FIND), 1)


@row("K23", "polkit", "it denies, it allows, it goes", "administrators and passcodes are as it says")
def k23(_):
    with SystemWorld() as w, w.polkit() as allow:
        fill(w)
        alice, bob = w.of(w.alice), w.of(w.bob)
        hers = object_of(w.alice)
        refused(DENIED, manage, bob, hers, "ListGroups")
        refused(DENIED, alice.set_passcode, b"", passcode("alice"))
        equal(alice.property("PasscodeSet"), False)
        allow("org.chatelaine.manage")
        equal(manage(bob, hers, "ListGroups")[0], [(ONE, 1, 1)])
        equal(manage(bob, hers, "ForceLogout")[0], 2)
        equal(manage(bob, OBJECT, "ListGroups")[0], [(ONE, 1, 1)])
        refused("ItemNotFound", alice.read, FIND)
        same_secret(bob.read(FIND).secret, secret("bob token"))
        refused(DENIED, alice.set_passcode, b"", passcode("alice"))
        # A property is told at once, or not at all: nobody can be asked first.
        refused(DENIED, w.properties, bob, hers)
        allow("org.chatelaine.set-passcode")
        refused(DENIED, manage, bob, hers, "ListGroups")
        alice.set_passcode(b"", passcode("alice"))
        refused(DENIED, alice.remove_passcode, passcode("alice"))
        equal(alice.property("PasscodeSet"), True)
        allow()
        equal(w.over(w.alice).check()["BackgroundRows"], 0, "what root counts, who asks nobody")


@row(
    "K24",
    "the broker's name in another user's hands, on a bus that lets anybody own it",
    "the command shows the state, stores, unlocks",
    "AccessDenied; nothing but a Ping was sent",
)
def k24(w):
    if os.path.exists("/run/chatelaine/bus"):
        raise NotHere("the command would find this machine's own broker")
    script = os.path.join(w.folder, "scripts", "impostor.py")
    with w.without_broker():
        impostor = subprocess.Popen(
            [*w.become(NOBODY), sys.executable, script, w.address], stdout=subprocess.PIPE, text=True
        )
        with impostor:
            equal(impostor.stdout.readline(), "ready\n", "the impostor's word")
            for arguments in (["status"], ["set", "--service", "s", "--account", "a"], ["unlock"]):
                done = subprocess.run(
                    [command(w), "--system", *arguments],
                    env=w.environment, input="guess", capture_output=True, text=True,
                )
                equal(done.returncode, 3, f"the status ({done.stderr})")
                holds("AccessDenied" in done.stderr, done.stderr)
            impostor.kill()
            equal(set(impostor.stdout.read().split()), {"Ping"}, "what the impostor heard")
