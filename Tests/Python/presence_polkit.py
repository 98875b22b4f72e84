"""Items that ask for the person's presence where there is no passcode: polkit is asked, and the prompter says what for."""

import contextlib
import os

from expect import Table, equal, generic, holds, refused, same_secret, secret
from policy import ONE
from presence_stage import gated
from private_bus import PrivateBus
from system_services import Polkit

TABLE = Table()
row = TABLE.row
ACTION = "org.chatelaine.present"


@contextlib.contextmanager
def polkit(stage, name="org.freedesktop.PolicyKit1"):
    """A presence item of a keychain without a passcode, and a polkit."""
    stage.mail.add(gated("user-presence"), secret())
    stage.world.remove_passcode()
    with PrivateBus(stage.world.folder, stage.world.system_bus) as bus, Polkit(bus.address, name) as service:
        yield service
    stage.world.set_passcode()


@row("PK01", "a presence item, no passcode", "Read, polkit says yes", "the secret; what for is told, and goes")
def yes(stage):
    with polkit(stage) as service:
        notice = stage.asks(stage.mail, "read", generic())
        shown = notice.text("SETDESC")
        for part in ("org.test.Mail", "wants to read", ONE, "asks for your password"):
            holds(part in shown, f"the notice says {part!r}")
        equal((notice.question, notice.text("SETOK")), ("CONFIRM --one-button", "Cancel"), "the notice")
        holds("OPTION no-grab" in notice.told, "the notice leaves the keys to polkit's window")
        question = service.asked()
        (kind, subject), action, details, flags, _ = question.body
        equal((kind, action, details, flags), ("unix-process", ACTION, {}, 1), "the question")
        equal(subject["pid"][1], stage.mail.process.pid, "the process")
        equal(subject["uid"][1], os.getuid(), "the user")
        service.say(question, authorized=True)
        same_secret(stage.mail.finish().secret, secret())
        notice.await_end()


@row("PK02", "a presence item", "Read; polkit: no, dismissed, nobody to ask, an error", "-25293, -128, -25308, -25308")
def other_answers(stage):
    cases = (
        ("AuthFailed", lambda service, question: service.say(question)),
        ("UserCanceled", lambda service, question: service.say(question, dismissed="true")),
        ("InteractionNotAllowed", lambda service, question: service.say(question, challenge=True)),
        (
            "InteractionNotAllowed",
            lambda service, question: service.refuse(question, "org.freedesktop.PolicyKit1.Error.Failed"),
        ),
    )
    with polkit(stage) as service:
        for name, answer in cases:
            notice = stage.asks(stage.mail, "read", generic())
            answer(service, service.asked())
            refused(name, stage.mail.finish)
            notice.await_end()


@row("PK03", "polkit asks", "the person presses Cancel on what says why", "-128, and polkit's question is taken back")
def cancelled(stage):
    with polkit(stage) as service:
        notice = stage.asks(stage.mail, "read", generic())
        question = service.asked()
        notice.press()
        refused("UserCanceled", stage.mail.finish)
        equal(service.next_call("CancelCheckAuthorization").body, (question.body[4],), "what is taken back")


@row("PK04", "polkit asks", "the program is killed", "both go")
def killed(stage):
    with polkit(stage) as service:
        other = stage.world.puppet("mail")
        notice = stage.asks(other, "read", generic())
        question = service.asked()
        other.kill()
        notice.await_end()
        equal(service.next_call("CancelCheckAuthorization").body, (question.body[4],), "what is taken back")


@row("PK05", "no prompter", "Read a presence item", "-25308: nobody is asked without being told what for")
def untold(stage):
    with polkit(stage) as service, stage.without_prompter():
        refused("InteractionNotAllowed", stage.mail.read, generic(), interactive=True)
        # It may have been asked before it was known that nobody can be told.
        question = service.asked()
        equal(service.next_call("CancelCheckAuthorization").body, (question.body[4],), "what is taken back")


@row("PK06", "no system bus", "Read a presence item", "-25308")
def no_bus(stage):
    stage.mail.add(gated("user-presence"), secret())
    stage.world.remove_passcode()
    refused("InteractionNotAllowed", stage.mail.read, generic(), interactive=True)
    stage.world.set_passcode()


@row("PK07", "a user's own bus in the broker's environment, whose polkit says yes", "Read", "-25308: it is not asked")
def forged_bus(stage):
    stage.mail.add(gated("user-presence"), secret())
    stage.world.remove_passcode()
    address = f"unix:path={stage.world.folder}/forged-bus"
    with PrivateBus(stage.world.folder, address), Polkit(address) as forger:
        stage.world.stop()
        stage.world.process = stage.world.launch(DBUS_SYSTEM_BUS_ADDRESS=address)
        stage.world.await_owner(True)
        refused("InteractionNotAllowed", stage.mail.read, generic(), interactive=True)
        equal(forger.calls.empty(), True, "whether the forger was asked nothing")
    stage.world.restart()
    stage.world.set_passcode()


@row("PK08", "polkit asks for one program", "another one's read", "polkit is asked for it when what says so can be seen")
def in_turn(stage):
    with polkit(stage) as service:
        first = stage.asks(stage.mail, "read", generic())
        question = service.asked()
        stage.calendar.begin_read(generic())
        equal(service.calls.empty(), True, "whether polkit has one question")
        stage.nothing_asked()
        service.say(question)
        refused("AuthFailed", stage.mail.finish)
        first.await_end()
        second = stage.person.dialog()
        holds("org.test.Calendar" in second.text("SETDESC"), "the next notice names the next program")
        question = service.asked()
        equal(question.body[0][1]["pid"][1], stage.calendar.process.pid, "the process")
        service.say(question)
        second.await_end()
