"""The field's failures of prompts: the real prompter, and a person whom the test plays."""

import contextlib

from expect import Table, equal, refused, same_secret, secret
from harness import PASSCODE, World
from prompt_stage import PROMPT, Stage
from secret_stage import Keyring, attributes
from secret_words import IS_LOCKED, LOGIN

TABLE = Table()
row = TABLE.row


@contextlib.contextmanager
def closed():
    """A stage whose collection login is closed, the program, its keyring and the path of its item."""
    with World(passcode=True) as world:
        with contextlib.closing(Stage(world)) as stage:
            keyring = Keyring(world.mail, world.address)
            path = keyring.create("l", attributes("l"), secret("l"))
            stage.locked(world.mail)
            yield stage, world.mail, keyring, path


@row("B057", "a locked item", "the person cancels, the program reads all the same", "an empty list; IsLocked")
def b057():
    with closed() as (stage, mail, keyring, path):
        prompt = stage.ask(mail)
        stage.person.dialog().cancel()
        stage.completed(mail, prompt, opens=False)
        equal(keyring.secrets([path]), {}, "GetSecrets leaves it out")
        refused(IS_LOCKED, keyring.secret, path)
        equal(keyring.search(attributes("l")), ([], [path]), "and it is still found")


@row("B105", "prompts", "the passcode, a dialog that is cancelled, Dismiss", "exactly one Completed for each")
def b105():
    with closed() as (stage, mail, keyring, path):
        for opens, end in (
            (False, lambda dialog, _: dialog.cancel()),
            (False, lambda _, prompt: mail.secret_service(prompt, PROMPT, "Dismiss")),
            (True, lambda dialog, _: dialog.type(PASSCODE)),
        ):
            prompt = stage.ask(mail)
            dialog = stage.person.dialog()
            end(dialog, prompt)
            stage.completed(mail, prompt, opens=opens)
            dialog.await_end()
            stage.nothing_more(mail)


@row(
    "B106", "a prompt that is answered", "at the instant of Completed", "Locked is false, and the read works"
)
def b106():
    with closed() as (stage, mail, keyring, path):
        prompt = stage.ask(mail)
        stage.person.dialog().type(PASSCODE)
        stage.completed(mail, prompt, opens=True)
        same_secret(keyring.secret(path), secret("l"))
        equal(keyring.lock(LOGIN), ([LOGIN], "/"))
