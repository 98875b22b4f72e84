"""Looks for bytes where they should not be: in files, in a process, on a bus."""

import base64
import os

PAGE = 1 << 20


def forms(value):
    """The value raw, and as it would look in base64 (at each of the three offsets) and in hexadecimal."""
    shapes = {"raw": value, "hex": value.hex().encode(), "HEX": value.hex().upper().encode()}
    for offset in range(3):
        # The first and the last group depend on what stands beside the value.
        encoded = base64.b64encode(bytes(offset) + value)
        shapes[f"base64+{offset}"] = encoded[4 if offset else 0 : -4]
    return shapes


def found_in(data, values):
    """Which of the named values the data holds in which form: `{"name (form)": count}`."""
    counts = {}
    for name, value in values.items():
        for form, shape in forms(value).items():
            if count := data.count(shape):
                counts[f"{name} ({form})"] = count
    return counts


def content(path):
    """The bytes of a file; none where it has gone meanwhile."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def files(folder):
    """Every file under the folder, by its path."""
    return {
        os.path.join(base, name): content(os.path.join(base, name))
        for base, _, names in os.walk(folder)
        for name in names
    }


def files_with(folder, pieces):
    """`{file's name: how many of the pieces it has}`, without those that have none."""
    counts = {
        os.path.basename(path): sum(piece in data for piece in pieces) for path, data in files(folder).items()
    }
    return {name: count for name, count in counts.items() if count}
