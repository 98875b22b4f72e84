"""The one place that knows how the store looks on the disk: tests damage it here and nowhere else."""

import contextlib
import os
import sqlite3
import time

TABLES = {"background_items": 1, "foreground_items": 2}
CHECKPOINT_SECONDS = 15.0
MAGIC = b"SQLite format 3\0"


class StoreFile:
    """The store of a world whose broker is stopped meanwhile; it is started and unlocked again after."""

    def __init__(self, path):
        self.database = sqlite3.connect(path, isolation_level=None)

    @classmethod
    def path(cls, state):
        """The SQLite file under the state folder."""
        found = []
        for folder, _, names in os.walk(state):
            for name in names:
                candidate = os.path.join(folder, name)
                with open(candidate, "rb") as file:
                    if file.read(len(MAGIC)) == MAGIC:
                        found.append(candidate)
        if len(found) != 1:
            raise AssertionError(f"the state folder has {len(found)} SQLite files")
        return found[0]

    @classmethod
    @contextlib.contextmanager
    def of(cls, world):
        with cls.stopped(world) as path:
            store = cls(path)
            try:
                yield store
            finally:
                store.database.close()
        world.unlock()

    @classmethod
    @contextlib.contextmanager
    def stopped(cls, world):
        """The file's path while the broker is stopped; all that is stored is in this one file then."""
        world.stop()
        try:
            path = cls.path(world.state)
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield path
        finally:
            world.start()

    def forget_refreshes(self):
        """The store becomes one of a broker from before refreshes."""
        self.database.executescript(
            """
            DROP TABLE refresh_grants; DROP TABLE refresh_completions;
            DELETE FROM numbers WHERE name = 'next-fence';
            """
        )

    def become_first(self):
        """The store becomes one of the first release; nothing may be in it that came by org.freedesktop.secrets."""
        self.forget_refreshes()
        for table in TABLES:
            self.database.execute(f"DROP INDEX {table}_renewal")

    @classmethod
    def await_checkpoint(cls, world):
        """Until the running broker has truncated its log, which nothing tells: so this asks now and then."""
        log, deadline = cls.path(world.state) + "-wal", time.monotonic() + CHECKPOINT_SECONDS
        while os.path.getsize(log):
            if time.monotonic() > deadline:
                raise AssertionError(f"the log is not truncated {CHECKPOINT_SECONDS:.0f} s after a delete")
            time.sleep(0.1)

    def flip(self, reference, column):
        """Changes one bit in the middle of a sealed value."""
        table, row, value = self._cell(reference, column)
        middle = len(value) // 2
        changed = value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
        self._set(table, row, column, changed)

    def swap(self, first, second, column):
        """Exchanges a sealed value of two rows."""
        one, other = self._cell(first, column), self._cell(second, column)
        self._set(one[0], one[1], column, other[2])
        self._set(other[0], other[1], column, one[2])

    def set_group(self, reference, name):
        """Puts a row under another group, as an editor of the file could."""
        (group,) = self.database.execute("SELECT id FROM groups WHERE name = ?", (name,)).fetchone()
        table, row, _ = self._cell(reference, "secret")
        self._set(table, row, "group_id", group)
        self.database.execute(
            "UPDATE tokens SET group_id = ? WHERE item = ? AND side = ?", (group, row, TABLES[table])
        )

    def pieces(self, reference):
        """The sealed parts of a row and the tokens that it shares with no other: what must be gone with it.

        Empty where there is no such row.
        """
        found = self._find(reference)
        if found is None:
            return []
        table, row = found
        columns = "primary_token, tokens, attributes, secret"
        cells = self.database.execute(f"SELECT {columns} FROM {table} WHERE id = ?", (row,)).fetchone()
        tokens = self.database.execute(
            "SELECT token FROM tokens GROUP BY token HAVING count(*) = 1 AND max(item) = ? AND max(side) = ?",
            (row, TABLES[table]),
        ).fetchall()
        # Slices, since a long value is cut in pieces at the file's pages.
        slices = [sealed[at : at + 24] for sealed in cells[2:] for at in range(0, len(sealed) - 24, 160)]
        return [cells[0], *(token for (token,) in tokens), *slices]

    def wrapped_keys(self):
        """The class keys as the keybag's slot has them."""
        return [sealed for (sealed,) in self.database.execute("SELECT sealed FROM keybag_keys")]

    def has(self, reference):
        return self._find(reference) is not None

    def _find(self, reference):
        for table in TABLES:
            found = self.database.execute(
                f"SELECT id FROM {table} WHERE reference IN (?, ?)", (bytes.fromhex(reference), reference)
            ).fetchone()
            if found:
                return table, found[0]
        return None

    def _cell(self, reference, column):
        table, row = self._find(reference)
        (value,) = self.database.execute(f"SELECT {column} FROM {table} WHERE id = ?", (row,)).fetchone()
        return table, row, value

    def _set(self, table, row, column, value):
        changed = self.database.execute(
            f"UPDATE {table} SET {column} = ? WHERE id = ?", (value, row)
        ).rowcount
        if changed != 1:
            raise AssertionError("the row to damage is not there")
