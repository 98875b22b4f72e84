"""The main job, step by step, by separate programs on a private bus. Each step says what happens, shows
the commands with their true output, and fails when that is not what it says.

    swift build && /usr/bin/python3 Sources/Examples/demo.py
"""

import sys

from stage import Difference, Stage, tell

POLICY = """\
[Application org.example.Mail]
Executable={folder}/bin/demo-mail
AccessGroups=org.example.mail

[Application org.example.Mail.Sync]
Executable={folder}/bin/demo-sync
AccessGroups=org.example.mail
Role=background

[Application org.example.Stranger]
Executable={folder}/bin/demo-stranger
AccessGroups=org.example.other

[AccessGroup org.example.mail]
RequireTrust=user

[AccessGroup org.example.other]
RequireTrust=user

[Manager]
Executable=/usr/bin/busctl
"""
TOKEN, KEY, PASSCODE = "ya29.demo-token-8f41c9", "demo-drafts-key-77d2", "correct horse"
MANAGER = "org.chatelaine.Broker1 /org/chatelaine/Broker1 org.chatelaine.Broker1.Manager"
STATE = f"busctl --user get-property {MANAGER} State ProtectedDataAvailable"
FORCE_LOGOUT = f"busctl --user call {MANAGER} ForceLogout sss org.example.mail https://mail.example"
NOT_FOUND = ("not found: org.chatelaine.Error.ItemNotFound", "-25300")

STEPS = []


def step(title):
    def keep(play):
        STEPS.append((title, play))
        return play

    return keep


@step("The policy gives a mail program and its sync helper one access group, a stranger another.")
def policy(stage):
    with open(stage.path("policy", "50-demo.conf"), "w", encoding="utf-8") as file:
        file.write(POLICY.format(folder=stage.folder))
    stage.run("cat policy/50-demo.conf", "AccessGroups=org.example.mail")
    stage.run("chatelaine policy check policy", "org.example.Mail.Sync", "org.example.mail")
    stage.start_bus()
    stage.monitor = stage.start_monitor()
    stage.start_broker()
    stage.run("chatelaine status", "unlocked")
    return "a private bus and a broker with this policy; no passcode yet, so the device is unlocked"


@step("The mail program stores an OAuth token and the key of its drafts, in an encrypted session.")
def sign_in(stage):
    mail_signs_in(stage)
    return "stored in the group org.example.mail"


def mail_signs_in(stage):
    stage.run(f"demo-mail sign-in <<< $'{TOKEN}\\n{KEY}'", "stored the OAuth token")


@step("The sync helper, another program of the same group, reads the token.")
def shared(stage):
    stage.run("demo-sync once", TOKEN)
    return "shared: the helper has the very token that the mail program stored"


@step("The third program does not see it, and is denied when it names the group.")
def denied(stage):
    stage.run("demo-stranger", *NOT_FOUND, status=1)
    stage.run(
        "demo-stranger org.example.mail",
        "denied: org.chatelaine.Error.MissingEntitlement",
        "-34018",
        status=1,
    )
    return "denied; and what it does not name looks absent, so it learns nothing of what others keep"


@step("A passcode is set, the two programs subscribe, and the session is locked.")
def locked(stage):
    stage.run(f"chatelaine passcode set <<< '{PASSCODE}'")
    stage.run("chatelaine status", "unlocked")
    stage.mail = stage.start("demo-mail", "run")
    stage.mail.says("subscribed, the device is unlocked")
    stage.sync = stage.start("demo-sync", "run", "handled-epoch")
    stage.sync.says("subscribed, the device is unlocked", "holds the token")
    stage.run("chatelaine lock")
    stage.mail.says("locked: closed the drafts")
    stage.sync.says("locked: goes on with its work")
    stage.run(STATE, 's "locked"', "b false")
    return "locked: both programs were told, and protected data is no longer available"


@step("While locked, the helper reads the after-first-unlock token; the foreground item answers -25308.")
def while_locked(stage):
    stage.run("demo-sync once", TOKEN)
    stage.run(
        "demo-mail open-drafts", "locked: org.chatelaine.Error.InteractionNotAllowed", "-25308", status=1
    )
    return "locked: background work goes on; the foreground item is there, its key is not in memory"


@step("It is unlocked with the passcode, and not with a wrong one.")
def unlocked(stage):
    stage.run("chatelaine unlock <<< 'battery staple'", "AuthFailed", "-25293", status=3)
    stage.run(f"chatelaine unlock <<< '{PASSCODE}'")
    stage.mail.says("unlocked: drafts can be opened")
    stage.sync.says("unlocked: goes on with its work")
    stage.run("demo-mail open-drafts", KEY)
    return "unlocked: the foreground item is there again"


@step("An administrator forces a logout, with busctl: items are deleted, every subscriber is told.")
def logout(stage):
    stage.run(f"{FORCE_LOGOUT} 'account closed'", "uut 2 2 1")
    stage.mail.says("logout of https://mail.example (account closed), epoch 1")
    stage.sync.says("logout of https://mail.example (account closed), epoch 1", "dropped the token")
    stage.run("demo-sync once", *NOT_FOUND, status=1)
    stage.run("demo-mail open-drafts", *NOT_FOUND, status=1)
    return "logout: 2 items deleted, 2 subscribers told, and the group's logout epoch is 1"


@step("A helper that is not running during a logout learns of it from the epoch when it starts.")
def missed(stage):
    mail_signs_in(stage)
    stage.sync.end()
    tell("demo-sync", "(stopped)")
    stage.run(f"{FORCE_LOGOUT} 'password changed'", "uut 2 1 2")
    stage.mail.says("logout of https://mail.example (password changed), epoch 2")
    stage.sync = stage.start("demo-sync", "run", "handled-epoch")
    stage.sync.says("missed a logout: epoch 1 handled, now 2", "dropped the token")
    stage.sync.says("subscribed", "holds no token")
    return "logout: also whoever was not there drops what it held"


@step("A monitor has watched the bus all the time.")
def monitored(stage):
    seen = stage.monitor.seen
    counts = {what: seen.count(what.encode()) for what in ("https://mail.example", TOKEN, KEY, PASSCODE)}
    for what, count in counts.items():
        print(f"     {count:4} times '{what}'")
    if not counts.pop("https://mail.example"):
        raise Difference("the monitor did not see the calls")
    if any(counts.values()):
        raise Difference("a secret crossed the bus in clear")
    return "attributes cross the bus in clear, secrets and passcodes do not"


def main():
    try:
        with Stage() as stage:
            for number, (title, play) in enumerate(STEPS, 1):
                print(f"\n{number}. {title}", flush=True)
                try:
                    print(f"   ok: {play(stage)}", flush=True)
                except Difference as difference:
                    print(f"   FAIL: {difference}")
                    return count(number - 1, 1)
    except KeyboardInterrupt:
        print("\nInterrupted; everything that was started has been ended.")
        return 130
    return count(len(STEPS), 0)


def count(passed, failed):
    """The counts; a step after a failed one is skipped."""
    print(f"\n{passed} passed, {failed} failed, {len(STEPS) - passed - failed} skipped")
    return failed


if __name__ == "__main__":
    sys.exit(main())
