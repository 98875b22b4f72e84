"""A terminal in a box, and what a person types there: driven by lines on its standard input.

    typist.py PROGRAM ARGUMENT ...

`{"wait": TEXT}` is answered with what was shown up to the text, `{"type": TEXT}` types it, `{"end": true}` waits for the
program's end; an answer is `{"shown": TEXT}`, with `"ended": STATUS` where the program has ended.
"""

import json
import os
import pty
import select
import sys
import time

SECONDS = 30
HANG_UP_SECONDS = 0.02


def main(*command):
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    process, shown = os.pidfd_open(child), ""
    for line in sys.stdin:
        order = json.loads(line)
        if "type" in order:
            os.write(terminal, order["type"].encode())
            answer = {}
        else:
            shown, answer = wait(terminal, child, process, shown, order.get("wait"))
        print(json.dumps(answer), flush=True)


def wait(terminal, child, process, shown, text):
    """What is left for the next one, and what is answered."""
    deadline = time.monotonic() + SECONDS
    while text is None or text not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return shown, {"shown": shown, "late": True}
        try:
            shown += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            # Nobody has the other side open: the program has ended, or it is login, which hangs up and opens it anew.
            if select.select([process], [], [], HANG_UP_SECONDS)[0]:
                _, status = os.waitpid(child, 0)
                return "", {"shown": shown, "ended": os.waitstatus_to_exitcode(status)}
    before, _, after = shown.partition(text)
    return after, {"shown": before}


if __name__ == "__main__":
    main(*sys.argv[1:])
