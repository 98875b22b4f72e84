"""The broker as a service of the system: as README.md installs it, with its unit's walls."""

import os

from expect import SECRET_MARK, Table, equal, holds
from served import (
    MANAGER,
    NAME,
    SECRET,
    UNIT,
    chatelaine,
    get,
    limit,
    pid,
    put,
    restart,
    run_tool,
    serve,
    set_unit,
    shown,
    trust_of,
)

TABLE = Table()
row = TABLE.row
KEY = "/etc/chatelaine/device.key"
ENCRYPTED_KEY = "/etc/credstore.encrypted/chatelaine-device-key"
# What `systemd-analyze security` may say; it is measured from 0 (nothing exposed) to 10.
EXPOSURE_MAX = {UNIT: 1.5, "chatelaine-device-key.service": 1.0, "chatelaine-credential.service": 1.0}
CAPABILITIES = (1 << 2) | (1 << 19)  # CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE
HELPER = "/usr/lib/test/helper"
POLICY = """[Application org.test.Command]
Executable=/usr/bin/chatelaine
AccessGroups=org.test.command org.test.kernel

[Application org.test.Helper]
Group=test-helper
AccessGroups=org.test.kernel

[Application org.test.Home]
Executable=/home/alice/bin/tool
AccessGroups=org.test.home

[Application org.test.Temporary]
Executable=/tmp/tool
AccessGroups=org.test.home

[AccessGroup org.test.kernel]
RequireTrust=kernel

[AccessGroup org.test.home]
RequireTrust=user
"""


@row("V01", "a fresh machine", "the commands of README.md", "the broker is ready, with no step by hand")
def v01(box):
    equal(shown(box, "ActiveState", "SubState", "NRestarts"), ["active", "running", "0"])
    equal(box.output("stat", "--format=%a %U %s", KEY), "600 root 32", "the device key")
    equal(box.output("stat", "--format=%a %U", "/var/lib/chatelaine"), "700 chatelaine", "the stores")
    equal(box.output("stat", "--format=%a %U", "/run/chatelaine"), "755 chatelaine", "the runtime folder")
    equal(chatelaine(box, "alice", "--json", "status")["Conditions"], [])


@row("V02", "the unit", "what the kernel says of its process", "its user, two capabilities, a filter, no core")
def v02(box):
    lines = box.output("cat", f"/proc/{pid(box)}/status").splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    user = box.output("id", "--user", "chatelaine")
    equal(status["Uid"].split(), [user] * 4, "the user")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        equal(int(status[name], 16), CAPABILITIES, name)
    equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "no new privileges, and a filter")
    equal(limit(box, "core file size"), "0", "the size of a core file")


@row("V03", "the units' files", "systemd-analyze", "nothing to verify, and an exposure below each one's bound")
def v03(box):
    for unit, bound in EXPOSURE_MAX.items():
        done = box.run("systemd-analyze", "verify", "--man=no", unit)
        equal(done.stdout + done.stderr, "", f"what there is to say of {unit}")
        report = box.output("systemd-analyze", "security", "--no-pager", unit)
        exposure = float(report.split(f"exposure level for {unit}: ")[1].split()[0])
        print(f"# exposure of {unit}: {exposure}", flush=True)
        holds(exposure <= bound, f"the exposure of {unit} is {exposure}")


@row("V04", "a broker that is stopped", "a call", "the bus has it started, as the unit")
def v04(box):
    box.run("systemctl", "stop", UNIT)
    box.run("busctl", "call", *MANAGER, "ListClients")
    equal(shown(box, "ActiveState"), ["active"])


@row("V05", "an item", "the unit is restarted", "the item is there, under the same key")
def v05(box):
    put(box, "alice", "/usr/bin/chatelaine", "org.test.command")
    before = pid(box)
    restart(box)
    holds(pid(box) != before, "another process")
    equal(get(box, "alice", "/usr/bin/chatelaine", "org.test.command"), SECRET)


@row("V06", "the broker's name", "others, root among them, ask the bus for it", "the bus refuses")
def v06(box):
    box.run("systemctl", "stop", UNIT)
    bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
    request = (*bus, "RequestName", "su", NAME, "4")
    for user in ("alice", None):
        done = box.run("busctl", "call", *request, user=user, check=False)
        holds(done.returncode != 0 and "Access denied" in done.stderr, f"{user}: {done.stderr}")
    box.run("systemctl", "start", UNIT)


@row("V07", "programs of a user", "who they are to the broker", "file, user in a closed home and in /tmp")
def v07(box):
    equal(trust_of(box, "/usr/bin/chatelaine", "org.test.command"), ("org.test.Command", "file"))
    for place, application in (("/home/alice/bin/tool", "org.test.Home"), ("/tmp/tool", "org.test.Temporary")):
        equal(trust_of(box, place, "org.test.home"), (application, "user"), place)


@row("V08", "a group for kernel trust alone", "a set-group-id helper and another program", "the helper has it")
def v08(box):
    put(box, "alice", HELPER, "org.test.kernel")
    equal(get(box, "alice", HELPER, "org.test.kernel"), SECRET)
    equal(trust_of(box, HELPER, "org.test.kernel"), ("org.test.Helper", "kernel"))
    done = run_tool(box, "alice", "/usr/bin/chatelaine", "get", "--group", "org.test.kernel", "--service", "s")
    equal(done.returncode, 3, f"the exit status of a denial: {done.stderr}")
    holds(f"{NAME.rsplit('.', 1)[0]}.Error.MissingEntitlement" in done.stderr, done.stderr)


