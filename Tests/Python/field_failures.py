"""How other credential stores failed in the field, each played on ours and named by its row.

A row `B123-more` is a neighbour of the row B123. Each id of the list is played or is not here, once.
"""

import contextlib

import field_absent
import field_clock
import field_concurrency
import field_durability
import field_fidelity
import field_identity
import field_keys
import field_lock
import field_login
import field_logout
import field_owner
import field_portal
import field_refresh
import field_refresh_alone
import field_refresh_storm
import field_scale
import field_secret_prompts
import field_secret_service
import field_secret_traffic
import field_secret_values
import field_sessions
import field_start
import field_uninstall
import late_home
import secret_stage
from stage import Stage

# Those of the first kind share a stage, the existing programs' share one of theirs; the others make worlds of their own,
# and get none.
SHARED = (field_fidelity, field_identity, field_lock, field_logout, field_refresh, field_concurrency, field_scale)
ALONE = (
    field_durability,
    field_clock,
    field_keys,
    field_start,
    field_login,
    late_home,
    field_uninstall,
    field_sessions,
    field_owner,
    field_refresh_alone,
    field_refresh_storm,
    field_secret_prompts,
    field_portal,
)
FRONT = (field_secret_service, field_secret_traffic, field_secret_values)
IDS = """
B001 B003 B004 B005 B006 B007 B010 B013 B014 B015 B017 B018 B019 B022 B023 B024 B025 B028 B029 B030 B031 B033
B035 B036 B037 B038 B041 B042 B044 B045 B047 B049 B051 B052 B053 B054 B055 B056 B057 B059 B060 B062 B063 B066
B067 B069 B071 B072 B073 B075 B076 B077 B079 B080 B082 B084 B086 B087 B089 B090 B092 B093 B095 B096 B097 B099
B101 B103 B104 B105 B106 B108 B109 B110 B114 B115 B117 B118 B119 B121 B122 B123 B124 B125 B127 B128 B130 B131
B132 B133 B135 B137 B138 B140 B143 B144 B145 B147 B149 B150 B151 B153 B155 B157 B158 B159 B161 B162 B164 B166
B167 B169 B170 B171 B173 B174 B175 B176 B178 B179 B182 B184
""".split()


def check_complete():
    """Every id once, among the rows and the absent together; every neighbour beside a row of its id."""
    numbers = [row.number for part in SHARED + FRONT + ALONE for row in part.TABLE.rows]
    main = [number for number in numbers if "-" not in number] + list(field_absent.TABLE.absent)
    problems = [f"{number} occurs {main.count(number)} times" for number in IDS if main.count(number) != 1]
    problems += [f"{number} is no id" for number in main if number not in IDS]
    problems += [number for number in numbers if number.split("-")[0] not in IDS]
    problems += [f"{number} occurs twice" for number in set(numbers) if numbers.count(number) > 1]
    if problems:
        raise AssertionError("; ".join(problems))


def run(report):
    check_complete()
    for number, reason in field_absent.TABLE.absent.items():
        report.not_here(number, reason)
    with contextlib.closing(Stage()) as stage:
        for part in SHARED:
            for row in part.TABLE.rows:
                report.play(row, lambda row=row: row.play(stage.emptied()))
    for part in FRONT:
        secret_stage.play(report, part.TABLE)
    for part in ALONE:
        for row in part.TABLE.rows:
            report.play(row, row.play)
