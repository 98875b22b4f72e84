"""Eight real processes share three rotating tokens that live for two seconds, while holders and the broker are killed
with `kill -9` and the device is locked; the server revokes a family whose refresh token is used twice.

Afterwards the server's own log and the diaries of the processes are held against each other.
"""

import contextlib
import json
import os
import random
import time
from collections import Counter

from expect import Row, equal, generic, holds
from harness import World
from token_client import MARGIN, place, query, secret_of
from token_server import TokenServer

ACCESS_MS, GRACE_MS, DELAY_MS = 2_000, 1_000, 30
SECONDS = 20
# How long a right to refresh lasts, which whoever waits may see the end of.
LEASE = 60
PROGRAMS = ("mail",) * 3 + ("helper",) * 3 + ("calendar",) * 2
BACKGROUND, FOREGROUND = ("one", "two"), ("front",)
ACCESSIBLE = dict.fromkeys(BACKGROUND, "after-first-unlock") | dict.fromkeys(FOREGROUND, "when-unlocked")


def overlapping(spans, begun, ended):
    """Those of the spans that have some of that time."""
    return [span for span in spans if span[0] <= ended and span[1] >= begun]


def place_of(line):
    return line["family"], line["generation"]


class Storm:
    def __init__(self, world, server, seed):
        self.world, self.server, self.random = world, server, random.Random(seed)
        self.diary_path, self.stop_path = world._inside("diary"), world._inside("stop")
        self.diary, self.read_to, self.started = [], 0, 0
        # By process: when it was killed.
        self.killed = {}
        # From when to when the broker was away or waited for its first unlock, the device was locked, nobody lived.
        self.broker_gone, self.locked, self.ended = [], [], []
        self.clients = {}
        self.counts = {"kills": 0, "brokers": 0, "locks": 0, "sessions": 0, "sign-ins": 0}

    # What goes on

    def begin(self):
        for account in ACCESSIBLE:
            self.sign_in(account)
        for program in PROGRAMS:
            self.start(program)

    def sign_in(self, account):
        item = generic(Account=account, Accessible=ACCESSIBLE[account], IfRevision=0)
        self.world.mail.store(item, secret_of(self.server.sign_in()))
        self.counts["sign-ins"] += 1

    def start(self, program):
        self.started += 1
        accounts = [*BACKGROUND, *(() if program == "helper" else FOREGROUND)]
        puppet = self.world.puppet(program)
        puppet.start(
            "keep_fresh", self.server.port, self.diary_path, self.stop_path, accounts, self.started
        )
        self.clients[puppet.process.pid] = (program, puppet)

    def read_diary(self):
        """The lines that are new."""
        with contextlib.suppress(FileNotFoundError), open(self.diary_path, "rb") as file:
            file.seek(self.read_to)
            text = file.read()
            text = text[: text.rfind(b"\n") + 1]
            self.read_to += len(text)
            new = [json.loads(line) for line in text.splitlines()]
            self.diary += new
            return new
        return []

    def next_line(self, *what, seconds=3.0):
        """The next line of that kind; None when none comes in that time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for line in self.read_diary():
                if line["what"] in what:
                    return line
            time.sleep(0.003)
        return None

    # What goes wrong

    def kill(self, process):
        if process in self.clients:
            program, puppet = self.clients.pop(process)
            puppet.kill()
            self.killed[process] = time.monotonic()
            self.counts["kills"] += 1
            return program
        return None

    def kill_holder(self):
        """While its request is on the way, at the server, or on the way back."""
        line = self.next_line("asks")
        if line:
            time.sleep(self.random.uniform(0, 0.09))
            program = self.kill(line["process"])
            if program:
                self.start(program)

    def kill_any(self):
        self.start(self.kill(self.random.choice(list(self.clients))))

    def end_session(self):
        """Everybody at once, a holder in the middle; nobody comes before the grace time is over."""
        self.next_line("asks")
        time.sleep(0.05)
        begun = time.monotonic()
        programs = [self.kill(process) for process in list(self.clients)]
        self.counts["sessions"] += 1
        time.sleep(GRACE_MS / 1000 + 0.2)
        self.ended.append((begun, time.monotonic()))
        for program in programs:
            self.start(program)

    def lock(self):
        self.next_line("asks")
        begun = time.monotonic()
        self.world.lock()
        equal(self.world.user.property("State"), "locked", "the state after a lock")
        self.counts["locks"] += 1
        time.sleep(self.random.uniform(0.1, 0.6))
        self.world.unlock()
        self.locked.append((begun, time.monotonic()))

    def kill_broker(self):
        """Between Begin and Complete. Its holder lives on: where both die, the grant is open for its 60 seconds."""
        holder = self.next_line("asks")
        time.sleep(self.random.uniform(0, 0.09))
        begun = time.monotonic()
        self.world.kill()
        self.counts["brokers"] += 1
        self.world.start()
        self.world.unlock()
        self.broker_gone.append((begun, time.monotonic()))
        if holder:
            self.next_line("stored", "lost", "rejected")

    def play(self, seconds):
        deadline = time.monotonic() + seconds
        actions = [self.kill_holder] * 10 + [self.kill_any] * 3 + [self.lock] * 3 + [self.kill_broker] * 3
        sessions = [deadline - seconds * part for part in (0.35, 0.7)]
        while time.monotonic() < deadline:
            if sessions and time.monotonic() > sessions[-1]:
                sessions.pop()
                self.end_session()
            else:
                self.random.choice(actions)()
            for account in ACCESSIBLE:
                if self.world.mail.find(query(account)) is None:
                    self.sign_in(account)
        with open(self.stop_path, "w"):
            pass
        used = sum(puppet.finish() for _, puppet in self.clients.values())
        self.read_diary()
        return used

    # What came of it

    def judge(self):
        exchanges, asked = self.server.exchanges(), {}
        for line in self.diary:
            if line["what"] == "asks":
                asked.setdefault((line["family"], line["generation"]), []).append(line)
        rotations, losses = {}, []
        for exchange in exchanges:
            token = exchange["family"], exchange["generation"]
            if exchange["outcome"] == "rotated":
                rotations[token] = exchange["time"] / 1e6
            elif exchange["outcome"] == "reused":
                losses.append(token)
        for token, lines in asked.items():
            self.judge_askers(token, lines)
        for line in self.diary:
            if line["what"] == "refused":
                self.judge_refusal(line)
        stored = Counter(place_of(line) for line in self.diary if line["what"] == "stored")
        equal([token for token, times in stored.items() if times > 1], [], "tokens that were refreshed twice")
        self.judge_expiries(rotations)
        for token in losses:
            self.judge_loss(token, asked[token], rotations[token])
        closed = [line for line in self.diary if line["what"] in ("closed", "lost")]
        equal(closed, [], "tokens that did not open the mail, and leases that were lost")
        self.judge_store(rotations)
        equal(self.server.statistics()["families_revoked"], len(losses), "the families that are revoked")
        return len(rotations), len(losses)

    def judge_askers(self, token, lines):
        """At no time had two living processes the right to refresh the same token."""
        for before, after in zip(lines, lines[1:]):
            killed = self.killed.get(before["process"])
            holds(killed and killed < after["time"] + 0.5, f"whoever asked before for {token} was dead")
            holds(before["fence"] < after["fence"], "fences grow")

    def judge_expiries(self, rotations):
        """A token is refreshed no sooner than it comes near its end."""
        for (family, generation), when in rotations.items():
            before = rotations.get((family, generation - 1))
            if before is not None:
                holds(when - before >= ACCESS_MS / 1000 - MARGIN, f"{family}.{generation} had expired")

    def judge_loss(self, token, lines, rotated):
        """Its holder was killed before it stored, and nobody could have been given the token in time."""
        end = rotated + GRACE_MS / 1000
        killed = [self.killed.get(line["process"]) for line in lines if line["time"] <= end]
        holds(killed and all(killed), f"whoever asked for {token} in time was killed")
        # A lock closes its own items alone; a grant of a broker that has ended stays closed to others.
        locked = self.locked if lines[0]["account"] in FOREGROUND else []
        apart = overlapping(self.ended + self.broker_gone + locked, lines[0]["time"], end)
        holds(apart, f"nobody could have been given {token} in time")

    def judge_refusal(self, line):
        """What the broker refused, or did not answer, has its reason."""
        name, account, when = line["error"], line["account"], line["time"]
        if name == "InteractionNotAllowed":
            reasons = self.broker_gone + (self.locked if account in FOREGROUND else [])
            reasons = overlapping(reasons, line["since"], when)
        elif name == "Busy":
            # A holder that died with its broker has the item for the rest of its time.
            reasons = overlapping(self.broker_gone, when - LEASE, when)
        else:
            reasons = overlapping(self.broker_gone, line["since"], when)
        holds(reasons, f"'{account}' was refused for a reason: {name}")

    def judge_store(self, rotations):
        """What is in the store is what the server takes next."""
        for account in ACCESSIBLE:
            item = self.world.mail.find(query(account))
            if item:
                family, generation = place(json.loads(item.secret)["refresh_token"])
                holds((family, generation) not in rotations, f"the token of '{account}' is the current one")
                holds(generation == 1 or (family, generation - 1) in rotations, "and was given out")


def run(report, seconds=SECONDS, seed=None):
    seed = seed or random.randrange(1 << 32)
    what = f"{len(PROGRAMS)} processes for {seconds} s, seed {seed}"

    def play():
        with (
            TokenServer(access_ms=ACCESS_MS, grace_ms=GRACE_MS, delay_ms=DELAY_MS) as server,
            World() as world,
        ):
            storm = Storm(world, server, seed)
            try:
                storm.begin()
                used = storm.play(seconds)
                refreshes, losses = storm.judge()
            finally:
                for _, puppet in storm.clients.values():
                    puppet.process.kill()
                    puppet.process.wait()
            statistics = server.statistics()
            print(
                f"   {used} tokens used, {refreshes} rotated, 0 refreshed twice, {statistics['repeated']} answers"
                f" repeated; {statistics['families_revoked']} families revoked, {losses} of them by holders that were"
                " killed, past the grace time; 0 tokens lost to anything else; "
                + ", ".join(f"{count} {name}" for name, count in storm.counts.items()),
                flush=True,
            )
            holds(refreshes > seconds / 4, "the storm refreshed something")

    report.play(
        Row("T01", what, "kills, locks, restarts", "one refresh an expiry; every loss is a kill's", play), play
    )