@row("V09", "a store, and no device key", "the unit starts", "no new key is made, and the broker says so")
def v09(box):
    put(box, "alice", "/usr/bin/chatelaine", "org.test.command")
    box.run("mv", KEY, "/root/kept.key")
    restart(box)
    equal(box.run("test", "-e", KEY, check=False).returncode, 1, "no key was made")
    equal(chatelaine(box, "alice", "--json", "status")["Conditions"], ["device-key-missing"])
    box.run("mv", "/root/kept.key", KEY)
    restart(box)
    equal(get(box, "alice", "/usr/bin/chatelaine", "org.test.command"), SECRET)


@row("V10", "the key as an encrypted credential alone", "a restart", "the store opens, with no second key")
def v10(box):
    put(box, "alice", "/usr/bin/chatelaine", "org.test.command")
    box.run("mkdir", "--parents", os.path.dirname(ENCRYPTED_KEY))
    box.run("systemd-creds", "encrypt", "--name=chatelaine-device-key", KEY, ENCRYPTED_KEY)
    box.run("rm", KEY)
    restart(box)
    equal(get(box, "alice", "/usr/bin/chatelaine", "org.test.command"), SECRET)
    equal(box.run("test", "-e", KEY, check=False).returncode, 1, "no second key was made")


@row("V11", "policy files", "one for this boot, and one of the broker's own user", "taken; refused by name")
def v11(box):
    file = "/run/chatelaine/policy.d/70-boot.conf"
    section = "[Application org.test.Boot]\nExecutable=/usr/bin/true\nAccessGroups=org.test.boot\n"
    box.run("install", "-D", "--mode=644", "/dev/stdin", file, input=section)
    box.run("busctl", "call", *MANAGER, "ReloadPolicy")
    box.run("chown", "chatelaine", file)
    done = box.run("busctl", "call", *MANAGER, "ReloadPolicy", check=False)
    holds(done.returncode != 0 and "70-boot.conf" in done.stderr, done.stderr)
    box.run("rm", "--recursive", "/run/chatelaine/policy.d")
    box.run("systemctl", "reload", UNIT)


@row("V12", "the unit's walls", "what is behind them", "no home, network, device; users, processes as outside")
def v12(box):
    process = f"/proc/{pid(box)}"
    holds("alice" in box.output("ls", "/home"), "there is a home")
    equal(box.output("ls", f"{process}/root/home"), "", "the homes that the broker sees")
    interfaces = box.output("cat", f"{process}/net/dev").splitlines()[2:]
    equal([line.split(":")[0].strip() for line in interfaces], ["lo"], "the network that it sees")
    equal(box.run("test", "-e", f"{process}/root/dev/fuse", check=False).returncode, 1, "a device")
    for name in ("user", "pid"):
        same = box.output("readlink", f"/proc/1/ns/{name}")
        equal(box.output("readlink", f"{process}/ns/{name}"), same, f"its {name} namespace")
    outside = box.output("readlink", "/proc/1/ns/mnt")
    holds(box.output("readlink", f"{process}/ns/mnt") != outside, "it has mounts of its own")


@row("V13", "the unit", "a broker that was taken over tries what it can", "it reads, and changes nothing")
def v13(box):
    box.copy(os.path.join(os.path.dirname(__file__), "walls.py"), "/opt/walls.py", 0o644)
    set_unit(box, "walls", "ExecStartPre=/usr/bin/python3 /opt/walls.py")
    restart(box, check=False)
    journal = box.journal("--unit", UNIT)
    holds("succeeded: nothing" in journal, journal)
    box.run("rm", f"/etc/systemd/system/{UNIT}.d/walls.conf")


@row("V14", "a broker that hangs", "its watchdog", "another one answers")
def v14(box):
    set_unit(box, "soon", "WatchdogSec=1s")
    restart(box)
    hung = pid(box)
    box.run("kill", "-STOP", hung)
    box.until(lambda: pid(box) not in (hung, "0"), "the unit has another process")
    box.run("busctl", "call", *MANAGER, "ListClients")


@row("V15", "all of the above", "the machine's journal", "no secret is in it")
def v15(box):
    journal = box.journal("--output=json", "--all")
    holds('"SYSLOG_IDENTIFIER":"chatelained"' in journal, "the broker's lines are there")
    holds(SECRET_MARK not in journal, "no secret is there")


def run(report, box, kind, programs):
    serve(box, programs, POLICY)
    box.run("groupadd", "--system", "test-helper")
    for place, mode in ((HELPER, "2755"), ("/home/alice/bin/tool", "755"), ("/tmp/tool", "755")):
        box.run("install", "-D", f"--mode={mode}", "/usr/bin/chatelaine", place)
    box.run("chgrp", "test-helper", HELPER)
    box.run("chmod", "2755", HELPER)
    box.run("chown", "--recursive", "alice:", "/home/alice/bin", "/tmp/tool")
    for one in TABLE.rows:
        report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one: one.play(box))
