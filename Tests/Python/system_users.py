"""One broker, several users: neither sees, locks, logs out, slows or fills the other."""

import os
import shutil
import signal
import subprocess
import sys

import faults
from chatelaine_client import MANAGER, OBJECT, PREFIX
from direct_socket import command
from expect import NotHere, Table, by_reference, equal, generic, holds, refused, same_secret, secret
from harness import PASSCODE
from policy import ONE, TWO
from puppets import first_answer
from sessions import PLAIN
from system_world import SystemWorld, in_own_process_namespace
from traces import content, files

TABLE = Table()
row = TABLE.row
DENIED = "AccessDenied"
TOKEN = generic(Service="token", Accessible="after-first-unlock")
DRAFTS = generic(Service="drafts", Accessible="when-unlocked")
FIND = {key: TOKEN[key] for key in ("Class", "Service", "Account")}
FIND_DRAFTS = {key: DRAFTS[key] for key in FIND}
PLAIN_SECRET = ("/", b"", b"guess")
MANAGER_CALLS = {
    "Lock": (None, ()),
    "Unlock": ("(oayay)", (PLAIN_SECRET,)),
    "SetPasscode": ("(oayay)(oayay)", (PLAIN_SECRET, PLAIN_SECRET)),
    "RemovePasscode": ("(oayay)", (PLAIN_SECRET,)),
    "ForceLogout": ("sss", (ONE, "", "")),
    "MoveItems": ("ss", (ONE, TWO)),
    "ReloadPolicy": (None, ()),
    "ListClients": (None, ()),
    "Explain": ("ss", ("pid:1", ONE)),
    "ListGroups": (None, ()),
    "Check": (None, ()),
}
ADMINISTRATORS = set(MANAGER_CALLS) - {"Lock", "Unlock", "SetPasscode", "RemovePasscode"}


def object_of(user_id):
    return f"{OBJECT}/user/{user_id}"


def manage(puppet, path, member):
    signature, body = MANAGER_CALLS[member]
    return puppet.raw_call(path, MANAGER, member, signature, body)


def each(w):
    return (w.of(w.alice), "alice"), (w.of(w.bob), "bob")


def passcode(name):
    return PASSCODE + name.encode()


def unlock(puppet, name):
    if puppet.property("State") != "unlocked":
        puppet.unlock(passcode(name))


def fill(w):
    """The same two items for both users, unlocked; each one's references."""
    for puppet, name in each(w):
        unlock(puppet, name)
    return [
        [puppet.store(item, secret(f"{name} {item['Service']}"))[0] for item in (TOKEN, DRAFTS)]
        for puppet, name in each(w)
    ]


def with_passcodes(w):
    """Both users have items, a passcode of their own, and are unlocked."""
    references = fill(w)
    for puppet, name in each(w):
        if not puppet.property("PasscodeSet"):
            puppet.set_passcode(b"", passcode(name))
        unlock(puppet, name)
    return references


def ends_without(w, *users):
    for user_id in users:
        w.of(user_id).unsubscribe()
        w.of(user_id).pending_signals()


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
    fill(w)
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


@row("K15", "both with a passcode", "kill -9, start, unlock one", "the other stays before its first unlock")
def k15(w):
    with_passcodes(w)
    alice, bob = w.of(w.alice), w.of(w.bob)
    epochs = [puppet.subscribe(ONE)[1] for puppet in (alice, bob)]
    w.kill()
    w.start()
    for puppet in (alice, bob):
        equal(puppet.property("State"), "before-first-unlock")
        refused("InteractionNotAllowed", puppet.read, FIND)
    equal([puppet.subscribe(ONE)[1] for puppet in (alice, bob)], epochs, "the epochs")
    refused("AuthFailed", alice.unlock, passcode("bob"))
    w.over(w.alice).unlock(passcode("alice"))
    equal((w.state_of(w.alice), w.state_of(w.bob)), ("unlocked", "before-first-unlock"))
    same_secret(alice.read(FIND).secret, secret("alice token"))
    refused("InteractionNotAllowed", bob.read, FIND)
    bob.unlock(passcode("bob"))
    ends_without(w, w.alice, w.bob)


@row("K16", "one user's store is damaged", "use both", "NotAvailable and left as it is; the other works")
def k16(w):
    fill(w)
    path = os.path.join(w.folder_of(w.alice), "keychain.db")
    with w.without_broker():
        whole = files(w.folder_of(w.alice))
        faults.overwrite(path, os.urandom(8192))
        damaged = content(path)
    alice, bob = w.of(w.alice), w.of(w.bob)
    refused("NotAvailable", alice.read, FIND)
    refused("NotAvailable", alice.store, TOKEN, secret())
    holds("waiting-for-store" in alice.property("Conditions"), "the condition says so")
    unlock(bob, "bob")
    same_secret(bob.read(FIND).secret, secret("bob token"))
    holds("waiting-for-store" not in bob.property("Conditions"), "the other user has no such condition")
    holds(content(path) == damaged, "the damaged file is left as it is")
    with w.without_broker():
        for name, data in whole.items():
            with open(name, "wb") as file:
                file.write(data)
    equal(w.over(w.alice).list_groups()[ONE], (1, 1))


