"""Gated items: the person is asked, by the real prompter, whose pinentry the test plays."""

from presence_attacks import TABLE as ATTACKS
from presence_enrolled import TABLE as ENROLLED
from presence_finger import TABLE as FINGER
from presence_passcode import TABLE as PASSCODE
from presence_polkit import TABLE as POLKIT
from presence_stage import PresenceStage
from harness import World

TABLES = (PASSCODE, ATTACKS, POLKIT, FINGER, ENROLLED)


def run(report):
    with World(passcode=True) as world:
        stage = PresenceStage(world)
        for table in TABLES:
            for one in table.rows:
                report.play(one, lambda one=one: play(stage, one))
        stage.close()


def play(stage, one):
    try:
        stage.begin()
        one.play(stage)
        stage.nothing_asked()
    except BaseException:
        # What a row has left open is not the next one's.
        stage.clear()
        raise
