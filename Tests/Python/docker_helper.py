"""docker-credential-chatelaine: docker's own command line where it is there, and the protocol as its client speaks it."""

import json
import os
import shutil
import signal
import subprocess

from expect import NotHere, Table, equal, holds
from harness import World
from monitor import Monitor
from programs import DOCKER, WAIT_SECONDS, Programs
from registry import Registry

TABLE = Table()
row = TABLE.row
HELPER = "docker-credential-chatelaine"
URL = "https://registry.example/v1/"
NOT_FOUND, NO_URL, NO_USER = (
    b"credentials not found in native keychain\n",
    b"no credentials server URL\n",
    b"no credentials username\n",
)


class Stage:
    def __init__(self, world):
        self.world = world
        self.programs = Programs(world, HELPER, "chatelaine")
        self.configuration = os.path.join(world.folder, "docker")
        os.mkdir(self.configuration)

    def emptied(self):
        self.world.unlock()
        self.programs.run("chatelaine", "logout", "--group", DOCKER)
        with open(os.path.join(self.configuration, "config.json"), "w") as file:
            json.dump({"credsStore": "chatelaine"}, file)
        return self

    def helper(self, action, given=b"unused"):
        return self.programs.run(HELPER, action, given=given)

    def store(self, url, user, secret):
        given = json.dumps({"ServerURL": url, "Username": user, "Secret": secret}) + "\n"
        return self.helper("store", given.encode())

    def get(self, url):
        ended = self.helper("get", url.encode())
        return (ended.status, json.loads(ended.output) if ended.status == 0 else ended.output)

    def docker(self, *arguments, given=b""):
        if shutil.which("docker") is None:
            raise NotHere("docker's command line is not on this machine")
        # No daemon: docker then does by itself what it would have it do.
        host = f"unix://{self.configuration}/none"
        command = ["docker", "--config", self.configuration, "--host", host, *arguments]
        return self.programs.run_command(command, given)

    def kept_by_docker(self):
        with open(os.path.join(self.configuration, "config.json")) as file:
            return json.load(file)


def credentials(url, user, secret):
    return {"ServerURL": url, "Username": user, "Secret": secret}


@row("DC01", "docker and a registry", "docker login, use it, docker logout", "the password is in the keychain alone")
def login(stage):
    with Registry(stage.configuration) as registry:
        sign_in(stage, registry)
        equal(stage.get(registry.host), (0, credentials(registry.host, "alice", registry.password)))
        holds(registry.password not in json.dumps(stage.kept_by_docker()), "docker's own file has no password")
        before = registry.admitted
        equal(inspect(stage, registry).status, 0, "the status of docker manifest inspect")
        holds(registry.admitted > before, "docker was let in with what the helper gave")
        equal(stage.docker("logout", registry.host).status, 0)
        equal(stage.get(registry.host), (1, NOT_FOUND))
        equal(inspect(stage, registry).status, 1, "the status after docker logout")


def sign_in(stage, registry):
    given = registry.password.encode()
    ended = stage.docker("login", "--username", "alice", "--password-stdin", registry.host, given=given)
    equal(ended.status, 0, f"the status of docker login ({ended.errors})")


def inspect(stage, registry):
    return stage.docker("manifest", "inspect", "--insecure", f"{registry.host}/a/b:c")


@row("DC02", "a registry with identity tokens", "docker login, use it", "the token is kept, and the password nowhere")
def identity_token(stage):
    with Registry(stage.configuration, tokens=True) as registry:
        sign_in(stage, registry)
        equal(stage.get(registry.host), (0, credentials(registry.host, "<token>", registry.identity_token)))
        equal(inspect(stage, registry).status, 0, "the status of docker manifest inspect")
        equal(registry.grants[-1], "refresh_token", "what docker signed in with")


@row("DC03", "docker is signed in", "chatelaine logout", "docker is signed out")
def logged_out(stage):
    with Registry(stage.configuration) as registry:
        sign_in(stage, registry)
        equal(inspect(stage, registry).status, 0, "the status before the logout")
        stage.programs.run("chatelaine", "logout", "--group", DOCKER, "--service", registry.host)
        equal(inspect(stage, registry).status, 1, "the status after the logout")


@row("DC04", "a registry that is not there", "get, erase", "docker's own words; nothing to erase is no error")
def absent(stage):
    equal(stage.get(URL), (1, NOT_FOUND))
    ended = stage.helper("erase", URL.encode())
    equal((ended.status, ended.output), (0, b""))
    for action in ("get", "erase"):
        for given in (b"", b" \n"):
            ended = stage.helper(action, given)
            equal((ended.status, ended.output), (1, NO_URL))


