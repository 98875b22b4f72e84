"""Items that ask for a finger, before the broker of a user: fprintd, the real one, with libfprint's virtual reader."""

import contextlib
import os
import socket
import subprocess

from callers import Caller
from expect import Table, equal, holds
from person import Person
from served import NAME, SECRET, WAIT_SECONDS

KINDS = ("own", "trixie")
TABLE = Table()
row = TABLE.row
GROUP = "org.test.finger"
PINENTRY = "/opt/desk/pinentry"
READER = "/var/lib/fprint/reader"
POLICY = f"""[Application org.test.Busctl]
Executable=/usr/bin/busctl
AccessGroups={GROUP}
[AccessGroup {GROUP}]
RequireTrust=user
"""
FPRINT, DEVICE = "net.reactivated.Fprint", "/net/reactivated/Fprint/Device/0"
ITEMS = (NAME, "/org/chatelaine/Broker1", NAME + ".Items")
THUMB, INDEX = "left-thumb", "right-index-finger"
# Who is enrolled at first, and what the reader sees of another.
MINE, OTHER = "alice's thumb", "somebody's"
PROMPTER = f"""[D-BUS Service]
Name=org.chatelaine.Prompter1
Exec=/usr/bin/env DISPLAY=:0 /usr/libexec/chatelaine-prompter --pinentry {PINENTRY}
"""


class Machine:
    """The box, its reader, and the person at the desk."""

    def __init__(self, box, person):
        self.box, self.person = box, person

    # The reader

    def scan(self, *prints):
        """Puts fingers there, each when the reader waits for one."""
        for one in prints:
            self.box.until(self.is_waiting, "the reader waits for a finger")
            with socket.socket(socket.AF_UNIX) as wire:
                wire.settimeout(WAIT_SECONDS)
                wire.connect(self.box.path(READER))
                wire.sendall(f"SCAN {one}".encode())
                wire.shutdown(socket.SHUT_WR)
                wire.recv(1)

    def is_waiting(self):
        shown = self.box.output("busctl", "get-property", FPRINT, DEVICE, f"{FPRINT}.Device", "finger-needed")
        return shown == "b true"

    def using(self, program, *options):
        """One of fprintd's own programs, which root has wait for alice's finger."""
        return self.box.start("timeout", str(WAIT_SECONDS), program, *options, "alice", stderr=subprocess.STDOUT)

    def enrol(self, finger, image):
        with self.using("fprintd-enroll", "-f", finger) as running:
            self.scan(image)
            for line in running.stdout:
                if "enroll-stage-passed" in line:
                    self.scan(image)
                if "enroll-completed" in line:
                    return
        raise AssertionError(f"{finger} is not enrolled")

    def forget(self, *fingers):
        for finger in fingers:
            self.box.run("fprintd-delete", "alice", "-f", finger)

    def is_free(self):
        self.box.until(self._serves_another, "somebody else has the reader")

    def _serves_another(self):
        with self.using("fprintd-verify") as running:
            for line in running.stdout:
                if line.startswith("Verifying:"):
                    self.scan(MINE)
                if "verify-match" in line:
                    return True
        return False

    # Programs of alice's

    def store(self, service, flag=None, check=True, seat=True):
        names = ("Class", "s", "generic-password", "Service", "s", service)
        control = ("AccessControl", "(sas)", "when-unlocked-this-device-only", "1", flag) if flag else ()
        secret = ("/", "0", str(len(SECRET)), *(str(byte) for byte in SECRET.encode()))
        count = str(3 if flag else 2)
        call = (*ITEMS, "Store", "a{sv}(oayay)", count, *names, *control, *secret)
        return self.box.login("alice", "busctl", "--user", "call", *call, check=check, seat=seat)

    def reading(self, service, seat=True):
        call = ("Read", "a{sv}o", "2", "Class", "s", "generic-password", "Service", "s", service, "/")
        return Caller(self.box, "alice", "--user", "call", *ITEMS, *call, seat=seat)

    def delete(self, service):
        call = ("Delete", "a{sv}", "2", "Class", "s", "generic-password", "Service", "s", service)
        self.box.login("alice", "busctl", "--user", "call", *ITEMS, *call)

    @contextlib.contextmanager
    def asked(self, service):
        """A read that waits for a finger, and the notice that says so."""
        with self.reading(service) as caller:
            caller.go()
            yield caller, self.person.dialog()

    def withdrawn(self):
        """A notice that was on its way is gone, seen or not."""
        asking = ("pgrep", "--uid", "alice", "--full", f"python3 {PINENTRY}")
        self.box.until(lambda: self.box.run(*asking, check=False).returncode == 1, "no notice is shown")
        while self.person.sees_another():
            pass

    def reads(self, service, image=MINE):
        with self.asked(service) as (caller, notice):
            self.scan(image)
            is_secret(caller.finish())
            notice.await_end()

    def refuses(self, service, code, seat=True):
        """A read that is refused, and nobody is asked."""
        with self.reading(service, seat) as caller:
            caller.go()
            refused(caller.finish(), code)
        equal(self.person.sees_another(), False, "whether somebody was asked")


