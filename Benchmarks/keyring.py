"""gnome-keyring, to be measured beside the broker: on a bus and with a home of its own."""
import hashlib
import os
import shutil
import struct

PROGRAM = "gnome-keyring-daemon"
# secret_lock.c unlocks with it.
PASSWORD = b"bench"
CREATED = 1_700_000_000


class Keyring:
    """One daemon at a time, on a keyring that is written here: through CreateItem 10,000 items take hours."""

    def __init__(self, world):
        self.world, self.process, self.home = world, None, world.path("keyring")
        self.environment = world.environment | {"HOME": self.home, "XDG_RUNTIME_DIR": os.path.join(self.home, "run")}
        address = world.start_bus("keyring-bus.log")
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = world.environment["BENCH_GNOME_ADDRESS"] = address

    @staticmethod
    def missing():
        """Why it cannot be measured here, if it cannot."""
        if not shutil.which(PROGRAM):
            return "gnome-keyring is not installed, so nothing is measured beside the broker"
        try:
            import cryptography as _
        except ImportError:
            return "gnome-keyring is not measured: python3-cryptography, which writes its file, is not installed"
        return None

    def start(self, items):
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)
        folder = os.path.join(self.home, ".local/share/keyrings")
        for path in (folder, self.environment["XDG_RUNTIME_DIR"]):
            os.makedirs(path, mode=0o700)
        with open(os.path.join(folder, "login.keyring"), "wb") as file:
            file.write(keyring_file(items))
        with open(os.path.join(self.home, "password"), "wb") as file:
            file.write(PASSWORD)
        with open(self.world.path("keyring.log"), "wb") as log, open(file.name, "rb") as password:
            self.process = self.world.spawn([PROGRAM, "--unlock", "--foreground", "--components=secrets"],
                                            environment=self.environment, stdin=password, stdout=log, stderr=log)
        self.world.bench("owner", "gnome", self.process.pid, timeout=90)

    def stop(self):
        if self.process:
            self.world.end(self.process)
        self.process = None

    def last_words(self):
        with open(self.world.path("keyring.log"), "rb") as log:
            lines = log.read()[-2000:].decode(errors="replace").strip().splitlines()
        return f"gnome-keyring ended with status {self.process.returncode} ({lines[-1] if lines else 'no word'})"


def number(value):
    return struct.pack(">I", value)


def moment():
    return struct.pack(">Q", CREATED)


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return number(len(value)) + value


def attributes(item):
    """As front_append_attributes() in secrets.c."""
    return {"xdg:schema": "org.example.Password", "service": f"service-{item % 100:03d}",
            "account": f"user-{item:08d}@example.org", "host": f"host-{item % 250:03d}.example.org",
            "port": "443", "protocol": "https"}


def secret(item):
    """As item_secret() in items.c."""
    return bytes(ord("!") + (item * 31 + place * 7) % 90 for place in range(64))


def hashed(item):
    """What stays readable while the keyring is locked."""
    pairs = attributes(item).items()
    return (number(item + 1) + number(0) + number(len(pairs))
            + b"".join(text(key) + number(0) + text(hashlib.md5(value.encode()).hexdigest()) for key, value in pairs))


def sealed(item):
    pairs = attributes(item).items()
    return (text(f"Password of account {item}") + text(secret(item)) + 2 * moment() + number(0xFFFFFFFF) + 4 * number(0)
            + number(len(pairs)) + b"".join(text(key) + number(0) + text(value) for key, value in pairs) + number(0))


def keyring_file(items):
    """A login keyring in the binary format of gnome-keyring 42."""
    salt, rounds = os.urandom(8), 1024
    head = (b"GnomeKeyring\n\r\0\n" + bytes(4) + text("Login") + 2 * moment() + 2 * number(0) + number(rounds) + salt
            + 4 * number(0) + number(items) + b"".join(map(hashed, range(items))))
    body = b"".join(map(sealed, range(items)))
    body += bytes(-len(body) % 16)
    cipher = encrypted(hashlib.md5(body).digest() + body, salt, rounds)
    return head + text(cipher)


def encrypted(plain, salt, rounds):
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    key = PASSWORD + salt
    for _ in range(rounds):
        key = hashlib.sha256(key).digest()
    encryptor = Cipher(algorithms.AES(key[:16]), modes.CBC(key[16:])).encryptor()
    return encryptor.update(plain) + encryptor.finalize()
