"""git-credential-chatelaine: real git, a real server over HTTP, and the broker between them."""

import os
import signal
import subprocess

from expect import Table, equal, holds
from git_client import KNOWS_AUTHTYPE, KNOWS_TIMES, GitClient
from git_server import GitServer
from harness import World
from monitor import Monitor
from programs import GIT, WAIT_SECONDS, Programs, blocking

TABLE = Table()
row = TABLE.row
HELPER = "git-credential-chatelaine"
HOST = [("protocol", "https"), ("host", "h.example")]
ALICE = [*HOST, ("username", "alice")]
FUTURE, LATER = 1_900_000_000, 1_900_003_600


class Stage:
    def __init__(self, world):
        self.world = world
        self.programs = Programs(world, HELPER, "chatelaine")
        self.git = GitClient(self.programs)

    def emptied(self):
        self.world.unlock()
        self.command("logout", "--group", GIT)
        self.git.use_helper("chatelaine")
        self.git.answers("alice", "first")
        return self

    def command(self, *arguments, given=b""):
        return self.programs.run("chatelaine", *arguments, given=given)

    def helper(self, operation, fields, *options):
        """What git starts, with what git writes to it."""
        return self.programs.run(HELPER, *options, operation, given=message(fields))

    def started_helper(self, operation, fields, *options, **more):
        """The same while it runs; it has all of its input when that is closed."""
        helper = subprocess.Popen(
            [self.programs.path(HELPER), *options, operation],
            env=self.programs.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **more,
        )
        helper.stdin.write(message(fields))
        return helper

    def items(self):
        ended = self.command("--json", "list", "--class", "internet-password", "--group", GIT)
        equal(ended.status, 0, "the status of list")
        return ended.output

    def count(self):
        return self.items().count(b'"Reference"')


def message(fields):
    lines = (
        key.encode() + b"=" + (value if isinstance(value, bytes) else str(value).encode()) + b"\n"
        for key, value in fields
    )
    return b"".join(lines) + b"\n"


@row("GC01", "a repository over HTTP", "push, push, log out, push", "asked, not asked, asked again")
def push(stage):
    git, world = stage.git, stage.world
    served, work = os.path.join(world.folder, "served"), os.path.join(world.folder, "work")
    bare = os.path.join(served, "a.git")
    equal(git.run("init", "--quiet", "--bare", bare).status, 0)
    git.run("config", "http.receivepack", "true", cwd=bare)
    equal(git.run("init", "--quiet", work).status, 0)
    with GitServer("git", served, stage.programs.environment | git.environment) as server:
        git.run("remote", "add", "origin", server.url("a.git"), cwd=work)
        for text, asked in (("one", 2), ("two", 0)):
            equal((commit_and_push(git, work, text), git.asked()), (0, asked), text)
            git.answers("alice", "first")
        equal(git.run("ls-remote", "--exit-code", "origin", cwd=work).status, 0)
        equal(git.asked(), 0, "how often a second program asked")
        ended = stage.command("logout", "--group", GIT, "--service", "127.0.0.1")
        holds(b"Deleted  1" in ended.output, "chatelaine logout deletes the one item")
        equal((commit_and_push(git, work, "three"), git.asked()), (0, 2), "after the logout")
        # The password is changed: git says that the old one was refused, and keeps the new one.
        server.password = "second"
        git.answers("alice", "second")
        equal(commit_and_push(git, work, "four") == 0, False, "whether git goes on with a refused password")
        equal((commit_and_push(git, work, "five"), git.asked()), (0, 2), "after the refusal")
        git.answers("alice", "second")
        equal((commit_and_push(git, work, "six"), git.asked()), (0, 0), "with the new password")
        equal((server.refused, stage.count()), (1, 1), "refusals and items")


def commit_and_push(git, work, text):
    equal(git.run("commit", "--quiet", "--allow-empty", "--message", text, cwd=work).status, 0)
    return git.run("push", "--quiet", "origin", "HEAD:main", cwd=work).status