def is_secret(done):
    holds(done.returncode == 0, f"the call is answered: {done.stderr}")
    holds(" ".join(str(byte) for byte in SECRET.encode()) in done.stdout, "it is the secret")


def refused(done, code):
    holds(done.returncode != 0, "the call is refused")
    # busctl shows the text of an error alone.
    holds(f", {code})" in done.stderr, f"it is refused with {code}: {done.stderr}")


@row("FR01", "a finger item", "Read, the finger", "the secret; the notice says who wants it")
def match(m):
    with m.asked("any") as (caller, notice):
        shown = notice.text("SETDESC")
        for part in ("org.test.Busctl", GROUP, "Touch the fingerprint reader"):
            holds(part in shown, f"the notice says {part!r}: {shown}")
        m.scan(MINE)
        is_secret(caller.finish())
        notice.await_end()


@row("FR02", "a finger item", "Read, another finger, three times", "-25293")
def no_match(m):
    with m.asked("any") as (caller, notice):
        m.scan(OTHER, OTHER, OTHER)
        refused(caller.finish(), -25293)
        notice.await_end()
    m.is_free()


@row("FR03", "a finger item", "Read, no finger, the person cancels", "-128; the reader is free")
def cancelled(m):
    with m.asked("any") as (caller, notice):
        notice.press()
        refused(caller.finish(), -128)
    m.is_free()


@row("FR04", "a reader that waits", "the program is killed", "the notice goes, the reader is free")
def killed(m):
    with m.asked("any") as (caller, notice):
        m.box.run("kill", "-KILL", caller.process)
        notice.await_end()
    m.is_free()


@row("FR05", "a reader that somebody else has", "Read", "-25308; then the secret")
def taken(m):
    with m.using("fprintd-verify") as other:
        m.box.until(m.is_waiting, "the reader waits for somebody else's finger")
        with m.reading("any") as caller:
            caller.go()
            refused(caller.finish(), -25308)
        m.scan(MINE)
        m.withdrawn()
        holds("verify-match" in other.communicate()[0], "the other goes on")
    m.reads("any")


@row("FR06", "an item of the enrolled fingers", "Read, the finger; another is enrolled, Read; that one is deleted, Read", "the secret; -25293 twice; the other item is read by either")
def changed(m):
    m.store("current", "biometry-current-set")
    m.reads("current")
    m.enrol(INDEX, OTHER)
    m.refuses("current", -25293)
    for image in (OTHER, MINE):
        m.reads("any", image)
    m.forget(INDEX)
    m.refuses("current", -25293)
    m.reads("any")
    m.delete("current")


@row("FR07", "an item of the enrolled fingers", "all are deleted; Read, Store; the same is enrolled again", "-25293, nothing stored; -25293 for good")
def none_left(m):
    m.store("current", "biometry-current-set")
    m.forget(THUMB)
    for service in ("current", "any"):
        m.refuses(service, -25293)
    refused(m.store("other", "biometry-current-set", check=False), -25293)
    m.enrol(THUMB, MINE)
    m.refuses("current", -25293)
    m.refuses("other", -25300)
    m.delete("current")


@row("FR08", "an item of the enrolled fingers", "the finger is deleted, another enrolled under its name, Read", "the secret: fprintd tells no more than names")
def same_name(m):
    m.store("current", "biometry-current-set")
    m.forget(THUMB)
    m.enrol(THUMB, OTHER)
    m.reads("current", OTHER)
    m.forget(THUMB)
    m.enrol(THUMB, MINE)
    m.delete("current")


@row("FR09", "a log-in from afar, nobody at the seat", "Store, Read", "-25308, and nobody is asked: fprintd serves active sessions")
def away(m):
    m.store("current", "biometry-current-set")
    refused(m.store("other", "biometry-current-set", check=False, seat=False), -25308)
    for service in ("current", "any"):
        m.refuses(service, -25308, seat=False)
    m.reads("current")
    m.delete("current")


def run(report, box, kind, programs):
    box.install(programs)
    box.copy(os.path.join(programs, "chatelaine-prompter"), "/usr/libexec/chatelaine-prompter")
    box.write("/etc/chatelaine/policy.d/60-test.conf", POLICY)
    box.write("/etc/chatelaine/chatelained.conf", "[Broker]\nAllowPlain=yes\n")
    box.write("/etc/systemd/system/fprintd.service.d/reader.conf", f"[Service]\nEnvironment=FP_VIRTUAL_DEVICE_STORAGE={READER}\n")
    person = Person(box.path("/opt"))
    os.chmod(box.path("/opt/desk/person"), 0o666)
    box.write("/usr/share/dbus-1/services/org.chatelaine.Prompter1.service", PROMPTER)
    box.boot()
    box.add_user("alice", 1000)
    machine = Machine(box, person)
    try:
        machine.enrol(THUMB, MINE)
        machine.store("any", "biometry-any")
        for one in TABLE.rows:
            report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one: one.play(machine))
    finally:
        person.close()
