"""`chatelaine import` from files of git, of netrc and of docker: what is there before, what the programs find after."""

import base64
import json
import os
import stat

from expect import Table, equal, generic, holds, refused, same_secret, secret
from harness import World
from import_stage import Command
from monitor import Monitor
from policy import ONE
from programs import DOCKER, GIT, TOKENS

TABLE = Table()
row = TABLE.row
GIT_HELPER, DOCKER_HELPER = "git-credential-chatelaine", "docker-credential-chatelaine"
HOST = "https://alice:first-Pw@git.example\n"
NETRC = 'machine m.example login alice password first-Pw\n'


class Stage:
    def __init__(self, world):
        self.world = world
        self.command = Command(world, GIT_HELPER, DOCKER_HELPER)
        self.home = os.path.join(world.folder, "home")
        os.chmod(self.home, 0o755)

    def emptied(self):
        self.world.unlock()
        for group in (GIT, DOCKER, TOKENS, ONE):
            self.world.admin.force_logout(group)
        for folder, _, names in os.walk(self.home):
            for name in names:
                os.unlink(os.path.join(folder, name))
        return self

    def path(self, name=".git-credentials"):
        return os.path.join(self.home, name)

    def write(self, text, name=".git-credentials", mode=0o600):
        data = text.encode() if isinstance(text, str) else text
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)
        os.chmod(self.path(name), mode)
        return data

    def read(self, name=".git-credentials"):
        with open(self.path(name), "rb") as file:
            return file.read()

    def git(self, *arguments, **options):
        return self.command.bring("git", "--group", GIT, *arguments, **options)

    def filled(self, **fields):
        """What git gets: user and password."""
        given = "".join(f"{key}={value}\n" for key, value in fields.items()) + "\n"
        ended = self.command.run(GIT_HELPER, "get", given=given.encode())
        equal(ended.status, 0, "the status of the helper")
        found = dict(line.split("=", 1) for line in ended.output.decode().splitlines())
        return found.get("username"), found.get("password")

    def docker(self, registry):
        ended = self.command.run(DOCKER_HELPER, "get", given=registry.encode())
        if ended.status:
            return None
        found = json.loads(ended.output)
        return found["Username"], found["Secret"]

    def count(self, group=GIT):
        return sum(self.world.admin.list_groups().get(group, ()))


@row("IF01", "two lines for git", "import without --apply, twice", "counted, nothing stored, nothing changed")
def plan(s):
    before = s.write(HOST + "https://bob:other-Pw@git.example/a.git\n")
    for _ in range(2):
        told = s.git()
        equal((told["New"], told["There"], told["Copied"], told["Removed"]), (2, 0, 0, 0), "the counts")
        equal((told["Place"], told["Groups"]), (s.path(), [GIT]), "the places")
    ended = s.command.chatelaine("import", "git", "--group", GIT)
    equal(ended.status, 0)
    for word in (b"alice", b"bob", b"Pw", b"git.example", b"a.git"):
        holds(word not in ended.output and word.decode() not in ended.errors, "no content is shown")
    equal((s.count(), s.read() == before), (0, True), "the number of items, and whether the file is as it was")


LINES = (
    ("https://al%69ce:p%40ss%2F%3a%25@h1.example\n", {"host": "h1.example"}, ("alice", "p@ss/:%")),
    ("https://bob:b%C3%A9b@h2.example:8443\r\n", {"host": "h2.example:8443"}, ("bob", "béb")),
    ("http://carol:p@h3.example\n", {"host": "h3.example", "protocol": "http"}, ("carol", "p")),
    ("https://dave:of-path@h4.example/team/repo.git/\n", {"host": "h4.example", "path": "team/repo.git"}, ("dave", "of-path")),
    ("https://dave:of-host@h4.example\n", {"host": "h4.example", "username": "dave"}, ("dave", "of-host")),
    ("https://erin:two@h4.example\n", {"host": "h4.example", "username": "erin"}, ("erin", "two")),
    ("\n", None, None),
    ("https://frank:%zz%@h5.example", {"host": "h5.example"}, ("frank", "%zz%")),
)


