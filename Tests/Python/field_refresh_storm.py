"""Refreshes by several real processes against a server that revokes a family whose refresh token is used twice."""

import contextlib
import json
import os

from expect import Table, equal, generic, holds, refused
from harness import World
from token_client import place, query, secret_of
from token_server import TokenServer

TABLE = Table()
row = TABLE.row
ACCOUNT = "alice"
PROGRAMS = ("mail",) * 3 + ("helper",) * 2 + ("calendar",) * 2


@contextlib.contextmanager
def scene(**rules):
    """A server, a broker, seven processes, and an item with tokens that are at their end."""
    with TokenServer(grace_ms=0, **rules) as server, World() as world, contextlib.ExitStack() as stack:
        item = generic(Account=ACCOUNT, Accessible="after-first-unlock")
        revision = world.mail.store(item, secret_of(server.sign_in() | {"expires_in": 0}))[1]
        puppets = [stack.enter_context(contextlib.closing(world.puppet(name))) for name in PROGRAMS]
        diary = os.path.join(world.folder, "diary")
        yield server, world, puppets, diary, revision


def diary_of(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


@row(
    "B123",
    "7 processes, a token of 300 s, a server that revokes on reuse at once",
    "all find it at its end",
    "one refresh; no loser can delete what the winner stored",
)
def b123():
    with scene() as (server, world, puppets, diary, revision):
        for puppet in puppets:
            puppet.start("freshen", server.port, diary, ACCOUNT)
        for puppet in puppets:
            holds(puppet.finish(), "each has a token")
        equal([exchange["outcome"] for exchange in server.exchanges()], ["rotated"])
        tokens = json.loads(world.mail.read(query(ACCOUNT)).secret)
        equal(place(tokens["refresh_token"]), (1, 2), "the token that is stored")
        asked = [line for line in diary_of(diary) if line["what"] == "asks"]
        equal(len(asked), 1, "the processes that were let through")
        # A loser that heard 'invalid_grant' for the token it had wipes nothing.
        loser = puppets[-1]
        refused("LeaseLost", loser.fail, asked[0]["fence"], "rejected")
        refused("RevisionMismatch", loser.delete, query(ACCOUNT) | {"IfRevision": revision})
        equal(json.loads(world.mail.read(query(ACCOUNT)).secret), tokens)
        equal(server.statistics()["families_revoked"], 0)


@row(
    "B140-grant",
    "P2 read RT1, P1 rotated to RT2",
    "P2 wants to refresh with what it has",
    "it gets RT2, and a grant only for RT2",
)
def b140_grant():
    with scene() as (server, world, puppets, diary, revision):
        first, second = puppets[0], puppets[-1]
        first.freshen(server.port, diary, ACCOUNT)
        outcome, _, item = second.begin(query(ACCOUNT), revision, 0)
        equal((outcome, place(json.loads(item.secret)["refresh_token"])), ("current", (1, 2)))
        outcome, fence, item = second.begin(query(ACCOUNT), item.attributes["Revision"], 0)
        equal((outcome, place(json.loads(item.secret)["refresh_token"])), ("granted", (1, 2)))
        second.fail(fence, "transient")
        equal(server.statistics()["reused"], 0)