@row("B024-git", "git credential with a time and a refresh token", "approve twice, fill", "the newer, whole")
def b024(stage):
    git = stage.git.newer(KNOWS_TIMES)
    for password, expiry, token in (("p1", FUTURE, "r1"), ("p2", LATER, "r2")):
        given = [*ALICE, ("password", password), ("password_expiry_utc", expiry)]
        equal(stage.git.credential("approve", [*given, ("oauth_refresh_token", token)], git).status, 0)
    equal(stage.count(), 1, "the number of items")
    ended = stage.git.credential("fill", ALICE, git)
    wanted = {"password": b"p2", "password_expiry_utc": str(LATER).encode(), "oauth_refresh_token": b"r2"}
    equal({key: ended.filled.get(key) for key in wanted}, wanted)
    secret = stage.command("get", "--class", "internet-password", "--server", "h.example", "--group", GIT)
    equal(secret.output, f"p2\npassword_expiry_utc={LATER}\noauth_refresh_token=r2\n".encode(), "the secret")
    # What was refused goes; what is not what was refused stays.
    stage.git.credential("reject", [*ALICE, ("password", "p1")], git)
    equal(stage.count(), 1, "after a reject of the older password")
    stage.git.credential("reject", [*ALICE, ("password", "p2")], git)
    equal(stage.count(), 0, "after a reject")


@row("GC02", "an access token whose time is over", "fill", "no password; the refresh token is still there")
def expired(stage):
    git = stage.git.newer(KNOWS_TIMES)
    given = [*ALICE, ("password", "old"), ("password_expiry_utc", 1_600_000_000)]
    equal(stage.helper("store", [*given, ("oauth_refresh_token", "r")]).status, 0)
    equal(stage.helper("get", ALICE).output, b"username=alice\noauth_refresh_token=r\n")
    # A helper behind this one is given the refresh token, and gets a new access token with it.
    script = os.path.join(stage.git.folder, "renew")
    with open(script, "w") as file:
        file.write(
            "#!/bin/sh\n[ \"$1\" = get ] && grep -q '^oauth_refresh_token=r$' &&"
            f" printf 'password=new\\npassword_expiry_utc={FUTURE}\\noauth_refresh_token=r2\\n'\nexit 0\n"
        )
    os.chmod(script, 0o755)
    stage.git.use_helper("chatelaine", script)
    ended = stage.git.credential("fill", ALICE, git)
    equal((ended.filled.get("password"), stage.git.asked()), (b"new", 0))
    stage.git.credential("approve", ended.filled.items(), git)
    wanted = f"username=alice\npassword=new\npassword_expiry_utc={FUTURE}\noauth_refresh_token=r2\n"
    equal(stage.helper("get", ALICE).output, wanted.encode())


@row("GC03", "a time, with and without a refresh token", "store", "FreshUntil, which deletes nothing; Expires")
def times(stage):
    given = [*ALICE, ("password", "p"), ("password_expiry_utc", FUTURE)]
    stage.helper("store", [*given, ("oauth_refresh_token", "r")])
    holds(f'"FreshUntil":{FUTURE}000000'.encode() in stage.items(), "the item is to be renewed")
    holds(b'"Expires"' not in stage.items(), "the item does not expire")
    stage.helper("store", [*ALICE, ("password", "q"), ("password_expiry_utc", FUTURE)])
    holds(f'"Expires":{FUTURE}000000'.encode() in stage.items(), "the item expires")
    stage.helper("store", [*ALICE, ("password", "r")])
    holds(b'"Expires"' not in stage.items(), "a password without a time has none of the one before")


@row("GC04", "git of before 2.41", "it gives back what it was given", "nothing is written, nothing is lost")
def given_back(stage):
    whole = [*ALICE, ("password", "p"), ("password_expiry_utc", FUTURE), ("oauth_refresh_token", "r")]
    stage.helper("store", whole)
    before = stage.items()
    stage.helper("store", [*ALICE, ("password", "p")])
    equal(stage.items(), before, "the item")
    holds(b"oauth_refresh_token=r\n" in stage.helper("get", ALICE).output, "the refresh token is there")