@row("IF02", "escapes, ports, paths, line ends of two characters", "--apply, and again", "git finds each; none doubled")
def copies(s):
    before = s.write("".join(line for line, _, _ in LINES))
    told = s.git("--apply")
    equal((told["Copied"], told["Verified"], told["Left"]), (7, 7, []), "what was copied, and what is left")
    for _, place, wanted in LINES:
        if place:
            equal(s.filled(**({"protocol": "https"} | place)) == wanted, True, f"whether git finds {place['host']}")
    equal(s.read() == before, True, "whether the file is as it was")
    told = s.git("--apply")
    equal((told["New"], told["There"], told["Copied"], s.count()), (0, 7, 0, 7), "the second time")


WRONG = "no url at all\nhttps://only-user@h.example\n# a comment\n"


@row("IF03", "lines that are none, a link, a mode", "--apply --remove-old", "they stay, with link, mode and group")
def removes(s):
    s.write(WRONG + HOST + "\n" + "https://bob:x@h.example\r\n" + "ftp://:@\n", "real", mode=0o640)
    if os.geteuid() == 0:
        os.chown(s.path("real"), 0, 12345)
    before = os.stat(s.path("real"))
    os.symlink("real", s.path())
    told = s.git("--apply", "--remove-old", status=5)
    equal((told["Copied"], told["Removed"], len(told["Left"])), (2, 2, 4), "what was copied, removed and left")
    equal(s.read(), (WRONG + "\n" + "ftp://:@\n").encode(), "what is left in the file")
    equal(os.readlink(s.path()), "real", "the link")
    after = os.stat(s.path("real"))
    same = [(one.st_mode, one.st_uid, one.st_gid) for one in (before, after)]
    equal(same[1], same[0], "mode, owner and group")
    equal(sorted(os.listdir(s.home)), [".git-credentials", "real"], "what is in the folder")
    for number in (1, 2, 3, 7):
        holds(any(text.startswith(f"line {number} ") for text in told["Left"]), f"line {number} is named")
    equal(s.filled(protocol="https", host="git.example"), ("alice", "first-Pw"), "what git finds")


@row("IF04", "another password is there", "--apply; --replace", "told by its line, not overwritten; overwritten")
def conflict(s):
    s.write(HOST)
    s.git("--apply")
    before = s.write("https://bob:b@git.example\n" + HOST.replace("first", "second"))
    told = s.git("--apply", "--remove-old", status=5)
    equal((told["Different"], told["Copied"], told["Removed"]), (["line 2"], 1, 1), "what differs")
    equal(s.filled(protocol="https", host="git.example", username="alice")[1], "first-Pw", "the password there")
    equal(s.read(), before.splitlines(True)[1], "what stays in the file")
    told = s.git("--apply", "--replace", "--remove-old")
    equal((told["Copied"], told["Verified"], told["Removed"]), (1, 1, 1), "what was replaced")
    equal(s.filled(protocol="https", host="git.example", username="alice")[1], "second-Pw", "the password then")
    equal((s.read(), s.count()), (b"", 2), "the file, and the number of items")


@row("IF05", "the same place twice in a file", "--apply --remove-old", "the first as git has it; the other told, and left")
def twice(s):
    s.write(HOST + HOST.replace("first", "second") + HOST)
    told = s.git("--apply", "--remove-old", status=5)
    equal((told["Copied"], told["Different"], told["Removed"]), (1, ["line 2"], 2), "what was done")
    equal(s.read(), HOST.replace("first", "second").encode(), "what is left")
    equal(s.filled(protocol="https", host="git.example")[1], "first-Pw")


