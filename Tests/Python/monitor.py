"""A monitor of the bus: everything that everybody sends, as it crosses."""

import threading

from connection import Connection


class Monitor:
    """`with Monitor(address) as monitor:` what crosses the bus in the block; `monitor.seen()` has it all."""

    def __init__(self, address):
        self.connection = Connection(address)
        self.captured, self.change = bytearray(), threading.Condition()
        self.address, self.marks = address, 0

    def __enter__(self):
        self.connection.call(
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.Monitoring",
            "BecomeMonitor",
            "asu",
            ([], 0),
            to="org.freedesktop.DBus",
        )
        threading.Thread(target=self._read, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.connection.close()

    def _read(self):
        try:
            while data := self.connection.socket.recv(1 << 18):
                with self.change:
                    self.captured += data
                    self.change.notify_all()
        except OSError:
            return

    def await_count(self, count, text, since=0):
        """Until the text has crossed so often, after what had crossed at `since`."""
        with self.change:
            if not self.change.wait_for(lambda: self.captured.count(text, since) >= count, timeout=60):
                raise AssertionError(f"the monitor did not see {text} {count} times")

    def seen(self):
        """All that has crossed by now: the bus keeps the order, so a mark of our own says when it is here."""
        self.marks += 1
        mark = f"org.test.mark.number{self.marks}.end"
        sender = Connection(self.address)
        sender.bus_call("NameHasOwner", "s", (mark,))
        sender.close()
        with self.change:
            if not self.change.wait_for(lambda: mark.encode() in self.captured, timeout=60):
                raise AssertionError("the monitor did not see its own mark")
            return bytes(self.captured)
