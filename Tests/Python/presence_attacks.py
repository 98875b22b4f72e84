"""Attacks on the way from a gated item to the person and back."""

from expect import Table, equal, generic, holds, refused, same_secret, secret
from fake_prompter import FakePrompter
from harness import PASSCODE
from policy import ONE, TWO
from presence_stage import BACKGROUND, gated
from prompt_stage import Thief

TABLE = Table()
row = TABLE.row


@row("PX01", "no open question", "Confirm with the right passcode, with a wrong one", "-25293, in the same words")
def no_question(stage):
    for cookie in (0, 1, 2**64 - 1):
        right = refused("AuthFailed", stage.mail.confirm, cookie, PASSCODE)
        wrong = refused("AuthFailed", stage.mail.confirm, cookie, b"wrong")
        equal(right.text, wrong.text, "what is said of the right one")


@row("PX02", "an open question", "Confirm with guessed cookies", "-25293, and the question stays")
def guessed(stage):
    stage.mail.add(gated("device-passcode"), secret())
    dialog = stage.asks(stage.mail, "read", generic())
    for cookie in (0, 1, 2, 3, 2**63):
        refused("AuthFailed", stage.calendar.confirm, cookie, PASSCODE)
    equal(stage.mail.has_answer(), False, "whether the read is answered")
    dialog.type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())


@row("PX03", "a stolen prompter's name", "Read, and it says that the person agreed", "-128: nothing was confirmed")
def thief(stage):
    stage.mail.add(gated("device-passcode"), secret())
    stage.end_prompter()
    with Thief(stage.world.address) as thief:
        refused("UserCanceled", stage.mail.read, generic(), interactive=True)
        holds(PASSCODE not in repr(thief.heard).encode(), "it was told no passcode")


@row("PX04", "a prompter that guesses", "four wrong passcodes, then the right one", "-25293; the fourth is not tried")
def guessing(stage):
    stage.mail.add(gated("device-passcode"), secret())
    stage.end_prompter()
    with FakePrompter(stage.world.address) as prompter:
        stage.mail.start("read", generic(), interactive=True)
        (cookie, _), _ = prompter.next_call("Ask")
        for _ in range(3):
            refused("AuthFailed", stage.calendar.confirm, cookie, b"wrong")
        refused("AuthFailed", stage.mail.finish)
        refused("AuthFailed", stage.calendar.confirm, cookie, PASSCODE)


@row("PX05", "an answered question", "Confirm again with its cookie", "-25293; the next read asks")
def replayed(stage):
    stage.mail.add(gated("device-passcode"), secret())
    stage.end_prompter()
    with FakePrompter(stage.world.address) as prompter:
        stage.mail.start("read", generic(), interactive=True)
        (cookie, question), _ = prompter.next_call("Ask")
        equal(question["Kind"], ("s", "confirm"), "the kind")
        equal(question["Operation"], ("s", "read"), "the operation")
        stage.calendar.confirm(cookie, PASSCODE)
        same_secret(stage.mail.finish().secret, secret())
        prompter.next_call("Withdraw")
        refused("AuthFailed", stage.calendar.confirm, cookie, PASSCODE)
        stage.mail.start("read", generic(), interactive=True)
        (other, _), message = prompter.next_call("Ask")
        holds(other != cookie, "the next question has another number")
        refused("AuthFailed", stage.calendar.confirm, cookie, PASSCODE)
        prompter.answer(message)
        refused("UserCanceled", stage.mail.finish)


@row("PX06", "a locked keychain and an open question", "Confirm with the right passcode", "still locked")
def unlocks_nothing(stage):
    stage.mail.add(gated("device-passcode", protection=BACKGROUND), secret())
    stage.world.lock()
    stage.asks(stage.mail, "read", generic()).type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())
    equal(stage.world.user.property("State"), "locked", "the state")


@row("PX07", "questions of one connection", "a fifth at the same time", "-25308; the four stay")
def crowd(stage):
    places = [(ONE, "device-passcode"), (TWO, "device-passcode"), (ONE, "user-presence"), (TWO, "user-presence")]
    for number, (group, flag) in enumerate(places):
        stage.mail.add(gated(flag, Account=f"{number}", AccessGroup=group), secret())
    stage.mail.add(gated("biometry-any", "device-passcode", "or", Account="4"), secret())
    stage.end_prompter()
    with FakePrompter(stage.world.address) as prompter:
        stage.mail.start("read_at_once", [generic(Account=f"{number}") for number in range(5)])
        for _ in places:
            _, message = prompter.next_call("Ask")
            prompter.answer(message)
        equal(stage.mail.finish(), ["UserCanceled"] * 4 + ["InteractionNotAllowed"])
    equal(prompter.asked, 4, "the questions")
