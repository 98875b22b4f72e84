"""A registry for images that knows one user, by Basic authentication or by tokens."""

import base64
import json
import os
import ssl
import subprocess
import sys
import urllib.parse

from harness import REPOSITORY
from local_server import LocalServer

CERTIFICATE = os.path.join(REPOSITORY, "Tests/ChatelaineTokenTests/certificate.py")
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


class Registry(LocalServer):
    """With `tokens` a sign-in gives an identity token, which is what docker then keeps in the password's place.

    It speaks TLS with a certificate of its own making, which docker does not look at where the address is 127.0.0.1.
    """

    def __init__(self, folder, *, tokens=False):
        self.tokens, self.user, self.password = tokens, "alice", "pass<word>"
        self.identity_token = "identity-token\"\\"
        self.admitted, self.grants = 0, []
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate(folder))
        super().__init__(tls)

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

    def answer(self, request, body):
        if request.command == "POST":
            return self.post(request, urllib.parse.parse_qs(body.decode()))
        self.get(request)

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
    if not os.path.exists(path):
        subprocess.run([sys.executable, CERTIFICATE, path], check=True)
    return path
