"""The lock state: locked is never taken for absent, and nothing that a locked call does is lost or left."""

from expect import Table, by_reference, equal, generic, holds, internet, refused, same_secret, secret
from policy import ONE
from traces import files

TABLE = Table()
row = TABLE.row
BACKGROUND = generic(Service="b", Accessible="after-first-unlock")
FOREGROUND = generic(Service="f", Accessible="when-unlocked")
KEYS = ("Class", "Service", "Account")
LOCKED = "InteractionNotAllowed"


def query(attributes):
    return {key: attributes[key] for key in KEYS}


def both(w):
    """An item of each kind; their references."""
    return [w.mail.add(given, secret(given["Service"]))[0] for given in (BACKGROUND, FOREGROUND)]


@row("B053", "an item, locked", "Read it, write another", "-25308 with a text; never ItemNotFound")
def b053(w):
    both(w)
    w.lock()
    for refusal in (
        refused(LOCKED, w.mail.read, query(FOREGROUND)),
        refused(LOCKED, w.mail.search, query(FOREGROUND)),
        refused(LOCKED, w.mail.add, generic(), secret()),
        refused(LOCKED, w.mail.store, FOREGROUND, secret("new")),
        refused(LOCKED, w.mail.update, query(FOREGROUND), {"Comment": "c"}),
    ):
        equal(refusal.code, -25308)
        holds("lock" in refusal.text, f"the text says what is the matter ({refusal.text})")
    refused("ItemNotFound", w.mail.read, generic(Service="absent"))


@row("B054", "a start with a passcode", "read, delete, subscribe; unlock", "-25308 until a signal says so")
def b054(w):
    both(w)
    w.restart()
    for given in (BACKGROUND, FOREGROUND, generic(Service="absent")):
        for call in (w.mail.read, w.mail.search, w.mail.delete, w.helper.read):
            refused(LOCKED, call, query(given))
    state, _, _ = w.helper.subscribe()
    equal((state, w.user.property("ProtectedDataAvailable")), ("before-first-unlock", False))
    w.unlock()
    equal(w.helper.next_signal().arguments[1:], ("unlocked", True))
    for given in (BACKGROUND, FOREGROUND):
        same_secret(w.mail.read(query(given)).secret, secret(given["Service"]))


@row("B055", "unlocked once and locked", "read both kinds; restart; read", "the background one; none")
def b055(w):
    both(w)
    w.lock()
    same_secret(w.helper.read(query(BACKGROUND)).secret, secret("b"))
    refused(LOCKED, w.mail.read, query(FOREGROUND))
    w.restart()
    for given in (BACKGROUND, FOREGROUND):
        refused(LOCKED, w.mail.read, query(given))


@row(
    "B056", "a locked credential", "fill fails; unlock", "there as it was: a locked read is no bad credential"
)
def b056(w):
    host = internet(Server="h", Protocol="https", Account="alice")
    _, revision = w.mail.add(host, secret())
    w.lock()
    equal(refused(LOCKED, w.mail.read, host).code, -25308)
    # A client that would erase what it could not fill can ask for the revision that it knows.
    refused("RevisionMismatch", w.mail.delete, host | {"IfRevision": revision + 1})
    w.unlock()
    found = w.mail.read(host)
    same_secret(found.secret, secret())
    equal(found.attributes["Revision"], revision)


@row("B059", "items", "lock, unlock and look up, three rounds", "the same references and values")
def b059(w):
    references = both(w)
    for _ in range(3):
        w.lock()
        refused(LOCKED, w.mail.read, query(FOREGROUND))
        w.unlock()
        for reference, given in zip(references, (BACKGROUND, FOREGROUND)):
            found = w.mail.read(query(given))
            same_secret(found.secret, secret(given["Service"]))
            equal(found.attributes["Reference"], reference)


@row("B060", "two labels, restarted", "list them; unlock; list them", "-25308; the labels: never blanks")
def b060(w):
    for label in ("one", "two"):
        w.mail.add(generic(Account=label, Label=label), secret())
    w.restart()
    refused(LOCKED, w.mail.search, {"Class": "generic-password"})
    w.unlock()
    equal([found["Label"] for found in w.mail.search({"Class": "generic-password"})], ["one", "two"])
    w.lock()
    refused(LOCKED, w.mail.search, {"Class": "generic-password"})


@row("B063", "references", "lock, unlock, a new passcode, restart", "they stay, with their secrets")
def b063(w):
    references = both(w)

    def look():
        for reference, given in zip(references, (BACKGROUND, FOREGROUND)):
            same_secret(w.mail.read(by_reference(reference)).secret, secret(given["Service"]))

    w.lock()
    w.unlock()
    look()
    old = w.passcode
    w.set_passcode(b"another passcode")
    look()
    w.lock()
    refused("AuthFailed", w.user.unlock, old)
    w.unlock()
    look()
    w.restart()
    w.unlock()
    look()
    w.set_passcode(old)


@row("B066", "locked", "ten programs unlock at once, two of them wrongly", "each is answered, none hangs")
def b066(w):
    w.lock()
    puppets = [w.puppet("nobody") for _ in range(10)]
    try:
        for number, puppet in enumerate(puppets):
            puppet.start("unlock", b"wrong" if number in (3, 6) else w.passcode)
        for number, puppet in enumerate(puppets):
            if number in (3, 6):
                refused("AuthFailed", puppet.finish)
            else:
                puppet.finish()
        equal(w.user.property("State"), "unlocked")
    finally:
        for puppet in puppets:
            puppet.close()


