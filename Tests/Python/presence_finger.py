"""Items that ask for a finger: fprintd is the test, and the prompter says what the reader waits for."""

import contextlib

from jeepney import DBusAddress, HeaderFields, new_signal

from expect import Table, equal, generic, holds, refused, same_secret, secret
from harness import PASSCODE
from policy import ONE
from presence_stage import gated
from private_bus import PrivateBus
from system_services import WAIT_SECONDS, Service

TABLE = Table()
row = TABLE.row
FPRINT, DEVICE = "net.reactivated.Fprint", "/net/reactivated/Fprint/Device/0"
ERROR = FPRINT + ".Error."


class Reader(Service):
    """fprintd with one reader."""

    def found(self, fingers=("right-index-finger",)):
        """Says that there is a reader, and who is enrolled at it."""
        self.answer(self.next_call("GetDefaultDevice"), "o", (DEVICE,))
        self.lists(fingers)

    def lists(self, fingers):
        listing = self.next_call("ListEnrolledFingers")
        equal(listing.body, ("",), "whose fingers")
        if fingers:
            self.answer(listing, "as", (list(fingers),))
        else:
            self.refuse(listing, ERROR + "NoEnrolledPrints")

    def claimed(self):
        claim = self.next_call("Claim")
        equal(claim.body, ("",), "whose reader")
        self.answer(claim)
        self.started()

    def started(self):
        start = self.next_call("VerifyStart")
        equal(start.body, ("any",), "the finger")
        self.answer(start)

    def says(self, result, done=True, to=DEVICE):
        address = DBusAddress(to, interface=FPRINT + ".Device")
        self.connection.send(new_signal(address, "VerifyStatus", "sb", (result, done)))

    def let_go(self):
        for member in ("VerifyStop", "Release"):
            self.answer(self.next_call(member))


@contextlib.contextmanager
def reader(stage, *flags):
    stage.mail.add(gated(*(flags or ("biometry-any",))), secret())
    with PrivateBus(stage.world.folder, stage.world.system_bus) as bus, Reader(bus.address, FPRINT) as service:
        yield service


def waits(stage, service, program=None):
    """A read that waits for a finger, and the notice that says so."""
    (program or stage.mail).start("read", generic(), interactive=True)
    service.found()
    notice = stage.person.dialog()
    service.claimed()
    return notice


@row("PF01", "a finger item", "Read, the finger matches", "the secret; what for is told; the reader is let go")
def match(stage):
    with reader(stage) as service:
        notice = waits(stage, service)
        shown = notice.text("SETDESC")
        for part in ("org.test.Mail", "wants to read", ONE, "Touch the fingerprint reader"):
            holds(part in shown, f"the notice says {part!r}")
        equal((notice.question, notice.text("SETOK")), ("CONFIRM --one-button", "Cancel"), "the notice")
        service.says("verify-match")
        same_secret(stage.mail.finish().secret, secret())
        service.let_go()
        notice.await_end()


@row("PF02", "a finger item", "Read, the finger is not read well, is another, then matches", "the secret")
def retries(stage):
    with reader(stage) as service:
        notice = waits(stage, service)
        for result in ("retry-scan", "swipe-too-short", "finger-not-centered", "remove-and-retry"):
            service.says("verify-" + result, done=False)
        service.says("verify-no-match")
        service.answer(service.next_call("VerifyStop"))
        service.started()
        service.says("verify-match")
        same_secret(stage.mail.finish().secret, secret())
        service.let_go()
        notice.await_end()


@row("PF03", "a finger item", "Read, three other fingers", "-25293")
def three_others(stage):
    with reader(stage) as service:
        notice = waits(stage, service)
        for attempt in range(3):
            service.says("verify-no-match")
            service.answer(service.next_call("VerifyStop"))
            if attempt < 2:
                service.started()
        equal(refused("AuthFailed", stage.mail.finish).code, -25293)
        service.let_go()
        notice.await_end()


@row("PF04", "a reader that waits", "the person presses Cancel", "-128; the reader is let go")
def cancelled(stage):
    with reader(stage) as service:
        waits(stage, service).press()
        equal(refused("UserCanceled", stage.mail.finish).code, -128)
        service.let_go()