@row("IF06", "somebody has git's lock on the file", "--apply --remove-old; again without it", "left as it is; removed")
def lock(s):
    before = s.write(HOST)
    s.write("", ".git-credentials.lock")
    ended = s.command.chatelaine("import", "git", "--group", GIT, "--apply", "--remove-old")
    equal(ended.status, 5)
    holds(".git-credentials.lock is there" in ended.errors, "it says what is in the way")
    equal((s.read() == before, s.count(), os.path.exists(s.path(".git-credentials.lock"))), (True, 1, True))
    os.unlink(s.path(".git-credentials.lock"))
    told = s.git("--apply", "--remove-old")
    equal((told["There"], told["Copied"], told["Removed"], s.read()), (1, 0, 1, b""), "the second time")


@row("IF07", "a person at a terminal; git stores meanwhile", "yes, and yes", "what came or changed meanwhile stays")
def meanwhile(s):
    s.write(HOST + "https://bob:b@h.example\n")
    with s.command.at_terminal("git", "--group", GIT) as terminal:
        terminal.until(b"Copy 2? [y/N] ")
        equal(s.count(), 0, "the number of items before the answer")
        terminal.type(b"y")
        terminal.until(b"read back from the new one? [y/N] ")
        later = "https://bob:changed@h.example\nhttps://new:n@h.example\n"
        s.write(HOST + later)
        terminal.type(b"yes")
        equal((terminal.status(), s.read(), s.count()), (0, later.encode(), 2), "status, file and items")
        for word in (b"first-Pw", b"alice", b"git.example"):
            holds(word not in terminal.seen, "no content is shown")


@row("IF08", "a person at a terminal", "no; and yes, then no", "nothing; copied, and the file as it was")
def no(s):
    before = s.write(HOST)
    with s.command.at_terminal("git", "--group", GIT) as terminal:
        terminal.until(b"Copy 1?")
        terminal.type(b"")
        equal((terminal.status(), s.count()), (0, 0))
    with s.command.at_terminal("git", "--group", GIT) as terminal:
        terminal.until(b"Copy 1?")
        terminal.type(b"Y")
        terminal.until(b"Remove 1")
        terminal.type(b"n")
        equal((terminal.status(), s.count(), s.read() == before), (0, 1, True))


@row("IF09", "no file, a folder, somebody else's file or link, 2 MiB", "import", "refused, nothing stored")
def strange(s):
    equal(s.command.chatelaine("import", "git", "--group", GIT).status, 1, "the status without a file")
    os.mkfifo(s.path("fifo"))
    s.write("x" * (2 << 20), "large")
    for name, words in ((".", "no regular file"), ("fifo", "no regular file"), ("large", "larger than 1 MiB")):
        ended = s.command.chatelaine("import", "git", s.path(name), "--apply")
        equal((ended.status, words in ended.errors), (5, True), name)
    if os.geteuid() == 0:
        s.write(HOST, "foreign")
        os.chown(s.path("foreign"), 65534, 65534)
        s.write(HOST, "own")
        os.symlink("own", s.path("link"))
        os.lchown(s.path("link"), 65534, 65534)
        for name in ("foreign", "link"):
            ended = s.command.chatelaine("import", "git", s.path(name), "--apply")
            equal((ended.status, "another user" in ended.errors), (3, True), name)
    equal(s.count("org.chatelaine.git"), 0, "the number of items")


@row("IF10", "a second name of the file; a folder that all may write", "--remove-old", "refused, the file as it is")
def places(s):
    before = s.write(HOST)
    os.link(s.path(), s.path("other"))
    ended = s.command.chatelaine("import", "git", "--group", GIT, "--apply", "--remove-old")
    equal((ended.status, "hard link" in ended.errors, s.read() == before), (5, True, True))
    os.unlink(s.path("other"))
    os.chmod(s.home, 0o1777)
    try:
        ended = s.command.chatelaine("import", "git", "--group", GIT, "--apply", "--remove-old")
        equal((ended.status, "folder of others" in ended.errors, s.read() == before), (3, True, True))
        equal(sorted(os.listdir(s.home)), [".git-credentials"], "what is in the folder")
    finally:
        os.chmod(s.home, 0o755)