@row("GC05", "the winner has stored a new password", "a loser erases the old one", "the new one stays")
def loser(stage):
    stage.helper("store", [*ALICE, ("password", "new")])
    equal(stage.helper("erase", [*ALICE, ("password", "old")]).status, 0)
    equal(stage.helper("get", ALICE).output, b"username=alice\npassword=new\n")
    stage.helper("erase", [*ALICE, ("password", "new")])
    equal(stage.helper("get", ALICE).output, b"")


@row("GC06", "items for hosts, ports, users and paths", "fill each", "its own password, and no other's")
def places(stage):
    others = {
        "https": [("protocol", "https"), ("host", "h.example")],
        "http": [("protocol", "http"), ("host", "h.example")],
        "port": [("protocol", "https"), ("host", "h.example:8443")],
        "six": [("protocol", "https"), ("host", "[::1]:443")],
        "path": [("protocol", "https"), ("host", "h.example"), ("path", "b.git")],
        "certificate": [("protocol", "cert"), ("host", ""), ("path", "/home/alice/key.pem")],
    }
    for name, place in others.items():
        stage.helper("store", [*place, ("username", "alice"), ("password", name)])
    stage.helper("store", [*HOST, ("username", "bob"), ("password", "of bob")])
    stage.helper("store", [*HOST, ("username", ""), ("password", "of nobody")])
    equal(stage.count(), len(others) + 2, "the number of items")
    for name, place in others.items():
        answer = stage.helper("get", [*place, ("username", "alice")]).output
        equal(answer, f"username=alice\npassword={name}\n".encode(), name)
    equal(stage.helper("get", [*HOST, ("username", "bob")]).output, b"username=bob\npassword=of bob\n")
    equal(stage.helper("get", [*HOST, ("username", "")]).output, b"username=\npassword=of nobody\n")
    equal(stage.helper("get", HOST).output, b"username=\npassword=of nobody\n", "of several the newest")
    for absent in (("host", "other.example"), ("host", "h.example:443"), ("path", "c.git")):
        equal(stage.helper("get", [*HOST, absent]).output, b"", f"{absent[0]} of none")
    # Forgetting a host forgets all that is for it, as with git's own helpers.
    stage.helper("erase", HOST)
    equal(stage.count(), len(others) - 2, "what is left after the host is forgotten")


@row("GC07", "a password of odd bytes, a long one", "approve, fill", "byte-exact, through real git")
def bytes_through(stage):
    odd = bytes(byte for byte in range(1, 256) if byte not in (10, 13))
    for password in (odd, b"=", b"x" * 60_000, "pässwörd".encode()):
        stage.git.credential("approve", [*ALICE, ("password", password)])
        equal(stage.git.credential("fill", ALICE).filled.get("password") == password, True, "whether equal")
    name = b"\xff\xfe"
    stage.helper("store", [*HOST, ("username", name), ("password", b"\x80")])
    equal(stage.helper("get", [*HOST, ("username", name)]).output, b"username=\xff\xfe\npassword=\x80\n")


@row("GC08", "git of 2.46 and later", "another kind of credential", "kept and given to who can take it")
def authtype(stage):
    git = stage.git.newer(KNOWS_AUTHTYPE)
    given = [*HOST, ("authtype", "Bearer"), ("credential", "t")]
    capable = ("capability[]", "authtype")
    equal(stage.git.credential("approve", [capable, *given], git).status, 0)
    ended = stage.git.credential("fill", [capable, *HOST], git)
    equal((ended.filled.get("authtype"), ended.filled.get("credential")), (b"Bearer", b"t"))
    equal(stage.helper("get", HOST).output, b"", "what git that does not know it is given")
    stage.helper("erase", HOST)
    stage.helper("store", [capable, *given, ("ephemeral", "1")])
    equal(stage.count(), 0, "items of what is of use for a moment only")
    equal(stage.programs.run(HELPER, "capability").output, b"version 0\ncapability authtype\n")


