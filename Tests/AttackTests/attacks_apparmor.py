"""Profiles of AppArmor, for a machine whose kernel has it."""

from expect import Table, equal, refused, same_secret, secret
from scene import FOLDER, item, ran, shut_out, write

TABLE = Table()
row = TABLE.row
GROUP, LABEL = "org.test.label", "attack-label"
PROGRAM = FOLDER + "/bin/labelled"
POLICY = f"""[Application org.test.Labelled]
SecurityLabel={LABEL}
AccessGroups={GROUP}
"""
# A profile that allows everything is as good a label as any.
PROFILES = f"""abi <abi/4.0>,
profile {LABEL} {PROGRAM} {{ allow all, }}
profile {LABEL}-more {PROGRAM}-more {{ allow all, }}
profile {LABEL}-logs {PROGRAM}-logs flags=(complain) {{ allow all, }}
profile {LABEL}-held {PROGRAM}-held {{ file, network, capability, signal, ptrace, }}
"""
TAKE = f"open('/proc/thread-self/attr/apparmor/exec', 'w').write('exec {LABEL}')"


def load_profiles():
    write("/etc/apparmor.d/attack", PROFILES)
    ran("apparmor_parser", "--replace", "/etc/apparmor.d/attack")


@row(
    "A60",
    "a group for an AppArmor profile",
    "programs with no profile, with another, with one that only logs",
    "denied; the program that the profile holds gets in",
)
def a60(w):
    load_profiles()
    w.install(PROGRAM)
    with w.honest(), w.policy(POLICY):
        with w.running(PROGRAM) as labelled:
            labelled.store(item(AccessGroup=GROUP), secret("label"))
            shut_out(labelled, unnamed="ok")
        for path in (FOLDER + "/bin/unlabelled", PROGRAM + "-more", PROGRAM + "-logs"):
            with w.running(w.install(path)) as impostor:
                refused("MissingEntitlement", impostor.read, item(AccessGroup=GROUP))
                shut_out(impostor, unnamed="ItemNotFound")
        with w.running(PROGRAM) as labelled:
            same_secret(labelled.read(item(AccessGroup=GROUP)).secret, secret("label"))


@row(
    "A61",
    "a group for an AppArmor profile",
    "a process that none holds gives itself that profile (aa-exec)",
    "WINS at `file`, by design: AppArmor lets it. A process that one holds cannot",
)
def a61(w):
    load_profiles()
    w.install(PROGRAM)
    evil = w.own("evil")
    with w.policy(POLICY):
        with w.running(PROGRAM) as labelled:
            labelled.store(item(AccessGroup=GROUP), secret("label"))
        with w.running(evil, ["aa-exec", "-p", LABEL, "--"]) as taken:
            same_secret(taken.read(item(AccessGroup=GROUP)).secret, secret("label"))
    for program, is_held in ((evil, False), (w.install(PROGRAM + "-held"), True)):
        done = w.user.run(program, "-c", TAKE)
        equal("Permission denied" in done.stderr, is_held, f"whether {program} is refused it: {done.stderr}")
