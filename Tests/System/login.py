"""Logging in, really: login on a terminal, passwd, su and ssh, with Debian's own PAM and the profile that is installed."""

import json
import os

import keys_in_memory
from expect import Table, equal, holds
from served import UNIT, WAIT_SECONDS, restart
from session_lock import ALL, FOREGROUND, Keychain, sessions

KINDS = ("own", "trixie")
TABLE = Table()
row = TABLE.row
ALICE, BOB = 1000, 1001
FIRST, SECOND = "white rabbit 1", "march hare 2"
PROMPT, WRONG = "alice's prompt> ", "a mistyped one"
OUT_OF_STEP = "passcode-out-of-step"
HERE = os.path.dirname(os.path.abspath(__file__))


class Terminal:
    """`with Terminal(box, ...) as terminal:` a program on a terminal of the box's."""

    def __init__(self, box, *command, **options):
        self.process = box.start("/usr/bin/python3", "/opt/typist.py", *command, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(WAIT_SECONDS)
        self.process.stdout.close()

    def _order(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def expects(self, text):
        answer = self._order(wait=text)
        holds("late" not in answer and "ended" not in answer, f"it shows '{text}' ({answer})")
        return answer["shown"]

    def types(self, line):
        self._order(type=line + "\n")

    def ends(self):
        answer = self._order(end=True)
        holds("ended" in answer, f"it ends ({answer})")
        return answer["ended"], answer["shown"]


class World:
    """The keychain, and the person."""

    def __init__(self, box, kind, scope):
        self.box, self.scope, self.password = box, scope, FIRST
        self.keychain = Keychain(box, scope, FIRST)
        # Debian 12's pam_exec does not tell a new password.
        self.follows = kind != "own"

    def log_in(self, *passwords):
        """On a terminal, to the shell's prompt; the terminal."""
        terminal = Terminal(self.box, "login", "alice")
        for number, password in enumerate(passwords):
            if number:
                terminal.expects("login: ")
                terminal.types("alice")
            terminal.expects("assword: ")
            terminal.types(password)
        terminal.expects(PROMPT)
        return terminal

    @staticmethod
    def log_out(terminal):
        terminal.types("exit")
        terminal.ends()

    def comes_to_be(self, state):
        self.box.until(lambda: self.keychain.state == state, f"the keychain is {state}")

    @property
    def status(self):
        return json.loads(self.keychain.chatelaine("--json", "status"))

    @property
    def conditions(self):
        return set(self.status["Conditions"]) - {"memory-not-locked"}

    def starts_anew(self):
        """As after a boot: no user's manager runs, and no broker has been unlocked."""
        self.box.until(lambda: not sessions(self.box, "alice"), "alice is logged out")
        if self.scope == "--system":
            return restart(self.box)
        self.box.run("systemctl", "stop", f"user@{ALICE}.service", f"user-runtime-dir@{ALICE}.service")

    def has_broker(self, is_there):
        """For the next login."""
        if self.scope == "--system":
            return self.box.run("systemctl", *(("unmask",) if is_there else ("mask", "--now")), UNIT)
        self.box.run("systemctl", "--global", "unmask" if is_there else "mask", UNIT)


@row("L01", "a boot", "alice logs in on a terminal; mistypes first", "the vault is open, with every key")
def l01(w):
    # login waits after a password that is wrong, so it is done once.
    for passwords in ((w.password,), *([(WRONG, w.password)] if w.scope == "--user" else [])):
        w.starts_anew()
        with w.log_in(*passwords) as terminal:
            w.comes_to_be("unlocked")
            equal((w.keychain.in_memory(), w.conditions), (ALL, set()))
            w.log_out(terminal)


@row("L02", "logged in", "lock-session; then the password to a lock that asks PAM", "the keys are gone; they are back")
def l02(w):
    w.starts_anew()
    with w.log_in(w.password) as terminal:
        w.comes_to_be("unlocked")
        (session,) = sessions(w.box, "alice")
        w.box.run("loginctl", "lock-session", session)
        w.comes_to_be("locked")
        equal(w.keychain.in_memory(), ALL - FOREGROUND)
        with Terminal(w.box, "su", "--command=true", "alice", user="bob") as lock:
            lock.expects("assword: ")
            lock.types(w.password)
            equal(lock.ends()[0], 0)
        w.comes_to_be("unlocked")
        equal(w.keychain.in_memory(), ALL)
        w.log_out(terminal)


@row("L03", "logged in", "passwd, log out, log in with the new password", "followed, or said and put right; then open")
def l03(w):
    old, w.password = w.password, SECOND if w.password == FIRST else FIRST
    with w.log_in(old) as terminal:
        w.comes_to_be("unlocked")
        terminal.types("passwd")
        for word in (old, w.password, w.password):
            terminal.expects("assword: ")
            terminal.types(word)
        terminal.expects("updated successfully")
        terminal.expects(PROMPT)
        equal(w.conditions, set() if w.follows else {OUT_OF_STEP})
        w.log_out(terminal)
    w.starts_anew()
    with w.log_in(w.password) as terminal:
        if not w.follows:
            w.keychain.chatelaine("unlock", input=old)
            equal(w.conditions, {OUT_OF_STEP})
            told = w.keychain.chatelaine("doctor", check=False)
            holds("chatelaine passcode change" in told, told)
            w.keychain.chatelaine("passcode", "change", input=f"{old}\n{w.password}\n")
            equal(w.conditions, set())
            w.log_out(terminal)
            w.starts_anew()
            terminal = w.log_in(w.password)
        w.comes_to_be("unlocked")
        equal((w.keychain.in_memory(), w.conditions), (ALL, set()))
        w.log_out(terminal)


@row("L04", "a boot", "alice comes by ssh with a key", "before the first unlock, and no key of any class")
def l04(w):
    w.starts_anew()
    with Terminal(w.box, "ssh", "-tt", "-i", "/root/key", "-o", "StrictHostKeyChecking=no", "alice@127.0.0.1") as terminal:
        terminal.expects(PROMPT)
        equal((w.keychain.state, w.keychain.in_memory()), ("before-first-unlock", set()))
        w.log_out(terminal)


@row("L05", "no broker at all", "log in", "as on any machine")
def l05(w):
    w.starts_anew()
    w.has_broker(False)
    try:
        with w.log_in(w.password) as terminal:
            terminal.types("echo logged in as $USER")
            terminal.expects("logged in as alice")
            w.log_out(terminal)
    finally:
        w.has_broker(True)


def prepare(box):
    box.copy(os.path.join(HERE, "typist.py"), "/opt/typist.py", 0o644)
    source = os.path.join(os.path.dirname(keys_in_memory.__file__), "keys_in_memory.py")
    box.copy(source, "/opt/keys_in_memory.py", 0o644)
    for name, number in (("alice", ALICE), ("bob", BOB)):
        box.add_user(name, number, FIRST)
    box.run("sh", "-ec", f"""printf 'PS1="%s"\\nPROMPT_COMMAND=\\n' "{PROMPT}" >/home/alice/.bash_profile
        ssh-keygen -q -t ed25519 -N "" -f /root/key
        install -d -o alice -g alice -m 700 /home/alice/.ssh
        install -o alice -g alice -m 600 /root/key.pub /home/alice/.ssh/authorized_keys
        systemctl start ssh""")
    box.run("pam-auth-update", "--enable", "chatelaine")
    box.run("systemctl", "--global", "enable", UNIT)


def run(report, box, kind, programs):
    box.install(programs)
    box.boot()
    prepare(box)
    for scope in ("--user", "--system"):
        world = World(box, kind, scope)
        if scope == "--system":
            box.run("systemctl", "--global", "disable", UNIT)
            box.run("systemctl", "stop", f"user@{ALICE}.service")
            box.run("sh", "-c", f"echo alice:'{FIRST}' | chpasswd")
            box.run("systemctl", "enable", "--now", UNIT)
        with world.log_in(FIRST) as terminal:
            world.keychain.prepare()
            world.log_out(terminal)
        for one in TABLE.rows:
            number = f"{one.number}{scope[1:]}-{kind}"
            report.play(one._replace(number=number), lambda one=one, world=world: one.play(world))