@row("GC09", "requests that are none, keys and operations of a later git", "the helper is asked", "as git wants it")
def requests(stage):
    stage.helper("store", [*ALICE, ("wwwauth[]", "Basic"), ("state[]", "x=1"), ("new", "y"), ("password", "p")])
    equal(stage.helper("get", ALICE).output, b"username=alice\npassword=p\n")
    equal((stage.helper("later", ALICE).status, stage.count()), (0, 1), "an operation that is not known")
    for given in ([("protocol", "https")], [("host", "h.example")], [("username", "alice")]):
        for operation in ("get", "store", "erase"):
            ended = stage.helper(operation, [*given, ("password", "p")])
            equal((ended.status, ended.output), (0, b""), "of what says too little")
    equal(stage.count(), 1, "the number of items")
    for given in (b"protocol", b"=x\n", b"protocol=https\nhost=a\0b\n"):
        ended = stage.programs.run(HELPER, "get", given=given)
        equal((ended.status, ended.output), (1, b""))
        holds("key=value" in ended.errors, "it says what is wrong")
    for arguments in ((), ("--no", "get"), ("get", "store"), ("--timeout", "0", "get"), ("--group",)):
        ended = stage.programs.run(HELPER, *arguments)
        equal((ended.status, ended.output), (1, b""), f"{arguments}")
        holds("--help" in ended.errors, "it says where to read")


@row("GC10", "a name with a line's end, of whoever shares the group", "fill", "it is not told: no line is forged")
def forged(stage):
    stage.command(
        *("set", "--class", "internet-password", "--protocol", "https", "--server", "h.example"),
        *("--account", "x\npassword=forged", "--group", GIT),
        given=b"p",
    )
    equal(stage.helper("get", HOST).output, b"")


@row("GC10-late", "the helper has found an item", "it changes before it is read", "what is judged is what was read")
def forged_late(stage):
    neighbour, broker = stage.programs.neighbour(), stage.world.process
    item = {"Class": "internet-password", "AccessGroup": GIT, "Account": "alice"}
    try:
        for changes in ({"Account": "x\npassword=forged"}, {"Server": "other.example"}):
            stage.helper("store", [*ALICE, ("password", "p")])
            with Monitor(stage.world.address) as monitor, stage.started_helper("get", HOST) as helper:
                try:
                    broker.send_signal(signal.SIGSTOP)
                    helper.stdin.close()
                    monitor.await_count(1, b"Search")
                    helper.send_signal(signal.SIGSTOP)
                    broker.send_signal(signal.SIGCONT)
                    equal(neighbour.update(item, changes), 1)
                finally:
                    broker.send_signal(signal.SIGCONT)
                    helper.send_signal(signal.SIGCONT)
                equal(helper.stdout.read(), b"", f"the answer after a change of {[*changes]}")
    finally:
        neighbour.close()


@row("GC11", "a bare password that a person stored", "fill", "it is given")
def by_hand(stage):
    item = ("--class", "internet-password", "--protocol", "https", "--server", "h.example", "--account", "alice")
    stage.command("set", *item, "--group", GIT, given=b"by hand")
    equal(stage.git.credential("fill", HOST).filled.get("password"), b"by hand")
    stage.command("set", *item, "--group", GIT, given=b"p\nno key\n")
    ended = stage.helper("get", HOST)
    equal((ended.status, ended.output), (1, b""))
    holds("chatelaine delete" in ended.errors, "it says what to do")
    # What cannot be read is replaced by what worked.
    stage.helper("store", [*ALICE, ("password", "new")])
    equal(stage.helper("get", HOST).output, b"username=alice\npassword=new\n")
    # One without a user name is of the empty one.
    stage.command("set", *item[:-2], "--group", GIT, given=b"of nobody")
    equal(stage.helper("get", [*HOST, ("username", "")]).output, b"password=of nobody\n")


