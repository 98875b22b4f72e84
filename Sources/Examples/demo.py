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

[Application org.example.Mail.Inbox]
Executable={folder}/bin/demo-inbox
AccessGroups=org.example.mail

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
KEY, PASSCODE = "demo-drafts-key-77d2", "correct horse"
EIGHT = "demo-mail inbox & demo-mail inbox & demo-sync inbox & demo-sync inbox &" + " demo-inbox &" * 4 + " wait"
MANAGER = "org.chatelaine.Broker1 /org/chatelaine/Broker1 org.chatelaine.Broker1.Manager"
STATE = f"busctl --user get-property {MANAGER} State ProtectedDataAvailable"
FORCE_LOGOUT = f"busctl --user call {MANAGER} ForceLogout sss org.example.mail https://mail.example"
NO_REUSE = '"reused":0,"refused":0,"families_revoked":0'
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


@step("The mail program signs in, and stores tokens and the key of its drafts, in an encrypted session.")
def sign_in(stage):
    tell("demo-server", f"an authorization server that rotates refresh tokens, on port {stage.start_server()}")
    mail_signs_in(stage)
    return "stored in the group org.example.mail"


def mail_signs_in(stage):
    stage.run(f"demo-mail sign-in <<< '{KEY}'", "stored the tokens of the account")


@step("The sync helper, another program of the same group, reads the tokens.")
def shared(stage):
    stage.token = read_by_helper(stage)
    return "shared: the helper has what the mail program stored"


def read_by_helper(stage):
    """The access token that the helper shows."""
    return stage.run("demo-sync once", "read the tokens that the mail program stored: access-").split()[-1]


@step("The access token expires, and eight programs notice at once.")
def eight(stage):
    stage.run("demo-server expire")
    lines = stage.run(EIGHT, "3 messages").splitlines()
    if len(lines) != 8 or len(set(lines)) != 1:
        raise Difference("not all eight programs have the mail by the same token")
    stage.run("demo-server statistics", '"refreshes":1,', '"repeated":0,', NO_REUSE)
    return "one refresh for eight programs: the broker let one ask the server, and gave the others its answer"


@step("It expires again, and who renews it is killed when the server has answered, before anything is stored.")
def killed(stage):
    stage.run("demo-server expire")
    stage.run("demo-inbox --die", status=-9)
    tell("demo-inbox", "(killed by itself, with SIGKILL)")
    stage.run("demo-mail inbox", "3 messages")
    stage.run("demo-server statistics", '"refreshes":2,', '"repeated":1,', NO_REUSE)
    return "the next program was let through at once, in the server's grace time, and no token was lost"


@step("A program of another group does not see it, and is denied when it names the group.")
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


@step("While locked, the helper renews the after-first-unlock token; the foreground item answers -25308.")
def while_locked(stage):
    stage.run("demo-server expire")
    stage.run("demo-sync inbox", "3 messages")
    stage.run("demo-server statistics", '"refreshes":3,', NO_REUSE)
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
    # Tokens are all alike, and only the server's random part of them tells one from another.
    words = ("https://mail.example", stage.token, "access-", "refresh-", KEY, PASSCODE)
    counts = {what: seen.count(what.encode()) for what in words}
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
