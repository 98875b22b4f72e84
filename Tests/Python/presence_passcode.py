"""Items that ask for the device's passcode."""

import signal

from expect import Table, equal, generic, holds, refused, same_secret, secret, without
from harness import PASSCODE
from policy import ONE
from presence_stage import BACKGROUND, gated

TABLE = Table()
row = TABLE.row
WRONG = b"wrong"
SERVICE = without(generic(), "Account")


@row("PA01", "a passcode item", "Read, the right passcode", "the secret; the dialog names program, trust and group")
def right(stage):
    stage.mail.add(gated("device-passcode"), secret())
    dialog = stage.asks(stage.mail, "read", generic())
    shown = dialog.text("SETDESC")
    for part in ("org.test.Mail", "wants to read", ONE, "Nothing proves which program this is", "once"):
        holds(part in shown, f"the dialog says {part!r}")
    dialog.type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())
    dialog.await_end()
    equal(stage.world.user.property("State"), "unlocked", "the state")


@row("PA02", "a passcode item", "Read, the person cancels", "-128")
def cancelled(stage):
    stage.mail.add(gated("device-passcode"), secret())
    stage.asks(stage.mail, "read", generic()).cancel()
    equal(refused("UserCanceled", stage.mail.finish).code, -128)


@row("PA03", "a passcode item", "Read, a wrong passcode, the right one", "asked again with a word on it, the secret")
def wrong_then_right(stage):
    stage.mail.add(gated("device-passcode"), secret())
    dialog = stage.asks(stage.mail, "read", generic())
    dialog.type(WRONG)
    dialog.until_it_asks()
    holds("not the passcode" in dialog.text("SETERROR"), "the dialog says what was wrong")
    dialog.type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())


@row("PA04", "a passcode item", "Read, three wrong passcodes", "-25293; the dialog goes")
def three_wrong(stage):
    stage.mail.add(gated("device-passcode"), secret())
    dialog = stage.asks(stage.mail, "read", generic())
    for attempt in range(3):
        dialog.type(WRONG)
        if attempt < 2:
            dialog.until_it_asks()
    equal(refused("AuthFailed", stage.mail.finish).code, -25293)
    dialog.await_end()


@row("PA05", "a passcode item", "every reading call and Update, interaction allowed", "each asks once, and works")
def each_call(stage):
    _, revision = stage.mail.add(gated("device-passcode"), secret())
    calls = (
        ("read", (generic(),), "wants to read"),
        ("read_all", (generic(),), "wants to read"),
        ("search", (generic(),), "wants to look at"),
        ("begin", (generic(), revision - 1, 0), "wants to read"),
        ("update", (generic(), {"Comment": "c"}), "wants to change"),
    )
    for method, arguments, wish in calls:
        dialog = stage.asks(stage.mail, method, *arguments)
        holds(wish in dialog.text("SETDESC"), f"the dialog of {method} says {wish!r}")
        dialog.type(PASSCODE)
        stage.mail.finish()
        dialog.await_end()
    dialog = stage.asks(stage.mail, "search", generic())
    dialog.type(PASSCODE)
    (found,) = stage.mail.finish()
    equal(found["Comment"], "c", "the comment")


@row("PA06", "a passcode item", "Add, Store, Delete, interaction allowed", "nobody is asked")
def free_calls(stage):
    stage.mail.add(gated("device-passcode"), secret(), interactive=True)
    stage.mail.store(gated("device-passcode"), secret("new"), interactive=True)
    equal(stage.mail.delete(generic(), interactive=True), 1)


@row("PA07", "a passcode item", "each call without interaction", "-25308, and nobody is asked")
def not_allowed(stage):
    stage.mail.add(gated("device-passcode"), secret())
    for call in (stage.mail.read, stage.mail.read_all, stage.mail.search):
        equal(refused("InteractionNotAllowed", call, generic()).code, -25308)
    refused("InteractionNotAllowed", stage.mail.update, generic(), {"Comment": "c"})
    refused("InteractionNotAllowed", stage.mail.begin, generic(), 0, 0)


@row("PA08", "a locked keychain", "Read a passcode item, interaction allowed", "-25308 without a question")
def locked(stage):
    stage.mail.add(gated("device-passcode"), secret())
    stage.world.lock()
    refused("InteractionNotAllowed", stage.mail.read, generic(), interactive=True)


@row("PA09", "a gated item and a locked one", "ReadAll, interaction allowed", "-25308 without a question")
def gated_and_locked(stage):
    stage.mail.add(gated("device-passcode", protection=BACKGROUND), secret())
    stage.mail.add(generic(Account="b"), secret())
    stage.world.lock()
    refused("InteractionNotAllowed", stage.mail.read_all, SERVICE, interactive=True)


@row("PA10", "no passcode", "Read a passcode item, interaction allowed", "-25293 without a question")
def no_passcode(stage):
    stage.mail.add(gated("device-passcode"), secret())
    stage.world.remove_passcode()
    equal(refused("AuthFailed", stage.mail.read, generic(), interactive=True).code, -25293)
    stage.world.set_passcode()


