"""One broker, several users: each one's own session locks each one's own keychain."""

from connection import Connection
from expect import Table, equal
from harness import PASSCODE
from logind_stage import SystemScreens, brokers, forgeries, send

TABLE = Table()
row = TABLE.row


@row("K40", "sessions of two users", "one locks, one leaves; a forger; sleep", "each one's own is shut; nothing; both")
def k40(_):
    with SystemScreens() as w:
        users = (w.alice, w.bob)
        for user in users:
            w.logind.session(str(user), user)
            w.of(user).set_passcode(b"", PASSCODE)

        def states():
            w.logind.barrier()
            return [w.state_of(user) for user in users]

        equal(states(), ["unlocked", "unlocked"])
        w.logind.signal(str(w.alice), "Lock")
        equal(states(), ["locked", "unlocked"])
        w.of(w.alice).unlock(PASSCODE)
        w.logind.remove(str(w.bob))
        equal(states(), ["unlocked", "locked"])
        w.of(w.bob).unlock(PASSCODE)
        forger = Connection(w.address)
        for path, interface, member, signature, body in forgeries(str(w.alice)):
            send(forger, path, interface, member, signature, body, brokers(w)[0])
        forger.ping()
        forger.close()
        equal(states(), ["unlocked", "unlocked"])
        w.logind.sleep(True)
        w.logind.await_released()
        equal(states(), ["locked", "locked"])
        for user, causes in ((w.alice, ("session-lock", "sleep")), (w.bob, ("session-end", "sleep"))):
            for cause in causes:
                equal(w.log().count(f"user {user}: locked by {cause}\n"), 1)


@row("K41", "UnlockWithSession=yes", "both are locked; one's session unlocks", "that user's alone opens")
def k41(_):
    with SystemScreens(configuration="[Broker]\nUnlockWithSession=yes\n") as w:
        users = (w.alice, w.bob)
        for user in users:
            w.logind.session(str(user), user)
            w.of(user).set_passcode(b"", PASSCODE)
            w.logind.signal(str(user), "Lock")
        w.logind.barrier()
        equal([w.state_of(user) for user in users], ["locked", "locked"])
        w.logind.signal(str(w.bob), "Unlock")
        w.logind.barrier()
        equal([w.state_of(user) for user in users], ["locked", "unlocked"])
