"""The installed project on a whole machine, with --user: what a person has after logging in."""

import json
import os

from expect import SECRET_MARK, Table, equal, holds

TABLE = Table()
row = TABLE.row
POLICY = """[Application org.test.Command]
Executable=/usr/bin/chatelaine
AccessGroups=org.test.command
"""
UNIT = "chatelained.service"
SECRET = f"{SECRET_MARK}:on-a-machine"


@row(
    "M01", "a machine with the project installed", "it boots", "no unit has failed, both buses are the kind's"
)
def m01(box):
    equal(box.output("systemctl", "list-units", "--failed", "--plain", "--no-legend"), "")
    # A process's name has fifteen bytes.
    wanted = {"dbus-daemon": "dbus-daemon", "dbus-broker": "dbus-broker-lau"}[box.bus]
    script = """busctl --user list >/dev/null
for manager in "systemctl" "systemctl --user"; do
    cat /proc/$($manager show --property=MainPID --value dbus.service)/comm
done
"""
    equal(in_session(box, script).splitlines(), [wanted, wanted], "the system's and the user's bus")


@row("M02", "a user who has just logged in", "the first call", "the bus has the broker started, as a unit")
def m02(box):
    script = f"""chatelaine --json status
systemctl --user show --property=ActiveState --value {UNIT}
systemctl --user show --property=NRestarts --value {UNIT}
"""
    status, state, restarts = in_session(box, script).splitlines()
    holds('"State":"unlocked"' in status.replace(" ", ""), f"a new keychain is unlocked: {status}")
    equal((state, restarts), ("active", "0"))


@row("M03", "an item of a program's, by policy", "another program reads it", "the one has it, the other not")
def m03(box):
    script = f"""printf %s {SECRET} | chatelaine set --group org.test.command --service s --account a >/dev/null
chatelaine get --group org.test.command --service s
echo
cp /usr/bin/chatelaine ./copy && ./copy get --group org.test.command --service s 2>&1 || echo $?
"""
    secret, refusal, status = in_session(box, script).splitlines()
    equal(secret, SECRET, "what the program reads")
    holds("org.chatelaine.Error.MissingEntitlement" in refusal, f"the copy is refused: {refusal}")
    equal(status, "3", "the copy's exit status, which is that of a denial")


@row("M04", "decisions of the broker in its unit", "the journal", "each is there, and no secret")
def m04(box):
    def journal():
        return box.journal("--output=json", "_SYSTEMD_USER_UNIT=" + UNIT)

    # The broker gathers its lines for a moment.
    for decision in ("allow", "deny"):
        entry = f'"CHATELAINE_DECISION":"{decision}"'
        box.until(lambda entry=entry: entry in journal().replace(" ", ""), f"{decision} is in the journal")
    holds(SECRET_MARK not in journal(), "no secret is in the journal")


@row("B166", "a lingering user's broker, the home not mounted", "mount it", "it waits; the real store, no restart")
def b166(box):
    box.add_user("carol", 1002)
    sh(box, "mv /home/carol /home/.carol; mkdir /home/carol; loginctl enable-linger carol")
    buses = ("XDG_RUNTIME_DIR=/run/user/1002", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1002/bus")

    def carol(*command):
        return box.run(*command, user="carol", environment=buses).stdout

    def conditions():
        return json.loads(carol("chatelaine", "--json", "status"))["Conditions"]

    try:
        manager = ("systemctl", "is-active", "--quiet", "user@1002.service")
        box.until(lambda: box.run(*manager, check=False).returncode == 0, "carol's manager runs")
        carol("systemctl", "--user", "start", UNIT)
        equal(conditions(), ["waiting-for-store"])
        equal(os.listdir(box.path("/home/carol")), [], "what is in the mount point")
        sh(box, "mount --bind /home/.carol /home/carol")
        box.until(lambda: not conditions(), "the store is there")
        holds(os.path.exists(box.path("/home/.carol/.local/state/chatelaine/keychain.db")), "the store is in the home")
        equal(carol("systemctl", "--user", "show", "--property=NRestarts", "--value", UNIT).strip(), "0")
    finally:
        sh(box, "loginctl disable-linger carol; systemctl stop user@1002; umount --quiet /home/carol || true")


def sh(box, script):
    box.run("sh", "-ec", script)


def in_session(box, script):
    return box.login("alice", "sh", "-ec", f"cd; {script}").stdout


def run(report, box, kind, programs):
    box.install(programs)
    box.write("/etc/chatelaine/policy.d/60-test.conf", POLICY)
    box.boot()
    box.add_user("alice", 1000)
    for one in TABLE.rows:
        report.play(one._replace(number=f"{one.number}-{kind}"), lambda one=one: one.play(box))
