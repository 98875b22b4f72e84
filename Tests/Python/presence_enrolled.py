"""Items that are bound to the fingers which are enrolled when they are stored; fprintd is the test."""

import contextlib
import os
import time

import faults
from expect import Table, equal, generic, holds, refused, same_secret, secret, without
from harness import PASSCODE, World
from presence_finger import DEVICE, ERROR, FPRINT, Reader
from presence_stage import PresenceStage, gated
from private_bus import PrivateBus
from system_services import WAIT_SECONDS

TABLE = Table()
row = TABLE.row
READER, THUMB, INDEX = "Reader of the test", "left-thumb", "right-index-finger"
FLAG = "biometry-current-set"
BOTH = (THUMB, INDEX)


class NamedReader(Reader):
    """fprintd with one reader, which is asked for its name and for what is enrolled."""

    def enrolled(self, *fingers, name=READER):
        self.answer(self.next_call("GetDefaultDevice"), "o", (DEVICE,))
        self.lists_with_name(fingers, name)

    def lists_with_name(self, fingers, name=READER):
        get = self.next_call("Get")
        equal(get.body, (FPRINT + ".Device", "name"), "what of the reader")
        self.answer(get, "v", (("s", name),))
        self.lists(fingers)

    def claimed_with(self, *fingers):
        """The reader is claimed, and what is enrolled is looked at again, now that nobody can change it."""
        self.answer(self.next_call("Claim"))
        self.lists_with_name(fingers)
        self.started()


@contextlib.contextmanager
def reader(stage):
    with PrivateBus(stage.world.folder, stage.world.system_bus) as bus, NamedReader(bus.address, FPRINT) as service:
        yield service


@contextlib.contextmanager
def bound(stage, *flags):
    """An item that is bound to both fingers."""
    with reader(stage) as service:
        put(stage, service, *flags)
        yield service


def put(stage, service, *flags, fingers=BOTH, method="add", text=None, **attributes):
    stage.mail.start(method, gated(FLAG, *flags, **attributes), text or secret())
    service.enrolled(*fingers)
    return stage.mail.finish()


def opens(stage, service, fingers=BOTH, text=None):
    """A read with a finger, which gives the secret."""
    stage.mail.start("read", generic(), interactive=True)
    service.enrolled(*fingers)
    notice = stage.person.dialog()
    service.claimed_with(*fingers)
    service.says("verify-match")
    same_secret(stage.mail.finish().secret, text or secret())
    service.let_go()
    notice.await_end()


def closes(stage, service, *fingers):
    """A read that finds others enrolled: it is refused, and nobody is asked."""
    stage.mail.start("read", generic(), interactive=True)
    service.enrolled(*fingers)
    equal(refused("AuthFailed", stage.mail.finish).code, -25293)
    stage.nothing_asked()


def is_closed(stage):
    """Refused whoever is enrolled: neither the reader nor the person is asked, also by a call that may ask."""
    for interactive in (True, False):
        equal(refused("AuthFailed", stage.mail.read, generic(), interactive=interactive).code, -25293)
    stage.nothing_asked()


@row("PE01", "two fingers enrolled", "Add, Read in another order of theirs", "stored and nobody asked; the secret")
def match(stage):
    with bound(stage) as service:
        stage.nothing_asked()
        opens(stage, service, (INDEX, THUMB))
        equal(refused("InteractionNotAllowed", stage.mail.read, generic()).code, -25308)
        holds(service.calls.empty(), "a call that may not ask does not ask the reader")


@row("PE02", "no system bus; no reader; nobody enrolled; a reader that does not tell", "Add, Store", "-25308 but for nobody: -25293; nothing stored")
def unbound(stage):
    for method in ("add", "store"):
        call = getattr(stage.mail, method)
        equal(refused("InteractionNotAllowed", call, gated(FLAG), secret()).code, -25308)
        with reader(stage) as service:
            stage.mail.start(method, gated(FLAG), secret())
            service.refuse(service.next_call("GetDefaultDevice"), ERROR + "NoSuchDevice")
            equal(refused("InteractionNotAllowed", stage.mail.finish).code, -25308)
            stage.mail.start(method, gated(FLAG), secret())
            service.enrolled()
            nobody = refused("AuthFailed", stage.mail.finish)
            equal(nobody.code, -25293)
            holds("none is; enrol one" in nobody.text, f"it says what to do: {nobody.text}")
            stage.mail.start(method, gated(FLAG), secret())
            service.answer(service.next_call("GetDefaultDevice"), "o", (DEVICE,))
            service.answer(service.next_call("Get"), "v", (("s", READER),))
            service.refuse(service.next_call("ListEnrolledFingers"), ERROR + "PermissionDenied")
            equal(refused("InteractionNotAllowed", stage.mail.finish).code, -25308)
    equal(stage.mail.search(without(generic(), "Account")), [])