@row("K17", "one user's folder is closed or locked", "use both", "NotAvailable for that user, until it is free")
def k17(w):
    with w.without_broker():
        os.rename(w.folder_of(w.alice), w.folder_of(w.alice) + ".away")
        with open(w.folder_of(w.alice), "w") as file:
            file.write("no folder")
    alice, bob = w.of(w.alice), w.of(w.bob)
    refused("NotAvailable", alice.search, FIND)
    holds("waiting-for-store" in alice.property("Conditions"), "the condition says so")
    unlock(bob, "bob")
    same_secret(bob.read(FIND).secret, secret("bob token"))
    os.unlink(w.folder_of(w.alice))
    os.rename(w.folder_of(w.alice) + ".away", w.folder_of(w.alice))
    holds("waiting-for-store" not in alice.property("Conditions"), "found again")
    equal(w.over(w.alice).list_groups()[ONE], (1, 1))


@row("K18", "one user's store without a passcode", "put it into the other's folder", "it does not open")
def k18(_):
    with SystemWorld() as w:
        fill(w)
        hers, his = (w.folder_of(user_id) for user_id in (w.alice, w.bob))
        with w.without_broker():
            os.rename(his, his + ".away")
            shutil.copytree(hers, his)
        for call in (w.of(w.bob).read, w.of(w.bob).search, w.of(w.bob).delete):
            refused("NotAvailable", call, FIND)
        refused("NotAvailable", w.over(w.bob).list_groups)
        same_secret(w.of(w.alice).read(FIND).secret, secret("alice token"))
        with w.without_broker():
            shutil.rmtree(his)
            os.rename(his + ".away", his)
        same_secret(w.of(w.bob).read(FIND).secret, secret("bob token"))


@row("K19", "one user's disk stands still", "the other stores, reads, sets a passcode", "nobody waits for it")
def k19(_):
    with faults.faulty_library() as library, SystemWorld(preload=library) as w:
        fill(w)
        alice, bob = w.of(w.alice), w.of(w.bob)
        pipe = os.path.join(w.folder, "go")
        os.mkfifo(pipe)
        with open(os.path.join(w.folder, "stall"), "w") as file:
            file.write(f"/state/{w.alice}/")
        alice.start("store", TOKEN, secret("slow"))
        bob.store(TOKEN, secret("quick"))
        same_secret(bob.read(FIND).secret, secret("quick"))
        bob.set_passcode(b"", PASSCODE)
        bob.lock()
        w.over(w.bob).unlock(PASSCODE)
        reader = w.of(w.alice, "calendar")
        same_secret(reader.read(FIND).secret, secret("alice token"), "what is not durable yet")
        os.unlink(os.path.join(w.folder, "stall"))
        with open(pipe, "w"):
            alice.finish()
        same_secret(reader.read(FIND).secret, secret("slow"))


@row("K20", "one user's keychain that is made", "its disk stands still meanwhile", "the other is served")
def k20(_):
    with faults.faulty_library() as library, SystemWorld(preload=library) as w:
        alice, bob = w.of(w.alice), w.of(w.bob)
        bob.store(TOKEN, secret("quick"))
        pipe = os.path.join(w.folder, "go")
        os.mkfifo(pipe)
        with open(os.path.join(w.folder, "stall"), "w") as file:
            file.write(f"/state/{w.alice}/")
        alice.start("store", TOKEN, secret("slow"))
        second = w.of(w.alice, "calendar")
        second.start("search", FIND)
        same_secret(bob.read(FIND).secret, secret("quick"))
        os.unlink(os.path.join(w.folder, "stall"))
        with open(pipe, "w"):
            alice.finish()
        holds(len(second.finish()) <= 1, "a call that came meanwhile was answered")
        same_secret(alice.read(FIND).secret, secret("slow"))


@row("K21", "one user guesses, many at a time", "the other and root unlock", "neither waits for the guesses")
def k21(_):
    with SystemWorld() as w:
        with_passcodes(w)
        alice, bob = w.of(w.alice), w.of(w.bob)
        alice.lock()
        bob.lock()
        guessers = [w.puppet("nobody", user=w.alice) for _ in range(9)]
        try:
            for guesser in guessers:
                guesser.start("unlock", b"wrong")
            refused("AuthFailed", first_answer(guessers).finish)
            bob.unlock(passcode("bob"))
            same_secret(bob.read(FIND_DRAFTS).secret, secret("bob drafts"))
            w.over(w.alice).unlock(passcode("alice"))
            same_secret(alice.read(FIND_DRAFTS).secret, secret("alice drafts"))
            # Their pauses add up to a minute.
            waiting = [one for one in guessers if not one.has_answer()]
            holds(len(waiting) > 1, f"guesses still wait for their turn ({len(waiting)})")
            same_secret(bob.read(FIND).secret, secret("bob token"))
        finally:
            for guesser in guessers:
                guesser.kill()


@row("K22", "both, and the first start", "start without the device key", "a new key only where nobody has a store")
def k22(_):
    with SystemWorld() as w:
        fill(w)
        key = os.path.join(w.folder, "device.key")
        equal(os.stat(key).st_mode & 0o777, 0o600)
        with w.without_broker():
            os.rename(key, key + ".away")
        for puppet, _ in each(w):
            refused("NotAvailable", puppet.read, FIND)
            holds("device-key-missing" in puppet.property("Conditions"), "the condition says so")
        holds(not os.path.exists(key), "no new key")
        with w.without_broker():
            os.rename(key + ".away", key)
        for puppet, name in each(w):
            same_secret(puppet.read(FIND).secret, secret(f"{name} token"))


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
            [*w.become(w.bob), sys.executable, script, w.address], stdout=subprocess.PIPE, text=True
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


def run(report):
    """With --system the broker looks at its callers from process 1's side, so the suite gets a process 1 of its own."""
    if os.getpid() != 1:
        return in_own_process_namespace("system_users", report)
    with SystemWorld() as world:
        for one in TABLE.rows:
            report.play(one, lambda one=one: one.play(world))
