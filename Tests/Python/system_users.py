"""One broker, several users: neither sees, locks, logs out, slows or fills the other."""

import os
import shutil
import signal

import system_login
import system_manager
import system_sessions
import system_trouble
from chatelaine_client import MANAGER
from expect import Table, by_reference, equal, generic, holds, refused, same_secret, secret
from policy import ONE
from sessions import PLAIN
from system_keychains import (
    FIND,
    FIND_DRAFTS,
    TOKEN,
    each,
    ends_without,
    fill,
    object_of,
    passcode,
    with_passcodes,
)
from system_world import SystemWorld, in_own_process_namespace

TABLE = Table()
row = TABLE.row


@row("K01", "a user without a keychain", "read its properties, also as root", "a new one's, and none is made")
def k01(w):
    fresh = {"State": "unlocked", "ProtectedDataAvailable": True, "PasscodeSet": False}
    for found in (
        w.properties(w.of(w.alice)),
        w.properties(w.unregistered_program()),
        w.properties(w.of(0, "nobody"), object_of(w.alice)),
    ):
        equal({name: found[name] for name in fresh}, fresh)
        holds("waiting-for-store" not in found["Conditions"], "nothing is wrong with it")
    equal([name for name in os.listdir(w.state) if name.isdigit()], [], "the keychains")


@row("K02", "one primary key, two users", "both store, read, update, delete", "each its own")
def k02(w):
    fill(w)
    for puppet, name in each(w):
        same_secret(puppet.read(FIND).secret, secret(f"{name} token"))
        equal(len(puppet.search({"Class": "generic-password"})), 2)
    equal(w.of(w.alice).update(FIND, {"Comment": "hers"}), 1)
    holds("Comment" not in w.of(w.bob).read(FIND).attributes, "the other's item is as it was")
    equal(w.of(w.alice).delete(FIND_DRAFTS), 1)
    same_secret(w.of(w.bob).read(FIND_DRAFTS).secret, secret("bob drafts"))
    for user_id in (w.alice, w.bob):
        folder = os.stat(w.folder_of(user_id))
        equal((folder.st_uid, folder.st_mode & 0o777), (os.geteuid(), 0o700), "the folder's owner and mode")


@row("K03", "another user's reference", "read, search, update, delete it", "as one that never was")
def k03(w):
    (hers, _), _ = fill(w)
    bob = w.of(w.bob)
    absent = hers[:-4] + ("AAAA" if hers[-4:] != "AAAA" else "BBBB")
    for reference in (hers, absent):
        query = by_reference(reference)
        refusals = [
            (error.name, error.text)
            for error in (
                refused(("ItemNotFound", "Param"), bob.read, query),
                refused(("ItemNotFound", "Param"), bob.update, query, {"Comment": "c"}),
                refused(("ItemNotFound", "Param"), bob.delete, query),
            )
        ]
        if reference == hers:
            seen = refusals
            equal({name for name, _ in refusals}, {"ItemNotFound"})
            equal(bob.search(query), [])
    same_secret(w.of(w.alice).read(by_reference(hers)).secret, secret("alice token"))
    refused("NoSuchAttribute", bob.read, FIND | {"UserID": w.alice})
    equal(len(seen), 3)


@row("K04", "both unlocked and subscribed", "one locks and unlocks", "its own programs are told, alone")
def k04(w):
    with_passcodes(w)
    alice, bob = w.of(w.alice), w.of(w.bob)
    for puppet in (alice, bob):
        puppet.subscribe()
        puppet.property("State")
        puppet.pending_signals()
    caller = w.of(w.alice, "calendar")
    equal(len(caller.search(FIND)), 1)
    alice.lock()
    equal((w.state_of(w.alice), w.state_of(w.bob)), ("locked", "unlocked"))
    same_secret(bob.read(FIND_DRAFTS).secret, secret("bob drafts"))
    refused("InteractionNotAllowed", alice.read, FIND_DRAFTS)
    told = alice.pending_signals()
    equal([one.arguments[1:] for one in told if one.name == "LockStateChanged"], [("locked", False)])
    changes = [one.arguments for one in told if one.name == "PropertiesChanged"]
    equal(changes, [(MANAGER, {}, ["State", "ProtectedDataAvailable"])], "the change, without values")
    heard = [one.arguments for one in caller.pending_signals()]
    equal(heard, changes, "what a program hears that has called, and read no property")
    equal(bob.pending_signals(), [], "what the other user hears")
    alice.unlock(passcode("alice"))
    equal(bob.pending_signals(), [], "what the other user hears")
    ends_without(w, w.alice, w.bob)