@row("PE03", "what cannot be stored anyway", "Add", "its own error, and the reader is not asked")
def other_errors(stage):
    with bound(stage) as service:
        equal(refused("DuplicateItem", stage.mail.add, gated(FLAG), secret()).code, -25299)
        refused("MissingEntitlement", stage.world.stranger.add, gated(FLAG, AccessGroup="org.test.one"), secret())
        holds(service.calls.empty(), "the reader is not asked")


@row("PE04", "an item; a finger enrolled more, one less, another, none", "Read; Read with the first enrolled again, after a restart too", "-25293 for good; biometry-any reads; Delete deletes")
def changed(stage):
    for others in ((*BOTH, "left-index-finger"), (THUMB,), (THUMB, "left-index-finger"), ()):
        with bound(stage) as service:
            stage.mail.add(gated("biometry-any", Account="any"), secret("any"))
            closes(stage, service, *others)
            is_closed(stage)
            stage.restart_broker()
            stage.world.unlock()
            is_closed(stage)
            equal(refused("AuthFailed", stage.mail.update, generic(), {"Label": "l"}, interactive=True).code, -25293)
            refused("AuthFailed", stage.mail.search, generic(), interactive=True)
            equal(stage.mail.search(without(generic(), "Account") | {"SkipGated": True}), [])
            stage.mail.start("read", generic(Account="any"), interactive=True)
            service.found(others or ("left-index-finger",))
            notice = stage.person.dialog()
            service.claimed()
            service.says("verify-match")
            same_secret(stage.mail.finish().secret, secret("any"))
            service.let_go()
            notice.await_end()
            equal(stage.mail.delete(without(generic(), "Account")), 2)


@row("PE05", "an item, a reader that waits for its turn", "another finger is enrolled before it is claimed", "-25293 for good, the reader let go, no finger taken")
def changed_meanwhile(stage):
    with bound(stage) as service:
        stage.mail.start("read", generic(), interactive=True)
        service.enrolled(*BOTH)
        notice = stage.person.dialog()
        service.answer(service.next_call("Claim"))
        service.lists_with_name((*BOTH, "left-index-finger"))
        equal(refused("AuthFailed", stage.mail.finish).code, -25293)
        service.let_go()
        notice.await_end()
        is_closed(stage)


@row("PE06", "an item", "Read while another reader is the machine's, with the same fingers, with none", "-25308; with the first again: the secret")
def another_reader(stage):
    with bound(stage) as service:
        for fingers in (BOTH, ()):
            stage.mail.start("read", generic(), interactive=True)
            service.enrolled(*fingers, name="Another make")
            equal(refused("InteractionNotAllowed", stage.mail.finish).code, -25308)
        opens(stage, service)


@row("PE07", "an item", "Update with the finger, enrol another, Update", "the new secret, under the first set; -25293 for good")
def update(stage):
    with bound(stage) as service:
        stage.mail.start("update", generic(), {}, secret("new"), interactive=True)
        service.enrolled(*BOTH)
        notice = stage.person.dialog()
        service.claimed_with(*BOTH)
        service.says("verify-match")
        equal(stage.mail.finish(), 1)
        service.let_go()
        notice.await_end()
        opens(stage, service, text=secret("new"))
        stage.mail.start("update", generic(), {}, secret("newer"), interactive=True)
        service.enrolled(THUMB)
        equal(refused("AuthFailed", stage.mail.finish).code, -25293)
        is_closed(stage)


@row("PE08", "a closed item", "Store a secret over it, with and without the access control", "bound to what is enrolled then; the new secret")
def stored_anew(stage):
    for attributes in (gated(FLAG), generic()):
        with bound(stage) as service:
            closes(stage, service, THUMB)
            stage.mail.start("store", attributes, secret("new"))
            service.enrolled(THUMB)
            equal(stage.mail.finish()[2], False, "whether it was made")
            opens(stage, service, (THUMB,), secret("new"))
            closes(stage, service, *BOTH)
            stage.mail.delete(generic())


@row("PE09", "an item for the fingers or the passcode", "Read when others are enrolled, and again when they are not", "the passcode serves, the fingers never again")
def or_passcode(stage):
    with bound(stage, "device-passcode", "or") as service:
        for fingers in ((THUMB,), None):
            stage.mail.start("read", generic(), interactive=True)
            if fingers:
                service.enrolled(*fingers)
            stage.person.dialog().type(PASSCODE)
            same_secret(stage.mail.finish().secret, secret())
            stage.nothing_asked()
        holds(service.calls.empty(), "the reader is not asked again")