ACCOUNTS = r"""# my machines
machine m1.example login alice password first-Pw   # kept
machine m2.example
    login "b o b"
    password "q\"uo\\ted #1"
    # about the third
machine m3.example login carol password #3 machine m4.example password p4
machine m5.example login dave
machine m6.example login erin password p6 account special
machine m7.example login f password p7
macdef init
    machine trap.example login x password y

default login anonymous password guest
"""
LEFT = r"""# my machines
        # kept
    # about the third
machine m5.example login dave
machine m6.example login erin password p6 account special
machine m7.example login f password p7
macdef init
    machine trap.example login x password y

default login anonymous password guest
"""


@row("IF11", "a netrc with quotes, comments, a macro, a default", "--apply --remove-old", "chatelaine get; the rest stays")
def netrc(s):
    s.write(ACCOUNTS, ".netrc")
    told = s.command.bring("netrc", "--group", TOKENS, "--apply", "--remove-old")
    equal((told["Copied"], told["Verified"], told["Removed"], len(told["Left"])), (4, 4, 4, 5), "the counts")
    wanted = {"m1": ("alice", b"first-Pw"), "m2": ("b o b", b'q"uo\\ted #1'), "m3": ("carol", b"#3"), "m4": (None, b"p4")}
    for machine, (login, password) in wanted.items():
        of = ["--class", "internet-password", "--server", machine + ".example", *(["--account", login] if login else [])]
        equal(s.command.chatelaine("get", *of).output == password, True, f"the password of {machine}")
    equal(s.read(".netrc").decode(), LEFT, "what is left")
    for words in ("line 9 ", "line 10 ", "is a macro", "has a macro", "the default"):
        holds(any(words in text for text in told["Left"]), f"it says '{words}'")


@row("IF12", "a netrc that ends within a quote, and a word that is none", "--apply --remove-old", "told, and left")
def broken(s):
    text = 'machine a login b pasword c\nmachine d login e password f\nmachine g login h password "i\n'
    s.write(text, ".netrc")
    told = s.command.bring("netrc", "--group", TOKENS, "--apply", "--remove-old", status=5)
    equal((told["Copied"], told["Removed"]), (1, 1))
    equal([text.split(" has")[0] for text in told["Left"]], ["line 1", "line 3"], "what is told")
    equal(s.read(".netrc").decode(), "".join(text.splitlines(True)[::2]), "what is left")


def auth(text):
    return base64.b64encode(text.encode()).decode()


CONFIG = """{
	"auths": {
		"https://index.docker.io/v1/": {
			"auth": "%s"
		},
		"r1.example": {
			"auth": "%s",
			"email": "a@b.example"
		},
		"r2.example": { "email": "c@d.example", "auth": "%s", "identitytoken": "tok\\u0065n" },
		"r3.example": {},
		"r4.example": { "registrytoken": "r" },
		"r5.example": { "auth": "bm8tY29sb24=" }
	},
	"HttpHeaders": {"User-Agent": "x"},
	"credHelpers": {"gcr.example": "gcloud"}
}
""" % (auth("alice:p:w"), auth("bob:é\""), auth("carol:unused"))
CONFIG_LEFT = """{
	"auths": {
		"https://index.docker.io/v1/": {
		},
		"r1.example": {
			"email": "a@b.example"
		},
		"r2.example": { "email": "c@d.example"   },
		"r3.example": {},
		"r4.example": { "registrytoken": "r" },
		"r5.example": { "auth": "bm8tY29sb24=" }
	},
	"HttpHeaders": {"User-Agent": "x"},
	"credHelpers": {"gcr.example": "gcloud"}
}
"""


