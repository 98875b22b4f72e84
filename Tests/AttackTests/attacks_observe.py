"""A group in observe mode: desktop programs are let in, and sandboxes gain nothing by it."""

import contextlib
import os
import subprocess

from attacks_program import bubble
from attacks_sandbox import APP, DENIED, command, needs_flatpak
from expect import NotHere, Table, equal, holds, refused, same_secret, secret
from harness import START_SECONDS
from scene import PROGRAM, item, shut_out

TABLE = Table()
row = TABLE.row
WATCHED = "org.test.watched"
POLICY = f"[AccessGroup {WATCHED}]\nMode=observe\n"
PROXY = "/usr/bin/xdg-dbus-proxy"


def watched():
    return item(AccessGroup=WATCHED)


@contextlib.contextmanager
def observed(w):
    """The group, and an ordinary program of the user's that is let in, before and after."""
    with w.policy(POLICY), w.running(w.own("ordinary")) as ordinary:
        ordinary.store(watched(), secret())
        yield
        same_secret(ordinary.read(watched()).secret, secret(), "what the ordinary program reads afterwards")
        ordinary.logout(WATCHED, "", "over")


def is_refused(program):
    for call in (program.read, program.search, program.delete):
        refused("MissingEntitlement", call, watched())
    refused("MissingEntitlement", program.store, watched(), secret("forged"))
    refused("MissingEntitlement", program.subscribe, WATCHED)
    refused("MissingEntitlement", program.logout, WATCHED, "", "forged")


@row("A50", "a group in observe mode", "a real Flatpak application names it", "denied, and logged as denied")
def a50(w):
    needs_flatpak()
    with observed(w):
        for verb in (("get", "--service", "attack"), ("list",), ("delete", "--service", "attack")):
            done = command(w, APP, verb[0], "--group", WATCHED, *verb[1:])
            equal(done.returncode, DENIED, f"the status of {verb[0]} ({done.stderr})")
    entries = [one for one in w.decisions() if one.get("CHATELAINE_GROUP") == WATCHED]
    entries = [one for one in entries if one["CHATELAINE_PROGRAM"] == APP]
    holds(entries and {one["CHATELAINE_DECISION"] for one in entries} == {"deny"}, f"the log: {entries}")


@row("A51", "a group in observe mode", "a program in a sandbox of the user's making names it", "denied")
def a51(w):
    with observed(w), w.honest(), w.running(PROGRAM, bubble(w.own("evil"), PROGRAM)) as sandboxed:
        is_refused(sandboxed)
        shut_out(sandboxed)


@row("A52", "a group in observe mode", "a sandboxed program names it through a proxy outside", "denied: a carrier")
def a52(w):
    if not os.path.exists(PROXY):
        raise NotHere("xdg-dbus-proxy is missing")
    place = f"{w.user.environment['XDG_RUNTIME_DIR']}/attack-proxy"
    with observed(w):
        proxy = subprocess.Popen(
            [*w.user.wrap, PROXY, w.address, place, "--fd=1"], stdout=subprocess.PIPE, env=w.environment
        )
        try:
            equal(proxy.stdout.read(1), b"x", "what the proxy says when its socket is there")
            with w.running(PROGRAM, bubble(w.own("evil"), PROGRAM)) as sandboxed:
                sandboxed.disconnect()
                sandboxed.connect(f"unix:path={place}")
                is_refused(sandboxed)
        finally:
            proxy.terminate()
            proxy.wait(START_SECONDS)
            proxy.stdout.close()
