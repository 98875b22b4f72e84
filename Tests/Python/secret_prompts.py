"""Prompts of the Secret Service: the real prompter between the broker and a person, whose pinentry the test plays."""

import os
import signal
from xml.etree import ElementTree

from expect import NotHere, Table, equal, holds, refused
from harness import PASSCODE, REPOSITORY, World
from monitor import Monitor
from prompt_stage import (
    CURSES,
    LOGIN,
    PROMPT,
    PROMPTER,
    PROMPTER_PATH,
    ROOT,
    SERVICE,
    SESSION,
    Stage,
    Terminal,
    Thief,
)
from puppets import copy_interpreter

TABLE = Table()
row = TABLE.row
# The last is what the bus library says where it finds no object.
GONE = ("org.freedesktop.Secret.Error.NoSuchObject", "org.freedesktop.DBus.Error.UnknownMethod")
LOCKED = "org.freedesktop.Secret.Error.IsLocked"
DENIED = "org.freedesktop.DBus.Error.AccessDenied"
WRONG = b"wrong"


@row("SP01", "a closed collection", "prompt, the passcode", "the program named, the property before Completed")
def right(stage, mail, calendar):
    prompt = stage.ask(mail, window="x11:1a")
    dialog = stage.person.dialog()
    shown = dialog.text("SETDESC")
    holds("org.test.Mail" in shown, "the dialog names the program")
    holds("Nothing proves which program this is" in shown, "the dialog says what the name is worth")
    holds("OPTION parent-wid=26" in dialog.told, "the dialog belongs to the window")
    dialog.type(PASSCODE)
    before = stage.completed(mail, prompt, opens=True)
    changes = [body for path, name, body in before if name == "PropertiesChanged" and path == LOGIN]
    holds(any(body[1].get("Locked") == ("b", False) for body in changes), "Locked changed before")
    refused(GONE, mail.secret_service, prompt, PROMPT, "Dismiss")
    dialog.await_end()
    stage.nothing_more(mail)


@row("SP02", "a closed collection", "a wrong passcode, the right one", "asked again with a word on it, then open")
def wrong_then_right(stage, mail, calendar):
    prompt = stage.ask(mail)
    dialog = stage.person.dialog()
    equal(dialog.text("SETERROR"), None, "the first word")
    dialog.type(WRONG)
    dialog.until_it_asks()
    holds("not the passcode" in dialog.text("SETERROR"), "the dialog says what was wrong")
    dialog.type(PASSCODE)
    stage.completed(mail, prompt, opens=True)
    stage.nothing_more(mail)


@row("SP03", "a closed collection", "three wrong passcodes", "dismissed, once; closed as before")
def three_wrong(stage, mail, calendar):
    prompt = stage.ask(mail)
    dialog = stage.person.dialog()
    for attempt in range(3):
        dialog.type(WRONG)
        if attempt < 2:
            dialog.until_it_asks()
    stage.completed(mail, prompt, opens=False)
    dialog.await_end()
    stage.nothing_more(mail)


@row("SP04", "a dialog", "the person cancels", "dismissed")
def cancelled(stage, mail, calendar):
    prompt = stage.ask(mail)
    stage.person.dialog().cancel()
    stage.completed(mail, prompt, opens=False)
    refused(GONE, mail.secret_service, prompt, PROMPT, "Prompt", "s", ("",))
    stage.nothing_more(mail)


@row("SP05", "a dialog", "the program dismisses", "the dialog goes")
def dismissed(stage, mail, calendar):
    prompt = stage.ask(mail)
    dialog = stage.person.dialog()
    mail.secret_service(prompt, PROMPT, "Dismiss")
    stage.completed(mail, prompt, opens=False)
    dialog.await_end()
    stage.nothing_more(mail)


@row("SP06", "a prompt that was not performed", "the program dismisses", "no dialog; one end")
def dismissed_before(stage, mail, calendar):
    prompt = stage.prompt(mail)
    mail.secret_service(prompt, PROMPT, "Dismiss")
    stage.completed(mail, prompt, opens=False)
    refused(GONE, mail.secret_service, prompt, PROMPT, "Dismiss")
    stage.nothing_more(mail)


