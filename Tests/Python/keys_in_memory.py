"""The class keys of a store, opened from outside with the passcode (docs/FORMATS.md), and a look for them in the memory
of the process that has them. Needs libsodium, and root for the look.

    keys_in_memory.py PID < values, one hexadecimal a line      (prints the numbers of those that are there)
"""

import ctypes
import hashlib
import sqlite3
import sys

FOREGROUND, BACKGROUND = (1, 2, 3), (4, 5)
PURPOSES = (*FOREGROUND, *BACKGROUND)
CHUNK, OVERLAP = 1 << 20, 64
# What a process reserves and does not use.
MAPPING_MAX = 1 << 29


class Sodium:
    def __init__(self):
        self.library = ctypes.CDLL("libsodium.so.23")
        if self.library.sodium_init() < 0:
            raise OSError("libsodium does not start")

    def argon2id(self, passcode, salt, passes, kibibytes):
        out = ctypes.create_string_buffer(32)
        status = self.library.crypto_pwhash(
            out,
            ctypes.c_ulonglong(32),
            passcode,
            ctypes.c_ulonglong(len(passcode)),
            salt,
            ctypes.c_ulonglong(passes),
            ctypes.c_size_t(kibibytes << 10),
            self.library.crypto_pwhash_alg_argon2id13(),
        )
        if status != 0:
            raise MemoryError("Argon2id has no memory")
        return out.raw

    def open(self, key, sealed, associated):
        """What was sealed; an error where the key is another one."""
        out = ctypes.create_string_buffer(len(sealed) - 40)
        status = self.library.crypto_aead_xchacha20poly1305_ietf_decrypt(
            out,
            None,
            None,
            sealed[24:],
            ctypes.c_ulonglong(len(sealed) - 24),
            associated,
            ctypes.c_ulonglong(len(associated)),
            sealed[:24],
            key,
        )
        if status != 0:
            raise AssertionError("the keybag does not open with this passcode and device key")
        return out.raw

    def subkey(self, key, number, context):
        out = ctypes.create_string_buffer(32)
        self.library.crypto_kdf_derive_from_key(
            out, ctypes.c_size_t(32), ctypes.c_uint64(number), context, key
        )
        return out.raw


def class_keys(database, device_key, machine_id, passcode, user_id=None):
    """By purpose: the key and the three that come of it."""
    sodium = Sodium()
    context = b"chatelaine-device-1" if user_id is None else b"chatelaine-user-1" + user_id.to_bytes(4, "big")
    device = hashlib.blake2b(context + machine_id, key=device_key, digest_size=32).digest()
    connection = sqlite3.connect(database)
    try:
        ((header,),) = connection.execute("SELECT header FROM keybag_slots WHERE id = 1").fetchall()
        rows = connection.execute("SELECT id, purpose, sealed FROM keybag_keys WHERE slot = 1").fetchall()
    finally:
        connection.close()
    derived = b""
    if header[1] == 2:
        passes, kibibytes = (int.from_bytes(header[start : start + 4], "big") for start in (2, 6))
        derived = sodium.argon2id(passcode, header[10:26], passes, kibibytes)
    slot = hashlib.blake2b(derived + header[1:2], key=device, digest_size=32).digest()
    keys = {}
    for number, purpose, sealed in rows:
        associated = b"chatelaine-keybag" + len(header).to_bytes(4, "big") + header
        key = sodium.open(slot, sealed, associated + number.to_bytes(4, "big") + bytes([purpose]))
        if purpose in PURPOSES:
            contexts = ((1, b"chatmeta"), (2, b"chatsecr"), (3, b"chatpair"))
            keys[purpose] = [key, *(sodium.subkey(key, *one) for one in contexts)]
    return keys


def found(process, values):
    """The numbers of the values that are anywhere in the memory of the process."""
    seen = set()
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in maps:
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if end - start > MAPPING_MAX or line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                continue
            for place in range(start, end, CHUNK):
                try:
                    memory.seek(place)
                    data = memory.read(min(CHUNK + OVERLAP, end - place))
                except (OSError, OverflowError):
                    continue
                seen |= {number for number, value in enumerate(values) if value in data}
    return seen


def classes_found(keys, look):
    """The purposes of which there is anything; `look` gives the numbers of the values that are there."""
    values = [(purpose, value) for purpose in sorted(keys) for value in keys[purpose]]
    return {values[number][0] for number in look([value for _, value in values])}


if __name__ == "__main__":
    print(*found(sys.argv[1], [bytes.fromhex(line) for line in sys.stdin]))
