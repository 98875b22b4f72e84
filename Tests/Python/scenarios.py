"""The scenario list S001 to S168 of the item semantics, through the real bus.

Each number stands once: as a row that is played, in the form that the rulings give it, or in the list of
what is not here, with the reason.
"""

import contextlib

import scenarios_absent
import scenarios_access_control
import scenarios_crud
import scenarios_delete
import scenarios_groups
import scenarios_lock
import scenarios_schema
import scenarios_storage
import scenarios_update
from stage import Stage

PARTS = (
    scenarios_crud,
    scenarios_update,
    scenarios_delete,
    scenarios_groups,
    scenarios_lock,
    scenarios_access_control,
    scenarios_storage,
    scenarios_schema,
)
NUMBERS = [f"S{number:03}" for number in range(1, 169)]


def rows():
    return [row for part in PARTS for row in part.TABLE.rows]


def check_complete():
    """Every number exactly once, among the rows and the absent together."""
    found = [row.number for row in rows()] + list(scenarios_absent.TABLE.absent)
    problems = [
        f"{number} occurs {found.count(number)} times" for number in NUMBERS if found.count(number) != 1
    ]
    problems += [f"{number} is in no list of scenarios" for number in found if number not in NUMBERS]
    if problems:
        raise AssertionError("; ".join(problems))


def run(report):
    check_complete()
    for number, reason in scenarios_absent.TABLE.absent.items():
        report.not_here(number, reason)
    with contextlib.closing(Stage()) as stage:
        for row in rows():
            report.play(row, lambda row=row: row.play(stage.emptied()))
