"""Runs of suites at the same time, each a process of its own.

A suite waits most of its time: for a pause, a lease, a derivation. Two of them keep two processors as busy as one does
one.
"""

import collections
import selectors
import subprocess

END_SECONDS = 30


def play(runs, count, report):
    """Plays the runs, each a name and a command that prints rows, in their order and so many at once. What they print
    is printed and counted as it comes."""
    waiting, playing = collections.deque(runs), []
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or playing:
                while waiting and len(playing) < count:
                    playing.append(Run(*waiting.popleft()))
                    selector.register(playing[-1].output, selectors.EVENT_READ, playing[-1])
                for key, _ in selector.select():
                    if not key.data.pass_on(report):
                        selector.unregister(key.fileobj)
                        playing.remove(key.data)
        finally:
            for run in playing:
                run.end()


class Run:
    def __init__(self, name, command):
        self.name, self.failed, self.rest = name, False, b""
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
        )
        self.output = self.process.stdout

    def pass_on(self, report):
        """Whole lines of what it has printed; whether there may be more."""
        piece = self.output.read(1 << 16)
        *lines, self.rest = (self.rest + piece).split(b"\n")
        for line in lines:
            self._pass_on(line.decode(errors="replace") + "\n", report)
        if piece:
            return True
        self.output.close()
        if (status := self.process.wait()) != 0 and not self.failed:
            report.fail(self.name, f"ended with {status}, and no row has failed")
        return False

    def _pass_on(self, line, report):
        self.failed = self.failed or line.startswith("FAIL ")
        # Its counts are among those of all.
        if not report.take_over(line) and not line.endswith(" skipped\n"):
            print(line, end="", flush=True)

    def end(self):
        """As whoever ends the whole ends this."""
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()
