"""The client's own cryptography against the RFCs' vectors, before it is used to judge the broker's."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

import sessions
from expect import Table, equal

TABLE = Table()
row = TABLE.row


@row("V01", "RFC 7748, 6.1", "X25519 of Bob's private and Alice's public key", "the RFC's shared secret")
def v01():
    private = X25519PrivateKey.from_private_bytes(
        bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    )
    public = X25519PublicKey.from_public_bytes(
        bytes.fromhex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    )
    equal(private.exchange(public).hex(), "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")


@row("V02", "RFC 5869, A.1", "HKDF-SHA256", "the RFC's output")
def v02():
    output = HKDF(
        algorithm=SHA256(),
        length=42,
        salt=bytes.fromhex("000102030405060708090a0b0c"),
        info=bytes.fromhex("f0f1f2f3f4f5f6f7f8f9"),
    ).derive(b"\x0b" * 22)
    equal(
        output.hex(), "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    )


@row("V03", "RFC 8439, 2.8.2", "ChaCha20-Poly1305", "the RFC's ciphertext and tag")
def v03():
    key = bytes(range(0x80, 0xA0))
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    sealed = ChaCha20Poly1305(key).encrypt(
        bytes.fromhex("070000004041424344454647"), text, bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    )
    equal(sealed[:16].hex(), "d31a8d34648e60db7b86afbc53ef7ec2")
    equal(sealed[-16:].hex(), "1ae10b594f09e26a7e902ecbd0600691")


@row(
    "V04",
    "two sides of one session",
    "each derives both directions' keys",
    "equal, and one for each direction",
)
def v04():
    client, broker = sessions.EncryptedSession(), X25519PrivateKey.generate()
    public = broker.public_key().public_bytes(sessions.Encoding.Raw, sessions.PublicFormat.Raw)
    client.open_with(("ay", public), "/session/1")
    shared = broker.exchange(X25519PublicKey.from_public_bytes(client.public))
    keys = [sessions.derive_key(shared, client.public, public, way) for way in (b"c", b"b")]
    equal(keys[0] == keys[1], False, "that the directions share a key, and that")
    path, nonce, sealed = client.seal(b"there")
    equal(nonce.hex(), "000000000000000000000001", "the first nonce")
    equal(ChaCha20Poly1305(keys[0]).decrypt(nonce, sealed, path.encode()), b"there")
    back = ChaCha20Poly1305(keys[1]).encrypt(sessions.nonce(1), b"back", b"/session/1")
    equal(client.unseal(("/session/1", sessions.nonce(1), back)), b"back")


def run(report):
    for row in TABLE.rows:
        report.play(row, row.play)
