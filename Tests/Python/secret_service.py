"""The front of existing programs, org.freedesktop.secrets: whose items, when they are locked, what lasts, what is refused."""

import secret_hostile
import secret_isolation
import secret_lasting
import secret_limits
import secret_locked
import secret_native
import secret_policy
import secret_strangers
from secret_stage import play

SHARED = (
    secret_isolation,
    secret_policy,
    secret_strangers,
    secret_native,
    secret_locked,
    secret_lasting,
    secret_limits,
    secret_hostile,
)


def run(report):
    for part in SHARED:
        play(report, part.TABLE)
