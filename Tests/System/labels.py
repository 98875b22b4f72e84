"""Attacks on labels of security modules, each under a kernel that has that module."""

import os
import shlex

import attacks
import uml
from box_folder import REPOSITORY, quietly

KINDS = ("trixie",)
ARGUMENTS = {
    "apparmor": "lsm=yama,apparmor apparmor=1",
    "selinux": "lsm=yama,selinux security=selinux selinux=1 enforcing=0",
}
SELINUX = "/etc/selinux/attack"
POLICY_VERSION = "33"


MODES = ("user", "system")


def run(report, box, kind, programs):
    box.install(programs)
    box.copy(f"{REPOSITORY}/Tests", attacks.TESTS)
    box.add_user("alice", 1000)
    bring_selinux(box)
    for module, arguments in ARGUMENTS.items():
        commands = [attacks.command(report, f"{kind}-{module}", mode, (module,)) for mode in MODES]
        lines = uml.run(box, "; ".join(map(shlex.join, commands)), arguments).splitlines()
        if attacks.pass_on(report, lines) != len(MODES):
            report.fail(f"labels-{kind}-{module}", "ended before it had all counts")


def bring_selinux(box):
    """A policy of the tests' own, and what libselinux, the bus and PAM want to find beside one."""
    policy = box.path(f"{SELINUX}/policy/policy.{POLICY_VERSION}")
    os.makedirs(os.path.dirname(policy))
    source = f"{REPOSITORY}/Tests/AttackTests/selinux.cil"
    quietly("secilc", "-c", POLICY_VERSION, "-o", policy, "-f", "/dev/null", source)
    box.write("/etc/selinux/config", "SELINUX=permissive\nSELINUXTYPE=attack\n")
    box.write(f"{SELINUX}/contexts/files/file_contexts", "")
    box.write(f"{SELINUX}/contexts/dbus_contexts", "<busconfig><selinux></selinux></busconfig>\n")
    for name in os.listdir(box.path("/etc/pam.d")):
        path = box.path(f"/etc/pam.d/{name}")
        with open(path) as file:
            lines = file.readlines()
        box.write(f"/etc/pam.d/{name}", "".join(line for line in lines if "pam_selinux" not in line))
