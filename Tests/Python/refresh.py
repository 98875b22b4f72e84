"""`.Refresh`: one process refreshes an item and the others wait for its result, each in processes of their own."""

import contextlib

import refresh_allowed
import refresh_disk
import refresh_locked
import refresh_turns
from stage import Stage

SHARED = (refresh_turns, refresh_locked, refresh_allowed)


def run(report):
    with contextlib.closing(Stage()) as stage:
        for part in SHARED:
            for row in part.TABLE.rows:
                report.play(row, lambda row=row: row.play(stage.emptied()))
    for row in refresh_disk.TABLE.rows:
        report.play(row, row.play)