@row("SP07", "a dialog, another program waits behind", "the first is killed", "its dialog goes, the other's comes")
def client_killed(stage, mail, calendar):
    other = stage.world.puppet("mail")
    stage.ask(other)
    dialog = stage.person.dialog()
    prompt = stage.ask(calendar)
    other.kill()
    dialog.await_end()
    dialog = stage.person.dialog()
    holds("org.test.Calendar" in dialog.text("SETDESC"), "the next dialog names the next program")
    dialog.type(PASSCODE)
    stage.completed(calendar, prompt, opens=True)
    stage.nothing_more(calendar)


@row("SP08", "a dialog", "the prompter is killed", "dismissed; its dialog goes; the next prompt asks")
def prompter_killed(stage, mail, calendar):
    prompt = stage.ask(mail)
    dialog = stage.person.dialog()
    stage.end_prompter(signal.SIGKILL)
    stage.completed(mail, prompt, opens=False)
    dialog.await_end()
    prompt = stage.ask(mail)
    stage.person.dialog().type(PASSCODE)
    stage.completed(mail, prompt, opens=True)
    stage.nothing_more(mail)


@row("SP09", "two programs", "both prompt, one passcode", "one dialog, both open")
def two_programs(stage, mail, calendar):
    prompts = [(program, stage.ask(program)) for program in (mail, calendar)]
    stage.person.dialog().type(PASSCODE)
    for program, prompt in prompts:
        stage.completed(program, prompt, opens=True)
    stage.nothing_more(mail, calendar)


@row("SP10", "two prompts of one program", "the person cancels", "one dialog, both dismissed")
def same_program(stage, mail, calendar):
    other = stage.world.puppet("mail")
    prompts = [(program, stage.ask(program)) for program in (mail, other)]
    stage.person.dialog().cancel()
    for program, prompt in prompts:
        stage.completed(program, prompt, opens=False)
    stage.nothing_more(mail, other)
    other.close()


@row("SP11", "two programs prompt", "the person cancels the first", "the second is asked for by its own name")
def second_program(stage, mail, calendar):
    first, second = stage.ask(mail), stage.ask(calendar)
    dialog = stage.person.dialog()
    holds("org.test.Mail" in dialog.text("SETDESC"), "the first dialog is the first program's")
    dialog.cancel()
    stage.completed(mail, first, opens=False)
    dialog = stage.person.dialog()
    holds("org.test.Calendar" in dialog.text("SETDESC"), "the second dialog is the second program's")
    dialog.type(PASSCODE)
    stage.completed(calendar, second, opens=True)
    stage.nothing_more(mail, calendar)


@row("SP12", "a dialog", "the keychain is unlocked by another way", "the dialog goes, the prompt is done")
def unlocked_elsewhere(stage, mail, calendar):
    prompt = stage.ask(mail)
    dialog = stage.person.dialog()
    stage.world.user.unlock(PASSCODE)
    stage.completed(mail, prompt, opens=True)
    dialog.await_end()
    stage.nothing_more(mail)


@row("SP13", "a prompter that hangs, two programs", "one dismisses; it is killed", "nobody waits for ever")
def prompter_hangs(stage, mail, calendar):
    first = stage.ask(mail)
    dialog = stage.person.dialog()
    second = stage.ask(calendar)
    os.kill(stage.prompter, signal.SIGSTOP)
    mail.secret_service(first, PROMPT, "Dismiss")
    stage.completed(mail, first, opens=False)
    stage.end_prompter(signal.SIGKILL)
    stage.completed(calendar, second, opens=False)
    dialog.await_end()
    stage.nothing_more(mail, calendar)


@row("SP14", "a prompter that has unlocked, and a new broker", "prompt, the passcode", "all is open")
def before_first_unlock(stage, mail, calendar):
    prompt = stage.ask(mail)
    stage.person.dialog().type(PASSCODE)
    stage.completed(mail, prompt, opens=True)
    stage.restart_broker()
    equal(stage.is_locked(mail), True, "whether it is locked")
    prompt = stage.ask(mail, paths=(LOGIN, SESSION))
    stage.person.dialog().type(PASSCODE)
    stage.completed(mail, prompt, opens=True, paths=(LOGIN, SESSION))
    equal(stage.world.user.property("State"), "unlocked")
    stage.nothing_more(mail)


