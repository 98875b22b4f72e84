"""Who may refresh, what is refused, and what is written down of it."""

from expect import Table, equal, generic, holds, refused, secret, without
from policy import ONE
from refreshing import BACKGROUND, FOREGROUND, added, granted, query, stored, waits
from traces import found_in

TABLE = Table()
row = TABLE.row


@row("R20", "programs with less", "Begin, Complete, Fail", "MissingEntitlement, or the item is absent")
def r20(w):
    revision = added(w)
    refused("MissingEntitlement", w.nobody.begin, query(), revision, 0)
    refused("MissingEntitlement", w.nobody.complete, 1, {}, secret())
    refused("MissingEntitlement", w.nobody.fail, 1, "transient")
    refused("MissingEntitlement", w.stranger.begin, query() | {"AccessGroup": ONE}, revision, 0)
    refused("ItemNotFound", w.stranger.begin, query(), revision, 0)
    front = added(w, FOREGROUND)
    refused("ItemNotFound", w.helper.begin, query(FOREGROUND), front, 0)
    text = f"[Application org.test.Nobody]\nExecutable={w.executable('nobody')}\nAccessGroups={ONE}\n"
    with w.policy_file(text + "Operations=read\n"):
        refused("MissingEntitlement", w.nobody.begin, query(), revision, 0)
    with w.policy_file(text + "Operations=refresh\n"):
        fence = granted(w.nobody, revision)
        w.nobody.complete(fence, {}, secret("2"))
    stored(w, "2")


@row("R21", "a waiting call", "a new policy takes the group; the holder completes", "it is judged anew")
def r21(w):
    revision = added(w)
    text = f"[Application org.test.Nobody]\nExecutable={w.executable('nobody')}\nAccessGroups={ONE}\n"
    with w.policy_file(text):
        fence = granted(w.mail, revision)
        waits(w.nobody, revision)
    w.mail.complete(fence, {}, secret("2"))
    refused("MissingEntitlement", w.nobody.begun_answer)


@row("R22", "words that are none", "Fail, Begin", "Param, TooLarge; the grant stays")
def r22(w):
    revision = added(w)
    fence = granted(w.mail, revision)
    refused("Param", w.mail.fail, fence, "Transient")
    refused("TooLarge", w.mail.fail, fence, "transient", "x" * 1025)
    refused("Param", w.mail.begin, without(query(), "Class"), revision, 0)
    refused("Param", w.mail.begin, query() | {"Limit": 1}, revision, 0)
    refused("ItemNotFound", w.mail.begin, generic(Account="absent"), revision, 0)
    w.mail.complete(fence, {}, secret("2"))


@row("R26", "an item with an application password", "Begin", "Param: who knows it renews it by Update")
def r26(w):
    control = ("after-first-unlock", ["application-password"])
    given = without(BACKGROUND, "Accessible") | {"AccessControl": control}
    w.mail.add(given | {"ApplicationPassword": b"password"}, secret())
    refused("Param", w.mail.begin, query() | {"ApplicationPassword": b"password"}, 0, 0)
    refused("Param", w.mail.begin, query(), 0, 0)


@row("R27", "what is written down", "grants and results", "the audit names the operation, and no value")
def r27(w):
    before = len(w.log())
    revision = added(w)
    fence = granted(w.mail, revision)
    w.mail.begin(query(), 0, 0)
    w.mail.complete(fence, {}, secret("2"))
    w.stop()
    log = w.log()[before:]
    w.start()
    holds("refresh" in log, "the audit names the operation")
    equal(found_in(log.encode(), {"the secret": secret("1"), "the next": secret("2")}), {})