@row("PF05", "a reader that waits", "the program is killed; the keychain is locked", "the notice goes, the reader is let go")
def withdrawn(stage):
    with reader(stage) as service:
        other = stage.world.puppet("mail")
        notice = waits(stage, service, other)
        other.kill()
        notice.await_end()
        service.let_go()
        notice = waits(stage, service)
        stage.world.lock()
        equal(refused("InteractionNotAllowed", stage.mail.finish).code, -25308)
        notice.await_end()
        service.let_go()


@row("PF06", "no reader; nobody enrolled; a reader that somebody has; one that is unplugged", "Read", "-25308, -25293, -25308 twice")
def not_there(stage):
    with reader(stage) as service:
        stage.mail.start("read", generic(), interactive=True)
        service.refuse(service.next_call("GetDefaultDevice"), ERROR + "NoSuchDevice")
        refused("InteractionNotAllowed", stage.mail.finish)
        stage.mail.start("read", generic(), interactive=True)
        service.found(fingers=())
        equal(refused("AuthFailed", stage.mail.finish).code, -25293)
        stage.mail.start("read", generic(), interactive=True)
        service.found()
        notice = stage.person.dialog()
        service.refuse(service.next_call("Claim"), ERROR + "AlreadyInUse")
        refused("InteractionNotAllowed", stage.mail.finish)
        notice.await_end()
        notice = waits(stage, service)
        service.says("verify-disconnected")
        refused("InteractionNotAllowed", stage.mail.finish)
        notice.await_end()
        service.let_go()


@row("PF07", "a reader that waits", "fprintd is gone", "-25308")
def crashed(stage):
    with reader(stage) as service:
        notice = waits(stage, service)
        service.connection.close()
        refused("InteractionNotAllowed", stage.mail.finish)
        notice.await_end()


@row("PF08", "a reader that waits", "another program of the bus says that the finger matched", "nothing; -25293 by the reader's word")
def forged_signal(stage):
    with reader(stage) as service, Reader(stage.world.system_bus) as forger, Reader(
        stage.world.system_bus, FPRINT + ".Forged"
    ) as named:
        notice = waits(stage, service)
        for one in (forger, named):
            one.says("verify-match")
            # The bus has passed it on when it answers what comes after it.
            one.ping()
        service.says("verify-match", to="/net/reactivated/Fprint/Device/1")
        for attempt in range(3):
            service.says("verify-no-match")
            service.answer(service.next_call("VerifyStop"))
            if attempt < 2:
                service.started()
        refused("AuthFailed", stage.mail.finish)
        service.let_go()
        notice.await_end()


@row("PF09", "an item for the passcode or a finger", "Read, nobody is enrolled, the passcode", "the secret")
def either(stage):
    with reader(stage, "biometry-any", "device-passcode", "or") as service:
        stage.mail.start("read", generic(), interactive=True)
        service.found(fingers=())
        stage.person.dialog().type(PASSCODE)
        same_secret(stage.mail.finish().secret, secret())


@row("PF10", "an item for the passcode and a finger", "Read, the finger, the passcode", "both are asked for")
def both(stage):
    with reader(stage, "biometry-any", "device-passcode", "and") as service:
        notice = waits(stage, service)
        service.says("verify-match")
        notice.await_end()
        service.let_go()
        equal(stage.mail.has_answer(), False, "whether the finger is enough")
        stage.person.dialog().type(PASSCODE)
        same_secret(stage.mail.finish().secret, secret())


@row("PF12", "an answered question, the reader not let go", "Read another item", "no claim before it is; the secret")
def next_question(stage):
    with reader(stage) as service:
        waits(stage, service)
        service.says("verify-match")
        stage.mail.finish()
        stage.mail.start("read", generic(), interactive=True)
        stop = service.next_call("VerifyStop")
        service.found()
        stage.person.dialog()
        service.ping()
        holds(service.calls.empty(), "nobody claims it")
        service.answer(stop)
        service.answer(service.next_call("Release"))
        service.claimed()
        service.says("verify-match")
        same_secret(stage.mail.finish().secret, secret())
        service.let_go()


@row("PF11", "no prompter", "Read a finger item", "-25308, and the reader is let go")
def untold(stage):
    with reader(stage) as service, stage.without_prompter():
        stage.mail.start("read", generic(), interactive=True)
        service.found()
        service.answer(service.next_call("Claim"))
        calls = []
        while "Release" not in calls:
            message = service.calls.get(timeout=WAIT_SECONDS)
            calls.append(message.header.fields[HeaderFields.member])
            service.answer(message)
        refused("InteractionNotAllowed", stage.mail.finish)