@row("DC05", "two users of one registry", "store, store, get, list", "one item, the newer, and never none")
def replaced(stage):
    for user in ("alice", "bob"):
        equal(stage.store(URL, user, f"of {user}").status, 0)
    equal(stage.get(URL), (0, credentials(URL, "bob", "of bob")))
    stage.store("other.example:5000", "<token>", "t")
    equal(json.loads(stage.helper("list").output), {URL: "bob", "other.example:5000": "<token>"})
    stage.helper("erase", URL.encode())
    equal(json.loads(stage.helper("list").output), {"other.example:5000": "<token>"})


@row("DC06", "an empty keychain", "list", "an object without members")
def nothing(stage):
    equal(stage.helper("list").output, b"{}\n")


@row("DC07", "secrets of every kind", "store, get", "character for character")
def exact(stage):
    every = "".join(chr(code) for code in range(0x20)) + '"\\/<>&\x7f\u2028é€😀'
    for secret in ("", every, "x" * 100_000, "line\nline\r\n"):
        equal(stage.store(URL, "ä\"\\\n", secret).status, 0)
        status, found = stage.get(URL)
        equal((status, found == credentials(URL, "ä\"\\\n", secret)), (0, True), "whether equal")
    # As Go writes it.
    stage.helper("store", rb'{"ServerURL":"u","Username":"\u003ctoken\u003e","Secret":"\u0026\ud83d\ude00"}')
    equal(stage.get("u"), (0, credentials("u", "<token>", "&😀")))


@row("DC08", "requests that are none", "store", "refused with docker's words or with what is wrong; nothing is kept")
def refused(stage):
    for given, words in (
        (b'{"Username":"a","Secret":"s"}', NO_URL),
        (b'{"ServerURL":"","Username":"a","Secret":"s"}', NO_URL),
        (b'{"ServerURL":"u","Secret":"s"}', NO_USER),
        (b'{"ServerURL":"u","Username":"","Secret":"s"}', NO_USER),
    ):
        ended = stage.helper("store", given)
        equal((ended.status, ended.output), (1, words))
    for given in (b"", b"{", b'{"ServerURL":"u","Username":"a","Secret":7}', b'{"ServerURL":"u"}x'):
        ended = stage.helper("store", given)
        equal(ended.status, 1)
        holds(ended.output.startswith(b"the request is no JSON object"), "it says what is wrong")
    equal(stage.helper("list").output, b"{}\n")


@row("DC09", "arguments that are none", "the helper is started", "it says how to")
def arguments(stage):
    for words in ((), ("later",), ("get", "store")):
        ended = stage.programs.run(HELPER, *words)
        equal(ended.status, 1)
        holds(b"<store|get|erase|list|version>" in ended.output, "it says how")
    holds(stage.helper("version").output.startswith(HELPER.encode()), "the version")


@row("DC10", "locked", "get, store, list, docker", "one line says why, where docker looks for it; nothing is lost")
def locked(stage):
    stage.store(URL, "alice", "kept")
    stage.world.lock()
    for action, given in (
        ("get", URL.encode()),
        ("store", json.dumps(credentials(URL, "bob", "new")).encode()),
        ("list", b"unused"),
    ):
        ended = stage.helper(action, given)
        equal((ended.status, ended.output.count(b"\n")), (1, 1))
        holds(b"unlock" in ended.output, f"it says why ({action})")
    stage.world.unlock()
    equal(stage.get(URL), (0, credentials(URL, "alice", "kept")))


@row("DC11", "no broker; a copy that no policy names", "get", "one line says what to do")
def no_way(stage):
    stage.store(URL, "alice", "kept")
    copy = stage.programs.install(HELPER, "docker-credential-copy")
    ended = stage.programs.run_command([copy, "get"], URL.encode())
    equal(ended.status, 1)
    holds(b"POLICY" in ended.output, "it says where to read")
    stage.world.stop()
    try:
        ended = stage.helper("get", URL.encode())
    finally:
        stage.world.start()
    equal(ended.status, 1)
    holds(b"systemctl --user start chatelained" in ended.output, "it says how to start it")


@row("DC12", "a broker that does not answer", "the helper's time is over", "a line says it, where docker looks for it")
def silent(stage):
    with Monitor(stage.world.address) as monitor:
        stage.world.process.send_signal(signal.SIGSTOP)
        try:
            helper = subprocess.Popen(
                [stage.programs.path(HELPER), "get"],
                env=stage.programs.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            with helper:
                helper.stdin.write(URL.encode())
                helper.stdin.close()
                monitor.await_count(1, b"\0OpenSession\0")
                # As its own alarm does after a minute.
                helper.send_signal(signal.SIGALRM)
                equal(helper.wait(timeout=WAIT_SECONDS), 1)
                output, errors = helper.stdout.read(), helper.stderr.read()
        finally:
            stage.world.process.send_signal(signal.SIGCONT)
    holds(b"did not answer in time" in output, f"a line says it ({output!r})")
    equal(errors, b"")


def run(report):
    with World() as world:
        stage = Stage(world)
        with stage.programs.policy():
            for row in TABLE.rows:
                report.play(row, lambda row=row: row.play(stage.emptied()))
