"""A program that keeps access tokens fresh, by the rules of the client library, and writes down what it does.

Each line of its diary is written at once and whole: what was done before a `kill -9` is there after it.
"""

import http.client
import json
import os
import random
import time
import urllib.parse

from connection import BrokerError
from expect import generic

# Renewed so long before its end.
MARGIN = 0.5
PATIENCE = 10_000_000
PAUSE = 0.03


def query(account):
    return generic(Account=account)


def secret_of(tokens):
    """The item's secret: an answer of the server, with the time at which it ends."""
    return json.dumps(tokens | {"expires": time.time() + tokens["expires_in"]}).encode()


def ask(port, method, path, form=None, access=None):
    """One request; status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Authorization": f"Bearer {access}"} if access else {}
    body = urllib.parse.urlencode(form) if form else None
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    answer = response.status, json.loads(response.read())
    connection.close()
    return answer


def refresh(port, token):
    """What the token endpoint says to a refresh token."""
    return ask(port, "POST", "/token", {"grant_type": "refresh_token", "refresh_token": token})


def place(token):
    """Family and generation of a refresh token, which this server writes into it."""
    _, family, generation, _ = token.split("-")
    return int(family), int(generation)


class TokenClient:
    def __init__(self, client, port, diary, stop, accounts, seed):
        self.client, self.port, self.stop, self.accounts = client, port, stop, accounts
        self.diary = os.open(diary, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.random = random.Random(seed)
        self.answered = time.monotonic()

    def run(self):
        """Until the file of that name is there; how many tokens were used."""
        used = 0
        while not os.path.exists(self.stop):
            for account in self.accounts:
                used += self.is_served(account)
            time.sleep(self.random.uniform(0, 2 * PAUSE))
        return used

    def note(self, what, account, token=None, **more):
        family, generation = place(token) if token else (0, 0)
        line = {"time": time.monotonic(), "process": os.getpid(), "what": what, "account": account}
        line |= {"family": family, "generation": generation, **more}
        os.write(self.diary, (json.dumps(line) + "\n").encode())

    def is_served(self, account):
        try:
            used = self.obtain(account)
            self.answered = time.monotonic()
            return used
        except BrokerError as error:
            if error.name == "ItemNotFound":
                self.note("absent", account)
            elif not self.passes(error, account):
                raise
            return False

    def passes(self, error, account):
        """Whether the broker is away, or the device is locked, or somebody else is at it. The diary has it, and when
        the broker last gave an answer."""
        self.note("refused", account, error=error.name, since=self.answered)
        if error.name.startswith("org.freedesktop.DBus.Error.") or error.name == "NoSession":
            self.client.forget_session()
            return True
        self.answered = time.monotonic()
        return error.name in ("InteractionNotAllowed", "Busy")

    def obtain(self, account):
        item = self.client.read(query(account))
        tokens = json.loads(item.secret)
        if tokens["expires"] - time.time() > MARGIN:
            status, _ = ask(self.port, "GET", "/mail", access=tokens["access_token"])
            if status != 200:
                self.note("closed", account, tokens["refresh_token"])
            return True
        outcome, fence, item = self.client.begin(query(account), item.attributes["Revision"], PATIENCE)
        if outcome == "granted":
            self.renew(account, fence, json.loads(item.secret)["refresh_token"])
        return True

    def renew(self, account, fence, token):
        self.note("asks", account, token, fence=fence)
        status, answer = refresh(self.port, token)
        self.note("hears", account, token, status=status)
        if status == 200:
            revision = self.until_answered(account, self.client.complete, fence, {}, secret_of(answer))
            self.note("stored" if revision else "lost", account, token, revision=revision)
        else:
            self.until_answered(account, self.client.fail, fence, "rejected")
            self.note("rejected", account, token)

    def until_answered(self, account, call, *arguments):
        """Says it again to the next broker where one ends; None where the lease went to somebody else."""
        while True:
            try:
                return call(*arguments)
            except BrokerError as error:
                if error.name in ("LeaseLost", "ItemNotFound"):
                    return None
                if not self.passes(error, account):
                    raise
            time.sleep(PAUSE)
