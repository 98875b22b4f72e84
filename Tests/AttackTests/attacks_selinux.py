"""Labels of SELinux, for a machine whose kernel has it, with the policy of selinux.cil, which only logs at first."""

import os

from expect import Table, holds, refused, same_secret, secret
from scene import FOLDER, item, shut_out

TABLE = Table()
row = TABLE.row
GROUP, LABEL, FILE_LABEL = (
    "org.test.label",
    "system_u:system_r:labelled_t",
    "system_u:object_r:labelled_exec_t",
)
PROGRAM = FOLDER + "/bin/labelled"
POLICY = f"""[Application org.test.Labelled]
SecurityLabel={LABEL}
AccessGroups={GROUP}

[AccessGroup {GROUP}]
RequireTrust={{trust}}
"""
# Where the broker is the system's, the kernel vouches for a label; the bus has it of the connection.
TRUST = {"user": "file", "system": "kernel"}
ENFORCE = "/sys/fs/selinux/enforce"
TAKE = f"open('/proc/thread-self/attr/exec', 'w').write('{LABEL}')"
GIVE = f"import os; os.setxattr('{{path}}', 'security.selinux', b'{FILE_LABEL}')"


def enforce(is_enforcing):
    with open(ENFORCE, "w") as file:
        file.write(str(int(is_enforcing)))


def install(w):
    """The program with the label; only where the policy is not enforced may it be given one."""
    enforce(False)
    w.install(PROGRAM)
    os.setxattr(PROGRAM, "security.selinux", FILE_LABEL.encode())


@row(
    "A62", "a group for an SELinux label", "SELinux only logs, so that anybody may take it", "denied, to all"
)
def a62(w):
    install(w)
    evil = w.own("evil")
    taking = [evil, "-c", f"import os, sys; {TAKE}; os.execv(sys.argv[1], sys.argv[1:])"]
    with w.honest(), w.policy(POLICY.format(trust=TRUST[w.mode])):
        with w.running(PROGRAM) as labelled:
            refused("MissingEntitlement", labelled.search, item(AccessGroup=GROUP))
        with w.running(evil, taking) as impostor:
            refused("MissingEntitlement", impostor.search, item(AccessGroup=GROUP))
            shut_out(impostor)


@row(
    "A63",
    "a group for an SELinux label",
    "a program without it; it is taken, given",
    "denied; refused by the kernel",
)
def a63(w):
    install(w)
    enforce(True)
    evil = w.own("evil")
    try:
        with w.honest(), w.policy(POLICY.format(trust=TRUST[w.mode])):
            with w.running(PROGRAM) as labelled:
                labelled.store(item(AccessGroup=GROUP), secret("label"))
                shut_out(labelled, unnamed="ok")
            with w.running(evil) as impostor:
                refused("MissingEntitlement", impostor.read, item(AccessGroup=GROUP))
                shut_out(impostor)
            for attempt in (TAKE, GIVE.format(path=evil)):
                done = w.user.run(evil, "-c", attempt)
                holds("Permission denied" in done.stderr, f"it is refused: {done.stderr}")
            with w.running(PROGRAM) as labelled:
                same_secret(labelled.read(item(AccessGroup=GROUP)).secret, secret("label"))
    finally:
        enforce(False)