@row("PA11", "two gated items and a plain one", "ReadAll", "one question for all; SkipGated asks nobody")
def one_round(stage):
    stage.mail.add(gated("device-passcode"), secret("a"))
    stage.mail.add(gated("device-passcode", Account="b"), secret("b"))
    stage.mail.add(generic(Account="plain"), secret("plain"))
    stage.asks(stage.mail, "read_all", SERVICE).type(PASSCODE)
    equal([item.secret for item in stage.mail.finish()], [secret("a"), secret("b"), secret("plain")])
    (plain,) = stage.mail.read_all(SERVICE | {"SkipGated": True}, interactive=True)
    same_secret(plain.secret, secret("plain"))


@row("PA12", "a passcode item", "Read of one that is not there", "-25300, and nobody is asked")
def absent(stage):
    stage.mail.add(gated("device-passcode"), secret())
    refused("ItemNotFound", stage.mail.read, generic(Account="nobody"), interactive=True)


@row("PA13", "a dialog for an item", "another program replaces the item, the right passcode", "asked anew for what is there")
def changed_meanwhile(stage):
    stage.mail.add(gated("device-passcode"), secret("old"))
    first = stage.asks(stage.mail, "read", generic())
    stage.calendar.store(gated("device-passcode"), secret("new"))
    first.type(PASSCODE)
    first.await_end()
    second = stage.person.dialog()
    second.type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret("new"))


@row("PA14", "a dialog for an item", "the item is deleted, the right passcode", "-25300")
def deleted_meanwhile(stage):
    stage.mail.add(gated("device-passcode"), secret())
    dialog = stage.asks(stage.mail, "read", generic())
    stage.calendar.delete(generic())
    dialog.type(PASSCODE)
    refused("ItemNotFound", stage.mail.finish)


@row("PA15", "a dialog", "the keychain is locked", "-25308, and the dialog goes")
def locked_meanwhile(stage):
    stage.mail.add(gated("device-passcode", protection=BACKGROUND), secret())
    dialog = stage.asks(stage.mail, "read", generic())
    stage.world.lock()
    refused("InteractionNotAllowed", stage.mail.finish)
    dialog.await_end()


@row("PA16", "a dialog", "the policy takes the group away, the right passcode", "-34018")
def policy_meanwhile(stage):
    stage.mail.add(gated("device-passcode"), secret())
    dialog = stage.asks(stage.mail, "read", generic())
    with stage.without_groups("org.test.Mail"):
        dialog.type(PASSCODE)
        equal(refused("MissingEntitlement", stage.mail.finish).code, -34018)


@row("PA17", "a dialog", "its program is killed", "the dialog goes")
def killed(stage):
    stage.mail.add(gated("device-passcode"), secret())
    other = stage.world.puppet("mail")
    dialog = stage.asks(other, "read", generic())
    other.kill()
    dialog.await_end()


@row("PA18", "a passcode item", "four reads at once on one connection", "one question, four answers")
def at_once(stage):
    stage.mail.add(gated("device-passcode"), secret())
    stage.mail.start("read_at_once", [generic()] * 4)
    stage.person.dialog().type(PASSCODE)
    equal(stage.mail.finish(), [secret().hex()] * 4)


@row("PA19", "two connections of one program (B144)", "both read, one goes", "one question, and it stays for the other")
def two_connections(stage):
    stage.mail.add(gated("device-passcode"), secret())
    other = stage.world.puppet("mail")
    dialog = stage.asks(stage.mail, "read", generic())
    other.begin_read(generic())
    other.kill()
    dialog.type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())


@row("PA20", "two programs", "both read", "two questions, one after the other")
def two_programs(stage):
    stage.mail.add(gated("device-passcode"), secret())
    first = stage.asks(stage.mail, "read", generic())
    stage.calendar.start("read", generic(), interactive=True)
    first.type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())
    second = stage.person.dialog()
    holds("org.test.Calendar" in second.text("SETDESC"), "the second names the other program")
    second.cancel()
    refused("UserCanceled", stage.calendar.finish)


@row("PA21", "ReuseSeconds=300 (S133)", "Read twice", "two questions: the passcode alone serves once")
def no_reuse(stage):
    stage.mail.add(gated("device-passcode"), secret())
    with stage.reuse(300):
        for _ in range(2):
            stage.asks(stage.mail, "read", generic()).type(PASSCODE)
            same_secret(stage.mail.finish().secret, secret())


@row("PA22", "no prompter, and one that cannot show itself", "Read", "-25308")
def nobody_to_ask(stage):
    stage.mail.add(gated("device-passcode"), secret())
    with stage.without_prompter():
        equal(refused("InteractionNotAllowed", stage.mail.read, generic(), interactive=True).code, -25308)
    with stage.without_display():
        refused("InteractionNotAllowed", stage.mail.read, generic(), interactive=True)