@row("K05", "both subscribed to one group", "one adds, changes, logs out", "the other hears nothing")
def k05(w):
    fill(w)
    alice, bob = w.of(w.alice), w.of(w.bob)
    _, epochs, _ = alice.subscribe(ONE)
    _, before, _ = bob.subscribe(ONE)
    alice.store(TOKEN, secret("alice again"))
    deleted, epoch = alice.logout(ONE, "token", "over")
    equal((deleted, epoch), (1, epochs[ONE] + 1))
    equal([one.name for one in alice.pending_signals()], ["ItemChanged", "LoggedOut"])
    equal(bob.pending_signals(), [], "what the other user hears")
    equal(bob.subscribe(ONE)[1], before, "the other user's epochs")
    same_secret(bob.read(FIND).secret, secret("bob token"))
    ends_without(w, w.alice, w.bob)


@row("K11", "a user id that the machine does not know", "store, subscribe", "MissingEntitlement, no folder")
def k11(w):
    stranger = w.unregistered_program()
    error = refused("MissingEntitlement", stranger.store, TOKEN, secret())
    holds("user database" in error.text, f"the text says why ({error.text})")
    refused("MissingEntitlement", stranger.subscribe)
    refused("MissingEntitlement", stranger.search, FIND)
    holds(not os.path.exists(w.folder_of(w.unregistered())), "no folder")
    # A user that was deleted leaves a keychain; whoever gets the number is still nobody.
    with w.without_broker():
        os.mkdir(w.folder_of(w.unregistered()), 0o700)
    equal(w.over(w.unregistered()).list_groups(), {})
    again = w.unregistered_program()
    for _ in range(2):
        refused("MissingEntitlement", again.search, FIND)
    with w.without_broker():
        shutil.rmtree(w.folder_of(w.unregistered()))


@row("K12", "a group that holds three items", "one user fills it", "QuotaExceeded; the other has all of its own")
def k12(w):
    with w.limited(3):
        fill(w)
        alice, bob = w.of(w.alice), w.of(w.bob)
        alice.store(generic(Service="third"), secret())
        refused("QuotaExceeded", alice.store, generic(Service="fourth"), secret())
        bob.store(generic(Service="third"), secret())
        for puppet in (alice, bob):
            puppet.delete(generic(Service="third"))


@row("K13", "programs of both, connected", "root takes a grant away, once; a bad policy", "for both")
def k13(w):
    fill(w)
    programs = [w.of(user_id, "calendar") for user_id in (w.alice, w.bob)]
    for puppet in programs:
        puppet.subscribe(ONE)
    with w.edited("AccessGroups=org.test.one\n", "AccessGroups=org.test.other\n"):
        w.user.reload_policy()
        for puppet in programs:
            refused("MissingEntitlement", puppet.search, FIND | {"AccessGroup": ONE})
    w.user.reload_policy()
    for user_id in (w.alice, w.bob):
        w.of(user_id).store(TOKEN, secret(f"{'alice' if user_id == w.alice else 'bob'} token"))
    for puppet in programs:
        heard = [one for one in puppet.pending_signals() if one.name != "PropertiesChanged"]
        equal(heard, [], "what a subscription that ended hears")
        equal(len(puppet.search(FIND)), 1)
        equal(puppet.property("Conditions").count("policy-refused"), 0)
    with w.edited("[Manager]", "[Menager]"):
        refused("PolicyInvalid", w.user.reload_policy)
        for puppet in programs:
            holds("policy-refused" in puppet.property("Conditions"), "the condition is everybody's")
            changes = [one for one in puppet.pending_signals() if one.name == "PropertiesChanged"]
            equal([one.arguments[2] for one in changes], [["Conditions"]])
    w.process.send_signal(signal.SIGHUP)
    w.await_log("the policy was read anew", 1)
    equal(w.of(w.bob).property("Conditions").count("policy-refused"), 0)


@row("K14", "the system's bus", "a plain session, and the ready one", "taken, as the contract says")
def k14(w):
    alice = w.of(w.alice)
    alice.store_plainly("/", generic(Service="plain"), secret("plain"))
    alice.store_plainly(None, generic(Service="plain"), secret("plainer"))
    same_secret(alice.read(generic(Service="plain")).secret, secret("plainer"))
    equal(alice.delete(generic(Service="plain")), 1)
    equal(PLAIN, "plain")


def run(report):
    """With --system the broker looks at its callers from process 1's side, so the suite gets a process 1 of its own."""
    if os.getpid() != 1:
        return in_own_process_namespace("system_users", report)
    rows = TABLE.rows + system_login.TABLE.rows + system_manager.TABLE.rows + system_trouble.TABLE.rows + system_sessions.TABLE.rows
    with SystemWorld() as world:
        for one in sorted(rows, key=lambda one: one.number):
            report.play(one, lambda one=one: one.play(world))
