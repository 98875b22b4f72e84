"""What stands between the broker and its callers: the bus."""

import base64
import os

from connection import BUS_NAME
from expect import Table, equal, holds, same_secret, secret
from scene import GROUP, item, ran

TABLE = Table()
row = TABLE.row
OWNER, NOT_SUPPORTED = "1", "org.freedesktop.DBus.Error.UnknownMethod"


@row(
    "A40",
    "the broker's name on the bus",
    "another process of the user takes it first",
    "system bus: refused, to root too. Session bus: WINS; the broker does not start and says why",
)
def a40(w):
    evil = w.own("evil")
    w.broker("stop")
    try:
        if w.mode == "system":
            for words in (w.outcome(evil, "own_name.py"), w.outcome(evil, "own_name.py", as_root=True)):
                equal(words, ["org.freedesktop.DBus.Error.AccessDenied"])
        else:
            taken_first(w, evil)
    finally:
        w.broker("restart")
    with w.honest():
        pass


def taken_first(w, evil):
    with w.script(evil, "own_name.py") as squatter:
        equal(squatter.stdout.readline().strip(), OWNER)
        holds(
            w.user.run("systemctl", "--user", "start", "chatelained.service").returncode != 0,
            "it does not start",
        )
        show = ("show", "--property=ExecMainStatus", "--value", "chatelained.service")
        equal(w.user.systemctl(*show), "69", "the broker's exit status")
        ran("journalctl", "--sync")
        journal = ran("journalctl", "--quiet", "_SYSTEMD_USER_UNIT=chatelained.service", "--output=cat")
        holds(
            BUS_NAME in journal.splitlines()[-1], f"its last words name the name: {journal.splitlines()[-1]}"
        )
        squatter.communicate()


@row(
    "A41",
    "a monitor of the bus",
    "the honest program stores and reads",
    "system bus: refused. Session bus: no secret",
)
def a41(w):
    file = os.path.join(w.home, "captured")
    with w.honest() as mail, w.script(w.own("evil"), "listen_in.py", file) as listener:
        said = listener.stdout.readline().strip()
        if w.mode == "system":
            equal(said, "org.freedesktop.DBus.Error.AccessDenied")
            return
        equal(said, "listening")
        value = secret("overheard")
        mail.store(item(Account="overheard"), value)
        same_secret(mail.read(item(Account="overheard")).secret, value)
        listener.communicate("write\n")
        mail.delete(item(Account="overheard"))
    with open(file, "rb") as captured:
        seen = captured.read()
    for form in (value, value.hex().encode(), base64.b64encode(value)[:-4]):
        holds(form not in seen, "no form of the secret has crossed the bus")
    holds(GROUP.encode() in seen and b"overheard" in seen, "groups and attributes do")