@row("PA23", "a dialog", "the prompter is killed", "-25308; the next read asks")
def prompter_killed(stage):
    stage.mail.add(gated("device-passcode"), secret())
    dialog = stage.asks(stage.mail, "read", generic())
    stage.end_prompter(signal.SIGKILL)
    refused("InteractionNotAllowed", stage.mail.finish)
    dialog.await_end()
    stage.asks(stage.mail, "read", generic()).type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())


@row("PA24", "an item for presence and a password", "Read with it, without it", "the question, then the password")
def with_password(stage):
    stage.mail.add(
        gated("device-passcode", "application-password", ApplicationPassword=b"word"), secret()
    )
    stage.asks(stage.mail, "read", generic(ApplicationPassword=b"word")).type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())
    stage.asks(stage.mail, "read", generic()).type(PASSCODE)
    refused("AuthFailed", stage.mail.finish)
    stage.asks(stage.mail, "update", generic(ApplicationPassword=b"word"), {"Comment": "c"}).type(PASSCODE)
    equal(stage.mail.finish(), 1)


@row("PA25", "a key that may be used and not read", "Read, Update, interaction allowed", "-25293 without a question")
def key_use(stage):
    stage.mail.add(gated("device-passcode", "private-key-usage"), secret())
    refused("AuthFailed", stage.mail.read, generic(), interactive=True)
    refused("AuthFailed", stage.mail.update, generic(), {"Comment": "c"}, interactive=True)
    refused("InteractionNotAllowed", stage.mail.read, generic())


@row("PA26", "a presence item (S119)", "Read, right passcode, cancel, three wrong", "0, -128, -25293")
def presence(stage):
    stage.mail.add(gated("user-presence"), secret())
    stage.asks(stage.mail, "read", generic()).type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())
    stage.asks(stage.mail, "read", generic()).cancel()
    equal(refused("UserCanceled", stage.mail.finish).code, -128)
    dialog = stage.asks(stage.mail, "read", generic())
    for attempt in range(3):
        dialog.type(WRONG)
        if attempt < 2:
            dialog.until_it_asks()
    equal(refused("AuthFailed", stage.mail.finish).code, -25293)


@row("PA27", "ReuseSeconds=300 (S132)", "Read twice; another connection; lock and unlock", "asked once for each")
def reuse(stage):
    stage.mail.add(gated("user-presence"), secret())
    with stage.reuse(300):
        stage.asks(stage.mail, "read", generic()).type(PASSCODE)
        same_secret(stage.mail.finish().secret, secret())
        same_secret(stage.mail.read(generic(), interactive=True).secret, secret())
        stage.nothing_asked()
        other = stage.world.puppet("mail")
        stage.asks(other, "read", generic()).cancel()
        refused("UserCanceled", other.finish)
        other.close()
        refused("InteractionNotAllowed", stage.mail.read, generic())
        stage.world.lock()
        stage.world.unlock()
        stage.asks(stage.mail, "read", generic()).cancel()
        refused("UserCanceled", stage.mail.finish)


@row("PA30", "locked, an answered prompt for a background item that serves", "lock once more; Read", "asked anew")
def locked_again(stage):
    stage.mail.add(gated("user-presence", protection=BACKGROUND), secret())
    with stage.reuse(300):
        stage.world.lock()
        stage.asks(stage.mail, "read", generic()).type(PASSCODE)
        stage.mail.finish()
        same_secret(stage.mail.read(generic(), interactive=True).secret, secret())
        stage.nothing_asked()
        stage.world.lock()
        stage.asks(stage.mail, "read", generic()).cancel()
        refused("UserCanceled", stage.mail.finish)
        stage.world.unlock()


@row("PA31", "a person who is asked whether a program may look", "the program reads", "a question of its own")
def looks_then_reads(stage):
    stage.mail.add(gated("device-passcode"), secret())
    other = stage.world.puppet("mail")
    look = stage.asks(stage.mail, "search", generic())
    other.start("read", generic(), interactive=True)
    look.type(PASSCODE)
    equal(len(stage.mail.finish()), 1, "the items that it sees")
    stage.person.dialog().cancel()
    refused("UserCanceled", other.finish)
    other.close()


@row("PA28", "an answered prompt that serves", "a policy that does not let it, and the first again", "asked anew")
def reuse_ends(stage):
    stage.mail.add(gated("user-presence"), secret())
    with stage.reuse(300):
        stage.asks(stage.mail, "read", generic()).type(PASSCODE)
        stage.mail.finish()
        with stage.reuse(0):
            pass
        stage.asks(stage.mail, "read", generic()).cancel()
        refused("UserCanceled", stage.mail.finish)


@row("PA29", "the passcode or a finger, the passcode and a finger, no reader", "Read", "the passcode serves; -25308")
def joined(stage):
    stage.mail.add(gated("biometry-any", "device-passcode", "or"), secret())
    stage.asks(stage.mail, "read", generic()).type(PASSCODE)
    same_secret(stage.mail.finish().secret, secret())
    stage.mail.store(gated("biometry-any", "device-passcode", "and"), secret())
    refused("InteractionNotAllowed", stage.mail.read, generic(), interactive=True)