@row("SP15", "a dialog", "the broker ends", "the dialog goes")
def broker_ends(stage, mail, calendar):
    stage.ask(mail)
    dialog = stage.person.dialog()
    stage.restart_broker()
    dialog.await_end()


@row("SP16", "a prompter without a display", "Unlock", "IsLocked, with the command that unlocks")
def no_display(stage, mail, calendar):
    with stage.without_display():
        error = refused(LOCKED, mail.secret_service, ROOT, SERVICE, "Unlock", "ao", ([LOGIN],))
        holds("chatelaine unlock" in error.text, "the error says what to do")
    stage.nothing_more(mail)


@row("SP17", "no prompter", "Unlock", "IsLocked, with the command that unlocks")
def no_prompter(stage, mail, calendar):
    with stage.without_prompter():
        error = refused(LOCKED, mail.secret_service, ROOT, SERVICE, "Unlock", "ao", ([LOGIN],))
        holds("chatelaine unlock" in error.text, "the error says what to do")
    stage.nothing_more(mail)


@row("SP18", "a pinentry that cannot show itself", "prompt", "dismissed, and the log says so")
def no_dialog(stage, mail, calendar):
    prompt = stage.ask(mail)
    stage.person.dialog().answer(b"ERR 83918950 Inappropriate ioctl for device <Pinentry>\n")
    stage.completed(mail, prompt, opens=False)
    stage.world.await_log("NobodyToAsk", 1)


@row("SP19", "a passcode of any bytes", "prompt, the passcode", "it arrives as it is, and nowhere else")
def anywhere_else(stage, mail, calendar):
    old, new = stage.world.passcode, "50%25 of ünbreakable:not-for-any-log".encode()
    stage.world.set_passcode(new)
    try:
        with Monitor(stage.world.address) as monitor:
            prompt = stage.ask(mail)
            dialog = stage.person.dialog()
            lines = b"".join(argv(process) for process in (stage.prompter, dialog.process))
            dialog.type(new)
            stage.completed(mail, prompt, opens=True)
            crossed = monitor.seen()
    finally:
        stage.world.set_passcode(old)
    holds(b"Ask" in crossed and b"Completed" in crossed, "the monitor sees the bus")
    with open(os.path.join(stage.world.folder, "bus.log"), "rb") as log:
        logs = log.read() + stage.world.log().encode()
    for place, text in (("the bus", crossed), ("a command line", lines), ("a log", logs)):
        holds(b"not-for-any-log" not in text, f"the passcode is not in {place}")


def argv(process):
    with open(f"/proc/{process}/cmdline", "rb") as file:
        return file.read()


@row("SP20", "a dialog", "another program dismisses it, performs it", "no such object; the dialog stays")
def anothers(stage, mail, calendar):
    prompt, waiting = stage.ask(mail), stage.prompt(mail)
    dialog = stage.person.dialog()
    refused(GONE, calendar.secret_service, prompt, PROMPT, "Dismiss")
    refused(GONE, calendar.secret_service, waiting, PROMPT, "Prompt", "s", ("",))
    refused(GONE, calendar.secret_service, waiting, PROMPT, "Dismiss")
    dialog.type(PASSCODE)
    stage.completed(mail, prompt, opens=True)
    equal("Completed" in calendar.signals_so_far(), False, "whether another hears of it")
    stage.nothing_more(mail)


@row("SP21", "the prompter", "a program that is not the broker asks it", "refused, no dialog")
def not_the_broker(stage, mail, calendar):
    stage.prompt(mail)
    with_name = {"Program": ("s", "org.test.Mail"), "Trust": ("s", "kernel")}
    ask = dict(path=PROMPTER_PATH, interface=PROMPTER, member="Ask", signature="ta{sv}", to=PROMPTER)
    refused(DENIED, stage.world.watch.call, body=(1, with_name), **ask)
    equal(stage.person.sees_another(), False, "whether there is a dialog")


