"""The direct endpoint: the contract over peer-to-peer D-Bus, and peers that do wrong."""


import direct_contract
import direct_hostile
import direct_socket
from harness import World


def run(report):
    with World(direct=True) as world:
        for row in direct_contract.TABLE.rows + direct_hostile.TABLE.rows:
            report.play(row, lambda row=row: play(row, world))
    for row in direct_socket.TABLE.rows:
        report.play(row, row.play)


def play(row, world):
    world.revive()
    row.play(world)


