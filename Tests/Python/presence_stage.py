"""A broker whose gated items ask a person, and the person."""

import contextlib
import os
import re

from expect import equal, generic, holds, secret
from policy import ONE
from prompt_stage import Stage
from stage import empty

PROTECTION = "when-unlocked-this-device-only"
BACKGROUND = "after-first-unlock-this-device-only"


def gated(*flags, protection=PROTECTION, **attributes):
    return generic(AccessControl=(protection, flags), **attributes)


class PresenceStage(Stage):
    """Emptied before each row. `mail` and `calendar` are two programs of one group."""

    def begin(self):
        empty(self.world)
        self.nothing_asked()

    @property
    def mail(self):
        return self.world.mail

    @property
    def calendar(self):
        return self.world.calendar

    def asks(self, program, method, *args, **options):
        """Begins a call that may ask a person, and gives the dialog."""
        program.start(method, *args, interactive=True, **options)
        return self.person.dialog()

    def nothing_asked(self):
        equal(self.person.sees_another(), False, "whether somebody was asked")

    @contextlib.contextmanager
    def reuse(self, seconds, group=ONE):
        """One answered prompt serves a connection for so long."""
        section = f"[AccessGroup {group}]\n"
        with self._policy(section, f"{section}ReuseSeconds={seconds}\n"):
            yield

    @contextlib.contextmanager
    def without_groups(self, application):
        """The application is another program's."""
        section = f"[Application {application}]\n"
        with self._policy(section, f"[Application {application}]\nUser=4000000000\n"):
            yield

    @contextlib.contextmanager
    def _policy(self, text, changed):
        path = os.path.join(self.world.folder, "policy", "50-test.conf")
        with open(path) as file:
            before = file.read()
        holds(text in before, "the policy has what is to be changed")
        self._write(path, re.sub(r"ReuseSeconds=.*\n", "", before).replace(text, changed))
        try:
            yield
        finally:
            self._write(path, before)

    def _write(self, path, text):
        with open(path, "w") as file:
            file.write(text)
        self.world.admin.reload_policy()