@row("PE10", "an item for the fingers and the passcode", "Read when others are enrolled", "-25293 for good, and no passcode is asked for")
def and_passcode(stage):
    with bound(stage, "device-passcode", "and") as service:
        closes(stage, service, THUMB)
        is_closed(stage)


@row("PE11", "one answer serves for five minutes, by the policy", "Read, enrol another finger, Read", "-25293: what is enrolled is looked at each time")
def no_reuse(stage):
    with bound(stage) as service, stage.reuse(300):
        opens(stage, service)
        closes(stage, service, THUMB)


@row("PE12", "two items, of the fingers then and now", "ReadAll", "-25293; the one closed, the other whole")
def two_sets(stage):
    with bound(stage) as service:
        put(stage, service, fingers=(THUMB,), Account="now")
        stage.mail.start("read_all", without(generic(), "Account"), interactive=True)
        service.enrolled(THUMB)
        equal(refused("AuthFailed", stage.mail.finish).code, -25293)
        stage.nothing_asked()
        equal(stage.mail.delete(generic()), 1)
        stage.mail.start("read", generic(Account="now"), interactive=True)
        service.enrolled(THUMB)
        stage.person.dialog().press()
        service.answer(service.next_call("Claim"))
        equal(refused("UserCanceled", stage.mail.finish).code, -128)


@row("PE13", "a keychain that is locked while the reader tells of others", "Read; unlock, Read with the first", "-25308; the secret: who was told nothing lost nothing")
def locked(stage):
    with bound(stage) as service:
        stage.mail.start("read", generic(), interactive=True)
        service.answer(service.next_call("GetDefaultDevice"), "o", (DEVICE,))
        service.answer(service.next_call("Get"), "v", (("s", READER),))
        listing = service.next_call("ListEnrolledFingers")
        stage.world.lock()
        service.answer(listing, "as", ([THUMB],))
        equal(refused("InteractionNotAllowed", stage.mail.finish).code, -25308)
        stage.world.unlock()
        opens(stage, service)


# Between what is seen and what is told


@contextlib.contextmanager
def faulty():
    with faults.faulty_library() as library, World(preload=library) as world:
        stage = PresenceStage(world)
        try:
            with bound(stage) as service:
                yield stage, service
        finally:
            stage.close()


@row("PE14", "a reader that tells of others", "the broker is killed before it hears; before the mark is durable; after the refusal", "the secret; no answer, and -25293; -25293")
def killed(_):
    with faulty() as (stage, service):
        with killed_while_it_reads(stage):
            call = service.next_call("GetDefaultDevice")
        service.refuse(call, ERROR + "NoSuchDevice")
        opens(stage, service)
        os.mkfifo(os.path.join(stage.world.folder, "go"))
        with killed_while_it_reads(stage), faults.fault(stage.world, "stall", "keychain.db-wal"):
            written = written_at(stage)
            service.enrolled(THUMB)
            deadline = time.monotonic() + WAIT_SECONDS
            while written_at(stage) == written:
                holds(time.monotonic() < deadline, "the mark is written")
                time.sleep(0.01)
        is_closed(stage)
        equal(stage.world.damaged_rows(), 0)
        stage.mail.delete(generic())
        put(stage, service)
        closes(stage, service, THUMB)
        stage.world.kill()
        start(stage)
        is_closed(stage)


@contextlib.contextmanager
def killed_while_it_reads(stage):
    """A read that nobody is answered, and another broker after it."""
    reading = stage.world.puppet("mail")
    reading.start("read", generic(), interactive=True)
    yield
    equal(reading.has_answer(), False, "whether the read is answered")
    stage.world.kill()
    reading.kill()
    start(stage)


def start(stage):
    stage.world.start()
    stage.world.unlock()


def written_at(stage):
    return os.stat(os.path.join(stage.world.state, "keychain.db-wal")).st_mtime_ns


@row("PE15", "a disk that takes nothing, a reader that tells of others", "Read; the first enrolled again, Read", "the disk's error, never the secret; then the secret, since it is not closed")
def full(_):
    with faulty() as (stage, service):
        with faults.fault(stage.world, "write"):
            stage.mail.start("read", generic(), interactive=True)
            service.enrolled(THUMB)
            equal(refused("IO", stage.mail.finish).code, -36)
        opens(stage, service)