@row("SP22", "a dialog", "another program withdraws the question", "the dialog stays")
def anothers_question(stage, mail, calendar):
    prompt = stage.ask(mail)
    dialog = stage.person.dialog()
    for cookie in range(100):
        stage.world.watch.call(PROMPTER_PATH, PROMPTER, "Withdraw", "t", (cookie,), to=PROMPTER)
    dialog.type(PASSCODE)
    stage.completed(mail, prompt, opens=True)


@row("SP23", "a program of a name that steers", "prompt", "shown as text, in one line")
def steering(stage, mail, calendar):
    name = "a\x1b[2J\n\u202eMail is proven%0AOK\n" + "x" * 180
    path = os.path.join(stage.world.folder, "bin", name)
    copy_interpreter(path)
    program = stage.world.program(path)
    prompt = stage.ask(program)
    dialog = stage.person.dialog()
    shown = dialog.text("SETDESC")
    lines = shown.split("\n")
    equal(len(lines), 4, "the lines of the dialog")
    holds(not any(mark in shown for mark in ("\x1b", "\u202e")), "nothing in it steers")
    holds(max(len(line) for line in dialog.told) < 1000, "no line is longer than the protocol has it")
    dialog.cancel()
    stage.completed(program, prompt, opens=False)
    program.close()


@row("SP24", "a program that has taken the prompter's name", "it says that the person agreed", "closed as before")
def name_taken(stage, mail, calendar):
    with stage.without_prompter(), Thief(stage.world.address) as thief:
        prompt = stage.ask(mail)
        stage.completed(mail, prompt, opens=False)
        holds("org.test.Mail" in str(thief.heard), "it was asked")
    stage.nothing_more(mail)


@row("SP27", "the prompter", "introspection", "the interface that dbus/ describes")
def described(stage, mail, calendar):
    stage.prompt(mail)
    introspectable = "org.freedesktop.DBus.Introspectable"
    (served,) = stage.world.watch.call(PROMPTER_PATH, introspectable, "Introspect", to=PROMPTER)
    with open(os.path.join(REPOSITORY, "dbus", PROMPTER + ".xml")) as file:
        equal(methods(served), methods(file.read()), "the interface")


def methods(text):
    """Methods of the prompter's interface, with names, types and directions of their arguments."""
    (interface,) = ElementTree.fromstring(text).findall(f"interface[@name='{PROMPTER}']")
    return {
        method.get("name"): [(arg.get("name"), arg.get("type"), arg.get("direction")) for arg in method]
        for method in interface
    }


@row("SP25", "a prompter on a terminal, and a real pinentry", "a wrong passcode, the right one", "open")
def terminal(stage, mail, calendar):
    if not os.access(CURSES, os.X_OK):
        raise NotHere("needs Debian's pinentry-curses")
    with stage.without_prompter(), Terminal(stage) as desk:
        prompt = stage.ask(mail)
        desk.await_text(b"org.test.Mail")
        desk.await_text(b"Passcode:")
        desk.type(WRONG + b"\r")
        desk.await_text(b"not the passcode")
        desk.await_text(b"Passcode:")
        desk.type(PASSCODE + b"\r")
        stage.completed(mail, prompt, opens=True)
        equal(PASSCODE in desk.shown, False, "whether the terminal shows the passcode")


# The last one: the bus itself waits for it a while longer.
@row("SP26", "a prompter that starts and never comes to have its name", "Unlock", "IsLocked, in good time")
def never_comes(stage, mail, calendar):
    with stage.without_prompter():
        stage.install_prompter("/bin/sleep 60")
        error = refused(LOCKED, mail.secret_service, ROOT, SERVICE, "Unlock", "ao", ([LOGIN],))
        holds("chatelaine unlock" in error.text, "the error says what to do")
    stage.nothing_more(mail)


def run(report):
    with World(passcode=True) as world:
        stage = Stage(world)
        for one in TABLE.rows:
            report.play(one, lambda one=one: play(stage, one))
        stage.close()


def play(stage, one):
    try:
        stage.locked(stage.world.mail, stage.world.calendar)
        one.play(stage, stage.world.mail, stage.world.calendar)
    except BaseException:
        # What a row has left open is not the next one's.
        stage.clear()
        raise
