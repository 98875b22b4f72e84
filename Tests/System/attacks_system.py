"""The attacks of Tests/AttackTests on the broker of the system."""

import attacks
from attacks import BINDS

__all__ = ["BINDS", "run"]


def run(report, box, kind, programs):
    attacks.run(report, box, kind, programs, mode="system")