@row("GC12", "locked", "fill, approve, reject", "git asks; one line says why; nothing is lost")
def locked(stage):
    stage.helper("store", [*ALICE, ("password", "kept")])
    stage.world.lock()
    ended = stage.git.credential("fill", ALICE)
    equal((ended.filled.get("password"), stage.git.asked()), (b"first", 1))
    says_once(ended.errors, "unlock")
    says_once(stage.git.credential("approve", [*ALICE, ("password", "first")]).errors, "unlock")
    says_once(stage.git.credential("reject", [*ALICE, ("password", "first")]).errors, "unlock")
    stage.world.unlock()
    equal(stage.helper("get", ALICE).output, b"username=alice\npassword=kept\n")


def says_once(errors, word):
    lines = [line for line in errors.splitlines() if HELPER in line]
    holds(len(lines) == 1 and word in lines[0], f"one line says it ({errors!r})")


@row("GC13", "a copy of the helper that no policy names", "fill", "git asks; one line says why")
def stranger(stage):
    stage.helper("store", [*ALICE, ("password", "p")])
    stage.programs.install(HELPER, "git-credential-copy")
    stage.git.use_helper("copy")
    ended = stage.git.credential("fill", ALICE)
    equal((ended.filled.get("password"), stage.git.asked()), (b"first", 1))
    says_once(ended.errors, "POLICY")


@row("GC14", "a group that is not the helper's", "fill", "git asks; what is there stays unseen")
def other_group(stage):
    stage.git.use_helper("chatelaine --group org.test.tokens")
    ended = stage.git.credential("fill", ALICE)
    equal((ended.filled.get("password"), stage.git.asked()), (b"first", 1))
    says_once(ended.errors, "POLICY")


@row("GC15", "a broker that does not answer", "fill", "git asks when the helper's time is over")
def silent(stage):
    stage.git.use_helper("chatelaine --timeout 1")
    stage.world.process.send_signal(signal.SIGSTOP)
    try:
        ended = stage.git.credential("fill", ALICE)
    finally:
        stage.world.process.send_signal(signal.SIGCONT)
    equal((ended.filled.get("password"), stage.git.asked()), (b"first", 1))
    holds("did not answer in time" in ended.errors, f"a line says it ({ended.errors!r})")


@row("GC15-blocked", "SIGALRM blocked by whoever starts git", "fill", "the helper's time ends all the same")
def silent_blocked(stage):
    stage.world.process.send_signal(signal.SIGSTOP)
    try:
        with stage.started_helper("get", HOST, "--timeout", "1", preexec_fn=blocking(signal.SIGALRM)) as helper:
            _, errors = helper.communicate(timeout=WAIT_SECONDS)
    finally:
        stage.world.process.send_signal(signal.SIGCONT)
    equal(helper.returncode, 1)
    holds(b"did not answer in time" in errors, f"a line says it ({errors!r})")


@row("GC16", "no broker", "fill", "git asks; one line says how to start it")
def missing(stage):
    stage.world.stop()
    try:
        ended = stage.git.credential("fill", ALICE)
    finally:
        stage.world.start()
    equal((ended.filled.get("password"), stage.git.asked()), (b"first", 1))
    says_once(ended.errors, "systemctl --user start chatelained")


@row("GC17", "a password that came and went", "look at the broker's output", "it is not in it")
def silent_log(stage):
    stage.helper("store", [*ALICE, ("password", "not-for-any-log:git")])
    stage.helper("get", ALICE)
    equal(stage.world.log().count("not-for-any-log:git"), 0)


@row("GC18", "any program of the user", "it starts the helper itself", "it is given the password: documented")
def oracle(stage):
    stage.helper("store", [*ALICE, ("password", "p")])
    ended = subprocess.run(
        [stage.programs.path(HELPER), "get"],
        input=b"protocol=https\nhost=h.example\n\n",
        capture_output=True,
        env=stage.programs.environment,
    )
    equal(ended.stdout, b"username=alice\npassword=p\n")


def run(report):
    with World() as world:
        stage = Stage(world)
        with stage.programs.policy():
            for row in TABLE.rows:
                report.play(row, lambda row=row: row.play(stage.emptied()))