@row("IF13", "docker's config.json", "--apply --remove-old", "docker's helper finds them; all else is as it was")
def docker(s):
    s.write(CONFIG, ".docker/config.json", mode=0o644)
    told = s.command.bring("docker", "--group", DOCKER, "--apply", "--remove-old", status=5)
    equal((told["Copied"], told["Verified"], told["Removed"]), (3, 3, 3), "the counts")
    equal(s.docker("https://index.docker.io/v1/"), ("alice", "p:w"))
    equal(s.docker("r1.example"), ("bob", 'é"'))
    equal(s.docker("r2.example"), ("<token>", "token"))
    equal(s.read(".docker/config.json").decode(), CONFIG_LEFT, "what is left")
    json.loads(CONFIG_LEFT)
    equal(stat.S_IMODE(os.stat(s.path(".docker/config.json")).st_mode), 0o644, "the mode")
    for words in ("entry 5 of auths has a registry token", "entry 6 of auths is no name", "credHelpers names"):
        holds(any(text.startswith(words) for text in told["Left"]), f"it says '{words}'")
    told = s.command.bring("docker", "--group", DOCKER, "--apply", "--remove-old", status=5)
    equal((told["Copied"], told["There"], told["Removed"], s.count(DOCKER)), (0, 0, 0, 3), "the second time")


@row("IF14", "files that are no JSON, or that say a thing twice", "--apply --remove-old", "told, and as they were")
def no_json(s):
    one = '{"auths": {"r": {"auth": "%s"}}' % auth("a:b")
    for text in (one, one + "}x", one[:-1] + ',"r": {"auth": "eDp5"}}}', '{"auths": []}', ""):
        before = s.write(text, ".docker/config.json")
        told = s.command.bring("docker", "--group", DOCKER, "--apply", "--remove-old", status=5)
        equal((told["Copied"], s.read(".docker/config.json") == before), (0, True))
        holds("nothing was taken" in told["Left"][0], "it says so")
    equal(s.count(DOCKER), 0, "the number of items")


@row("IF15", "a program that is no manager", "imports, and asks for what is there", "AccessDenied, nothing stored")
def no_manager(s):
    before = s.write(HOST)
    s.git("--apply")
    copy = s.command.install("chatelaine", "impostor")
    command = [copy, "--address", s.world.client_address, "import", "git", s.path(), "--group", GIT]
    for more in ([], ["--apply"], ["--apply", "--replace", "--remove-old"]):
        ended = s.command.run_command([*command, *more])
        equal((ended.status, "AccessDenied" in ended.errors), (3, True), "the refusal")
    equal((s.read() == before, s.count()), (True, 1), "whether the file is as it was, and the items")


@row("IF16", "a keychain that is locked", "--apply --remove-old", "status 4, the file as it was; right after the unlock")
def locked(s):
    before = s.write(HOST)
    s.world.restart()
    ended = s.command.chatelaine("import", "git", "--group", GIT, "--apply", "--remove-old")
    equal((ended.status, s.read() == before), (4, True), "before the first unlock")
    s.world.unlock()
    s.world.lock()
    ended = s.command.chatelaine("import", "git", "--group", GIT, "--apply", "--remove-old")
    equal((ended.status, s.read() == before), (4, True), "while it is locked")
    s.world.unlock()
    equal(s.git("--apply", "--remove-old")["Removed"], 1)
    equal(s.filled(protocol="https", host="git.example"), ("alice", "first-Pw"))


@row("IF17", "300 lines", "killed in the middle; again", "each once, and the file empty")
def killed(s):
    before = s.write("".join(f"https://u{number}:p{number}@h.example\n" for number in range(300)))
    running = s.command.started("import", "git", "--group", GIT, "--apply", "--remove-old")
    while s.count() == 0 and running.poll() is None:
        pass
    running.kill()
    equal((running.wait(), s.read() == before), (-9, True), "how it ended, and whether the file is whole")
    told = s.git("--apply", "--remove-old")
    holds(0 < told["Copied"] < 300, f"it was killed in the middle: {told['Copied']} were left to copy")
    equal((told["There"], told["Removed"], s.count()), (300, 300, 300), "the second time")
    equal(s.read(), b"", "the file")


