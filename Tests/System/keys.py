"""The device key in a TPM, by systemd's credentials: sealed, refused, put back, lost; and the recovery key after that."""

import hashlib
import os

from expect import Table, equal, holds
from served import MANAGER, SECRET, UNIT, chatelaine, get, put, restart, run_tool, serve, shown

TABLE = Table()
row = TABLE.row
KEY = "/etc/chatelaine/device.key"
CREDENTIAL = "/etc/credstore.encrypted/chatelaine-device-key"
HOLDER = "chatelaine-credential.service"
STORE = "/var/lib/chatelaine/1000/keychain.db"
DUMP = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).iterdump())"
TPM = "swtpm:host=127.0.0.1,port=2321"
COMMAND = "/usr/bin/chatelaine"
GROUP = "org.test.command"
POLICY = f"""[Application org.test.Command]
Executable=/usr/bin/chatelaine
AccessGroups={GROUP}
"""
# What systemd 252 and 257 say.
REASONS = ("policy digest does not match", "Failed to unseal secret using TPM2")
SERVICE = """[Unit]
DefaultDependencies=no
Before=sysinit.target

[Service]
StateDirectory=swtpm
ExecStart=/usr/bin/swtpm socket --tpm2 --tpmstate dir=/var/lib/swtpm --server type=tcp,port=2321 \\
    --ctrl type=tcp,port=2322 --flags not-need-init,startup-clear
"""


def give_tpm(box):
    """Before it boots: the first process takes a TPM in software for the machine's."""
    box.write("/etc/systemd/system.conf.d/tpm.conf", f"[Manager]\nManagerEnvironment=SYSTEMD_TPM2_DEVICE={TPM}\n")
    box.write("/etc/systemd/system/swtpm.service", SERVICE)
    # A TPM in software is reached over the network, which a machine's own is not.
    box.write(f"/etc/systemd/system/{HOLDER}.d/tpm.conf", "[Service]\nPrivateNetwork=no\nIPAddressDeny=\n")
    box.link("../swtpm.service", "/etc/systemd/system/sysinit.target.wants/swtpm.service")


def tpm(box, tool, *arguments):
    box.until(
        lambda: box.run(tool, *arguments, environment=(f"TPM2TOOLS_TCTI={TPM}",), check=False).returncode == 0,
        f"the TPM does {tool}",
    )


def boot_tpm(box, *measured, clear=False):
    """As the machine's firmware after a start: empty registers, then what it measures into the seventh."""
    # In order: a TPM takes a power cut for an attack, and closes after some.
    tpm(box, "tpm2_shutdown", "--clear")
    box.run("systemctl", "stop", "swtpm.service")
    if clear:
        box.run("sh", "-c", "rm -rf /var/lib/swtpm/*")
    box.run("systemctl", "reset-failed", check=False)
    box.run("systemctl", "start", "swtpm.service")
    for what in measured:
        tpm(box, "tpm2_pcrextend", f"7:sha256={hashlib.sha256(what.encode()).hexdigest()}")


def seal(box, key):
    """As chatelained(8) has it."""
    box.run("mkdir", "--parents", os.path.dirname(CREDENTIAL))
    box.run(
        "systemd-creds", "encrypt", "--with-key=tpm2", f"--tpm2-device={TPM}", "--tpm2-pcrs=7",
        "--name=chatelaine-device-key", key, CREDENTIAL,
    )  # fmt: skip
    # What sealing leaves in a TPM without a resource manager is gone with its next start.
    boot_tpm(box, "firmware")


def conditions(box):
    return chatelaine(box, "alice", "--json", "status")["Conditions"]


def missing(box):
    """The state without a key: the broker runs, was tried once, made nothing and opens nothing."""
    equal(shown(box, "ActiveState", "SubState", "NRestarts"), ["active", "running", "0"])
    equal(conditions(box), ["device-key-missing"])
    equal(box.run("test", "-e", KEY, check=False).returncode, 1, "that a key was made")
    done = run_tool(box, "alice", COMMAND, "get", "--group", GROUP, "--service", "s")
    equal((done.returncode, done.stdout), (5, ""))
    holds("NotAvailable" in done.stderr and "device key" in done.stderr, done.stderr)


def digest(box):
    """Of all that is in the store; the broker is stopped for it."""
    box.run("systemctl", "stop", UNIT)
    dump = box.output("python3", "-c", DUMP, STORE)
    box.run("chown", "--recursive", "chatelaine:", os.path.dirname(STORE))
    return hashlib.sha256(dump.encode()).hexdigest()


def tried(box):
    """How often the credential was tried since the machine is up."""
    return box.journal(f"--unit={HOLDER}", "--output=cat").count("Starting ")


@row("KT01", "the device key sealed to a TPM", "the file is removed, a restart", "the store opens; no key in a file")
def sealed(box):
    put(box, "alice", COMMAND, GROUP)
    box.run("cp", KEY, "/root/kept.key")
    boot_tpm(box, "firmware", clear=True)
    seal(box, KEY)
    box.run("rm", KEY)
    restart(box)
    equal(conditions(box), [])
    equal(get(box, "alice", COMMAND, GROUP), SECRET)
    equal(box.run("test", "-e", KEY, check=False).returncode, 1, "that a key was made")
    place = f"/run/credentials/{HOLDER}/chatelaine-device-key"
    for user in ("alice", "chatelaine"):
        holds(box.run("cat", place, user=user, check=False).returncode != 0, f"{user} does not read it there")


