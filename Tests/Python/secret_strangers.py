"""Programs of whom nothing is known, carriers and sandboxed ones: who shares the group `unidentified`, and who does not."""

import os
import subprocess
import sys

from expect import NotHere, Table, equal, holds, refused, same_secret, secret
from observe import PROXY
from puppets import HERE
from secret_policy import everybody_stores
from secret_stage import (
    UNIDENTIFIED,
    Keyring,
    attributes,
    members,
)
from secret_words import (
    COLLECTION,
    DENIED,
    ITEM,
    LOGIN,
    NO_OBJECT,
    PROPERTIES,
    SESSION_COLLECTION,
)

TABLE = Table()
row = TABLE.row


@row("SR03", "programs that nobody knows", "store, search, read", "they share one group, and see no other")
def unidentified(s):
    items = everybody_stores(s)
    equal(s.other.search({}), ([items[2]], []), "what another unidentified program finds")
    same_secret(s.other.secret(items[2]), secret("loner"))
    for path in items[:2]:
        refused(NO_OBJECT, s.other.secret, path)
        refused(NO_OBJECT, s.other.delete, path)
    for keyring in (s.left, s.right):
        refused(NO_OBJECT, keyring.secret, items[2])
        keyring.heard()
    s.other.set(items[2], ITEM, "Label", "s", "renamed")
    s.other.create("other", attributes("o"), secret())
    holds("ItemChanged" in members(s.loner.heard()), "they hear of each other")
    equal((s.left.heard(), s.right.heard()), ([], []), "what the identified hear")
    holds(UNIDENTIFIED in s.world.admin.list_groups(), "an administrator sees the group")


@row(
    "SR04",
    "programs that nobody knows",
    "name their group on the native front",
    "MissingEntitlement, unless a policy gives it",
)
def only_here(s):
    path = s.loner.create("loner", attributes("l"), secret("loner"))
    native, item = s.world.nobody, {"Class": "generic-password", "AccessGroup": UNIDENTIFIED}
    refused("MissingEntitlement", native.search, item)
    refused("MissingEntitlement", native.subscribe, UNIDENTIFIED)
    refused("MissingEntitlement", native.logout, UNIDENTIFIED)
    # An administrator may give it to a program that had its items there before the policy knew it.
    s.policy(
        left=f"org.test.left {UNIDENTIFIED}", sections=f"\n[AccessGroup {UNIDENTIFIED}]\nRequireTrust=user\n"
    )
    same_secret(s.left.secret(path), secret("loner"), "what a program reads that has the group by policy")


def every_call(keyring, path):
    """What a program that may not come in tries."""
    return (
        lambda: keyring.search({}),
        lambda: keyring.collections(),
        lambda: keyring.get(LOGIN, COLLECTION, "Label"),
        lambda: keyring.items(),
        lambda: keyring.get(path, ITEM, "Label"),
        lambda: keyring.call(path, PROPERTIES, "GetAll", "s", (ITEM,)),
        lambda: keyring.secret(path),
        lambda: keyring.secrets([path]),
        lambda: keyring.create("r", attributes("r"), secret()),
        lambda: keyring.create("r", attributes("r"), secret(), SESSION_COLLECTION),
        lambda: keyring.set(path, ITEM, "Label", "s", "r"),
        lambda: keyring.set_secret(path, secret()),
        lambda: keyring.delete(path),
        lambda: keyring.create_collection("r"),
        lambda: keyring.set_alias("r", LOGIN),
        lambda: keyring.read_alias("default"),
        lambda: keyring.lock(LOGIN),
        lambda: keyring.unlock(LOGIN),
    )


@row("SR05", "Unidentified=refuse", "every call", "AccessDenied with a text, and nothing done")
def refuse(s):
    path = s.loner.create("loner", attributes("l"), secret("l"))
    s.loner.heard()
    s.policy(rules="Unidentified=refuse")
    for number, call in enumerate(every_call(s.loner, path)):
        holds(refused(DENIED, call).text, f"the refusal of call {number} has a text")
    mine = s.left.create("left", attributes("left"), secret("left"))
    same_secret(s.left.secret(mine), secret("left"), "who is identified goes on")
    equal(s.left.get(LOGIN, COLLECTION, "Locked"), False, "whether the refused one closed it")
    equal(s.loner.heard(), [], "what the refused one hears")
    s.policy()
    same_secret(s.loner.secret(path), secret("l"), "when they share again")


@row(
    "SR06", "a program in a namespace of its own", "every call", "AccessDenied: never one of the unidentified"
)
def sandboxed(s):
    if os.geteuid() != 0:
        raise NotHere("a mount namespace needs root")
    path = s.loner.create("loner", attributes("l"), secret("l"))
    program = s.path("other")
    apart = [sys.executable, os.path.join(HERE, "in_namespace.py"), "mount", program, program]
    for rules in ("", "Isolation=none"):
        s.policy(rules=rules)
        caged = s.another("other", apart)
        for call in every_call(caged, path):
            refused(DENIED, call)
        equal(caged.heard(), [], "what it hears")
    same_secret(s.loner.secret(path), secret("l"))


@row("SR07", "a carrier of others' wishes", "store, search", "it has no group of its own: unidentified")
def carriers(s):
    path = s.loner.create("loner", attributes("l"), secret("l"))
    s.policy(sections=f"\n[Carriers]\nExecutable={s.path('other')}\n")
    same_secret(s.another("other").secret(path), secret("l"))
    s.policy(sections=f"\n[Carriers]\nExecutable={s.path('other')}\n", rules="Unidentified=refuse")
    refused(DENIED, s.another("other").search, {})


@row(
    "SR10",
    "a sandboxed program behind a proxy that was started outside",
    "every call",
    "it is what the proxy is, a carrier: one of the unidentified, and no more",
)
def proxied(s):
    if os.geteuid() != 0 or not os.path.exists(PROXY):
        raise NotHere("a mount namespace and a proxy need root and xdg-dbus-proxy")
    path, foreign = (
        s.loner.create("l", attributes("l"), secret("l")),
        s.left.create("l", attributes("l"), secret()),
    )
    carriers = f"\n[Carriers]\nExecutable={PROXY}\n"
    program, socket = s.path("other"), os.path.join(s.folder, "proxy")
    proxy = subprocess.Popen(
        [PROXY, s.world.address, socket, "--fd=1"], stdout=subprocess.PIPE, env=s.world.environment
    )
    try:
        equal(proxy.stdout.read(1), b"x", "what the proxy says when its socket is there")
        apart = [sys.executable, os.path.join(HERE, "in_namespace.py"), "mount", program, program]
        s.policy(sections=carriers)
        caged = Keyring(s.another("other", apart).puppet, f"unix:path={socket}")
        equal(caged.search({}), ([path], []), "what it finds")
        refused(NO_OBJECT, caged.secret, foreign)
        s.policy(sections=carriers, rules="Unidentified=refuse")
        for call in every_call(caged, path):
            refused(DENIED, call)
    finally:
        proxy.terminate()
        proxy.wait()
        proxy.stdout.close()
