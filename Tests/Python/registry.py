"""A registry for images that knows one user, by Basic authentication or by tokens."""

import base64
import datetime
import http.server
import ipaddress
import json
import os
import ssl
import threading
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

MANIFEST = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
    "config": {
        "mediaType": "application/vnd.docker.container.image.v1+json",
        "size": 2,
        "digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    },
    "layers": [],
}


class Registry:
    """With `tokens` a sign-in gives an identity token, which is what docker then keeps in the password's place.

    It speaks TLS with a certificate of its own making, which docker does not look at where the address is 127.0.0.1.
    """

    def __init__(self, folder, *, tokens=False):
        self.tokens, self.user, self.password = tokens, "alice", "pass<word>"
        self.identity_token = "identity-token\"\\"
        self.admitted, self.grants = 0, []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate(folder))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def host(self):
        return f"127.0.0.1:{self.server.server_address[1]}"

    def _handler(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.get(self)

            do_HEAD = do_GET

            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                owner.post(self, urllib.parse.parse_qs(self.rfile.read(length).decode()))

            def log_message(self, *_):
                pass

        return Handler

    @property
    def challenge(self):
        return f'Bearer realm="https://{self.host}/token",service="test"' if self.tokens else 'Basic realm="test"'

    def admits(self, header):
        if self.tokens:
            return header == "Bearer access"
        return header == self.basic

    @property
    def basic(self):
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    def get(self, request):
        header = request.headers.get("Authorization")
        if request.path.startswith("/token"):
            return self.grant(request, "password", header == self.basic)
        if not self.admits(header):
            return self.reply(request, 401, {}, {"WWW-Authenticate": self.challenge})
        self.admitted += 1
        if "/manifests/" in request.path:
            return self.reply(request, 200, MANIFEST, {"Content-Type": MANIFEST["mediaType"]})
        return self.reply(request, 200, {}, {"Docker-Distribution-API-Version": "registry/2.0"})

    def post(self, request, form):
        self.grant(request, form["grant_type"][0], form.get("refresh_token") == [self.identity_token])

    def grant(self, request, kind, known):
        self.grants.append(kind)
        if not known:
            return self.reply(request, 401, {"errors": []}, {})
        answer = {"token": "access", "access_token": "access", "refresh_token": self.identity_token}
        return self.reply(request, 200, answer, {"Content-Type": "application/json"})

    @staticmethod
    def reply(request, status, content, fields):
        body = json.dumps(content).encode()
        request.send_response(status)
        for name, value in fields.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)


def certificate(folder):
    """A file with a key and a certificate of its own for 127.0.0.1."""
    path = os.path.join(folder, "registry.pem")
    if os.path.exists(path):
        return path
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "registry")])
    now = datetime.datetime.utcnow()
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    with open(path, "wb") as file:
        file.write(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        file.write(made.public_bytes(serialization.Encoding.PEM))
    return path