@row("IF18", "a monitor on the bus, the broker's log", "import all three", "no secret in either")
def silence(s):
    s.write(HOST + "broken first-Pw line\n")
    s.write(NETRC, ".netrc")
    s.write('{"auths": {"r": {"auth": "%s"}}}' % auth("a:first-Pw"), ".docker/config.json")
    with Monitor(s.world.address) as monitor:
        for kind, group, status in (("git", GIT, 5), ("netrc", TOKENS, 0), ("docker", DOCKER, 0)):
            s.command.bring(kind, "--group", group, "--apply", "--remove-old", status=status)
            equal(s.command.bring(kind, "--group", group, status=0)["Copied"], 0)
        heard = monitor.seen()
    for secret in (b"first-Pw", auth("a:first-Pw").encode()):
        holds(secret not in heard, "no secret was on the bus")
        holds(secret.decode() not in s.world.log(), "no secret is in the log")
    holds("alice" not in s.world.log() and "git.example" not in s.world.log(), "no attribute is in the log")


@row("IF19", "options that make no sense", "import", "status 2, and what to do")
def usage(s):
    for words in (("git", "--remove-old"), ("git", "--replace"), ("netrc", "--apply", "--replace=newer"), ("git", "a", "b")):
        equal(s.command.chatelaine("import", *words).status, 2, " ".join(words))


@row("IF20", "the contract's calls", "ImportItem and ImportSecret by others, and with nonsense", "AccessDenied; Param")
def calls(s):
    world = s.world
    for puppet in (world.mail, world.nobody, world.stranger):
        for mode in ("look", "add", "replace"):
            refused("AccessDenied", puppet.import_item, ONE, mode, generic(), secret())
            refused("AccessDenied", puppet.import_secret, ONE, mode, "", "l", {"a": "b"}, "text/plain", secret())
    admin = world.admin
    item = generic(Label="kept")
    equal(admin.import_item(ONE, "look", item, secret()), ["absent", ONE, 0], "what is there")
    equal(admin.import_item(ONE, "add", item, secret())[:2], ["added", ONE])
    for mode, value, wanted in (("look", "x", "there"), ("add", "y", "different"), ("replace", "x", "there")):
        equal(admin.import_item(ONE, mode, item, secret(value))[0], wanted, f"the answer to {mode}")
    equal(admin.import_item(ONE, "replace", generic(Generic="g"), secret("y"))[0], "replaced")
    equal(admin.import_item(ONE, "look", generic(Generic="h"), secret("y"))[0], "different", "with another Generic")
    same_secret(world.mail.read(generic()).secret, secret("y"))
    refused("MissingEntitlement", admin.read, generic())
    for attributes in (generic(AccessGroup=ONE), generic(IfRevision=1), {"Service": "s"}):
        refused("Param", admin.import_item, ONE, "add", attributes, secret())
    gated = generic(AccessControl=("when-unlocked", ["user-presence"]))
    refused("Param", admin.import_item, ONE, "add", gated, secret())
    for call in ((ONE, "take"), ("a b", "add")):
        refused("Param", admin.import_item, *call, generic(), secret())
        refused("Param", admin.import_secret, *call, "", "l", {"a": "b"}, "text/plain", secret())
    refused("MissingEntitlement", admin.import_item, "", "add", generic(), secret())
    refused("NoSuchClass", admin.import_item, ONE, "look", generic(Class="secret-service-item"), secret())
    refused("TooLarge", admin.import_secret, ONE, "add", "", "l", {"a": "b" * 65537}, "", secret())


def run(report):
    with World() as world:
        stage = Stage(world)
        with stage.command.policy():
            for row in TABLE.rows:
                report.play(row, lambda row=row: row.play(stage.emptied()))