@row("B182", "another PCR 7", "the machine starts", "device-key-missing, one attempt, nothing lost; the journal says why")
def changed_pcr(box):
    before, attempts = digest(box), tried(box)
    boot_tpm(box, "another firmware")
    restart(box)
    missing(box)
    for _ in range(5):
        conditions(box)
    equal(tried(box), attempts + 1, "how often it was tried")
    equal(digest(box), before, "the store")
    holds("243/CREDENTIALS" in box.journal(f"--unit={HOLDER}", "--output=cat"), "the unit's end says what failed")
    # A later systemd says it in no unit's name.
    said = box.journal("--output=cat")
    holds(any(reason in said for reason in REASONS), "the journal says why")
    holds("systemctl status chatelaine-credential" in box.journal(f"--unit={UNIT}", "--output=cat"), "where to look")


@row("KT02", "the PCR of before again", "the machine starts", "the store opens with all that was in it")
def pcr_put_back(box):
    boot_tpm(box, "firmware")
    restart(box)
    equal(conditions(box), [])
    equal(get(box, "alice", COMMAND, GROUP), SECRET)


@row("KT03", "the credential is gone, and no file", "a restart", "device-key-missing; opens when it is back")
def missing_credential(box):
    before = digest(box)
    box.run("mv", CREDENTIAL, "/root/kept.credential")
    restart(box)
    missing(box)
    equal(digest(box), before, "the store")
    box.run("mv", "/root/kept.credential", CREDENTIAL)
    boot_tpm(box, "firmware")
    restart(box)
    equal(get(box, "alice", COMMAND, GROUP), SECRET)


@row("KT04", "a TPM that was cleared, or another one", "the machine starts; a new key; the recovery key",
     "nothing lost before it is agreed to; what may leave the device is open again")  # fmt: skip
def cleared(box):
    item = ("--group", GROUP, "--service", "device", "--accessible", "when-unlocked-this-device-only")
    equal(run_tool(box, "alice", COMMAND, "set", *item, input="of the device").returncode, 0)
    key = run_tool(box, "alice", COMMAND, "recovery", "create")
    equal((key.returncode, len(key.stdout)), (0, 42), key.stderr)
    before = digest(box)
    boot_tpm(box, "firmware", clear=True)
    restart(box)
    missing(box)
    equal(chatelaine(box, "alice", "--json", "status")["RecoveryKeySet"], True)
    equal(digest(box), before, "the store")
    box.run("sh", "-ec", "umask 077; head -c 32 /dev/urandom >/root/new.key")
    seal(box, "/root/new.key")
    restart(box)
    missing(box)
    done = run_tool(box, "alice", COMMAND, "recovery", "use", input=key.stdout + "\n")
    equal((done.returncode, done.stdout), (2, ""), "without agreement")
    holds("--lose 1" in done.stderr, done.stderr)
    equal(digest(box), before, "the store")
    done = run_tool(box, "alice", COMMAND, "--json", "recovery", "use", "--lose", "1", input=key.stdout + "\n")
    equal((done.returncode, done.stdout), (0, '{"Kept":1,"Lost":1}\n'), done.stderr)
    equal(conditions(box), [])
    equal(get(box, "alice", COMMAND, GROUP), SECRET)
    boot_tpm(box, "firmware")
    restart(box)
    equal(get(box, "alice", COMMAND, GROUP), SECRET)


@row("KT05", "a credential that is refused, and no store at all", "the broker starts, a program calls",
     "it starts, makes no key and no store")  # fmt: skip
def refused_at_first(box):
    box.run("systemctl", "stop", UNIT)
    box.run("mv", "/var/lib/chatelaine", "/root/kept.state")
    boot_tpm(box, "another firmware")
    restart(box)
    missing(box)
    done = box.run("find", "/var/lib/chatelaine/", "-name", "*.db")
    equal(done.stdout, "", "stores that were made")
    holds("ListGroups" not in box.output("busctl", "call", *MANAGER, "ListClients"), "the manager answers")


@row("SU20", "the real logind, and UnlockWithSession= as it is and with yes", "loginctl locks and unlocks alice's session",
     "locked until the passcode; open again with the session")  # fmt: skip
def with_session(box):
    box.run("systemctl", "stop", UNIT)
    box.run("rm", "--recursive", "--force", "/var/lib/chatelaine", CREDENTIAL)
    box.run("sh", "-c", f"[ -e {KEY} ] || cp /root/kept.key {KEY}")
    with box.start_login("alice", "cat") as session:
        box.until(lambda: "alice" in box.output("loginctl", "list-sessions"), "alice has a session")
        for follows in (False, True):
            box.write("/etc/chatelaine/chatelained.conf", "[Broker]\nUnlockWithSession=yes\n" if follows else "")
            restart(box)
            passcode = ("passcode", "set") if not follows else ("unlock",)
            equal(run_tool(box, "alice", COMMAND, *passcode, input="a passcode\n").returncode, 0)
            box.run("loginctl", "lock-sessions")
            box.until(lambda: state(box) == "locked", "the session's lock has locked it")
            box.run("loginctl", "unlock-sessions")
            if follows:
                box.until(lambda: state(box) == "unlocked", "the session's unlock has opened it")
            else:
                # A second lock would be told of, had the first one been undone.
                box.run("loginctl", "lock-sessions")
                equal(state(box), "locked")
                said = box.journal(f"--unit={UNIT}", "--output=cat")
                equal(said.count("user 1000: locked by session-lock"), 1, "how often it was locked")
        session.stdin.close()


def state(box):
    return chatelaine(box, "alice", "--json", "status")["State"]


def run(report, box, kind, programs):
    give_tpm(box)
    serve(box, programs, POLICY)
    for entry in TABLE.rows:
        report.play(entry._replace(number=f"{entry.number}-{kind}"), lambda entry=entry: entry.play(box))
