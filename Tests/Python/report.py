"""One line for each row, and the counts."""

import traceback

from connection import BrokerError, WireViolation
from expect import NotHere, redacted


class Report:
    def __init__(self, only=""):
        self.only = only
        self.passed = self.failed = self.skipped = 0

    def wants(self, number):
        return number.startswith(self.only)

    def play(self, row, play):
        """Plays a row and prints how it went; a row's failure is no end of the suite."""
        if not self.wants(row.number):
            return
        what = f"{row.given}: {row.when} -> {row.then}"
        try:
            play()
        except NotHere as reason:
            return self.not_here(row.number, reason)
        except (AssertionError, BrokerError, WireViolation) as difference:
            return self.fail(row.number, f"{what}: {difference} [{_place(difference)}]")
        except Exception as problem:
            return self.fail(row.number, f"{what}: {type(problem).__name__}: {problem} [{_place(problem)}]")
        self.passed += 1
        print(f"ok {row.number} {what}", flush=True)

    def not_here(self, number, reason):
        if self.wants(number):
            self.skipped += 1
            print(f"not here {number} ({reason})", flush=True)

    def fail(self, number, difference):
        self.failed += 1
        print(f"FAIL {number} {redacted(str(difference))}", flush=True)

    def take_over(self, line):
        """Counts and prints a row that another process has played; whether the line is one's."""
        if not line.startswith(("ok ", "not here ", "FAIL ")):
            return False
        self.passed += line.startswith("ok ")
        self.skipped += line.startswith("not here ")
        self.failed += line.startswith("FAIL ")
        print(line, end="", flush=True)
        return True


def _place(error):
    """The last line of a suite's own that the error came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/Tests/" in frame.filename]
    inner = [
        frame for frame in frames if not frame.filename.endswith(("expect.py", "puppets.py", "connection.py"))
    ]
    frame = (inner or frames)[-1]
    return f"{frame.filename.rsplit('/', 1)[1]}:{frame.lineno}"
