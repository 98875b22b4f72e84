"""One broker, several users: one user's trouble is no other's."""

import os
import shutil

import faults
from expect import Table, equal, holds, refused, same_secret, secret
from harness import PASSCODE
from policy import ONE
from puppets import first_answer
from system_keychains import (
    FIND,
    FIND_DRAFTS,
    TOKEN,
    each,
    ends_without,
    fill,
    passcode,
    unlock,
    with_passcodes,
)
from system_world import SystemWorld
from traces import content, files

TABLE = Table()
row = TABLE.row


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