@row(
    "B069",
    "a start without any passcode at hand",
    "look at the state and the files",
    "readable; no new store",
)
def b069(w):
    both(w)
    w.stop()
    before = set(files(w.state))
    w.start()
    equal(w.user.property("State"), "before-first-unlock")
    equal((w.user.property("PasscodeSet"), w.user.property("ProtectedDataAvailable")), (True, False))
    refused(LOCKED, w.helper.read, query(BACKGROUND))
    main = {name for name in files(w.state) if not name.endswith(("-wal", "-shm"))}
    equal(main, {name for name in before if not name.endswith(("-wal", "-shm"))}, "the files of the store")
    w.unlock()
    same_secret(w.helper.read(query(BACKGROUND)).secret, secret("b"))


@row("B130", "items of a service, subscribers", "Logout; add the same again; look", "gone, counted; all new")
def b130(w):
    for given in (BACKGROUND, FOREGROUND, generic(Service="f", Account="b", Accessible="after-first-unlock")):
        w.mail.add(given, secret("old"))
    w.mail.add(internet(Server="f"), secret("old"))
    w.mail.add(generic(Service="f", Account="s", Synchronizable=True), secret("old"))
    w.mail.add(generic(Service="ff"), secret("other"))
    deleted, epoch = w.mail.logout(ONE, "f", "account removed")
    equal(deleted, 4)
    for given in (
        {"Class": "generic-password", "Service": "f", "Synchronizable": "any"},
        internet(Server="f"),
    ):
        equal(w.mail.search(given), [])
    equal(w.mail.add(FOREGROUND, secret("new"))[0] != "", True)
    same_secret(w.mail.read(query(FOREGROUND)).secret, secret("new"))
    equal(w.mail.logout(ONE, "nothing of this name", ""), (0, epoch), "a logout of nothing")
    same_secret(w.mail.read(generic(Service="ff")).secret, secret("other"))


@row("B131", "five items of a service, locked", "Logout", "all five are gone, one signal for them")
def b131(w):
    for number in range(5):
        accessible = "when-unlocked" if number % 2 else "after-first-unlock"
        w.mail.add(generic(Account=str(number), Accessible=accessible), secret(str(number)))
    w.calendar.subscribe(ONE)
    w.lock()
    equal(w.calendar.next_signal().name, "LockStateChanged")
    deleted, epoch = w.mail.logout(ONE, "s", "signed out")
    equal(deleted, 5)
    signal = w.calendar.next_signal()
    equal((signal.name, signal.arguments[1:]), ("LoggedOut", (ONE, "s", epoch, "signed out")))
    equal(w.calendar.pending_signals(), [], "what else came")
    w.unlock()
    equal(w.mail.search(generic(Service="s", Account="1")), [])


@row("B155", "no display, locked", "a native read and store", "-25308 at once, the text says how to unlock")
def b155(w):
    both(w)
    w.restart()
    for error in (
        refused(LOCKED, w.mail.read, query(BACKGROUND), interactive=True),
        refused(LOCKED, w.mail.store, BACKGROUND, secret("new"), interactive=True),
    ):
        holds("unlock" in error.text, f"the text names a way out ({error.text})")
    w.unlock()
    w.lock()
    holds("unlock" in refused(LOCKED, w.mail.read, query(FOREGROUND), interactive=True).text, "so does this")


@row("B157", "no display, unlocked", "a native read and store", "they work: nobody has to be asked")
def b157(w):
    both(w)
    w.mail.store(FOREGROUND, secret("new"), interactive=True)
    same_secret(w.mail.read(query(FOREGROUND), interactive=True).secret, secret("new"))


@row("B174", "a when-unlocked item", "look for it without its class; change that in place", "found; one step")
def b174(w):
    reference, _ = w.mail.add(generic(Accessible="when-unlocked"), secret())
    same_secret(w.mail.read(generic()).secret, secret())
    refused("ItemNotFound", w.mail.read, generic(Accessible="after-first-unlock"))
    equal(w.mail.update(generic(), {"Accessible": "after-first-unlock"}), 1)
    found = w.mail.read(generic(Accessible="after-first-unlock"))
    same_secret(found.secret, secret())
    equal(found.attributes["Reference"], reference)


@row("B175", "a program that was renamed", "MoveItems", "the new name has all; anybody else is AccessDenied")
def b175(w):
    references = both(w)
    refused("AccessDenied", w.mail.move_items, ONE, "org.test.foreign")
    refused("ItemNotFound", w.stranger.update, query(BACKGROUND), {"Comment": "c"})
    refused("ItemNotFound", w.stranger.delete, query(BACKGROUND))
    equal(w.admin.move_items(ONE, "org.test.foreign"), 2)
    for reference, given in zip(references, (BACKGROUND, FOREGROUND)):
        found = w.stranger.read(query(given))
        same_secret(found.secret, secret(given["Service"]))
        equal(found.attributes["Reference"], reference)
        refused("ItemNotFound", w.mail.read, query(given))
