"""A git server over HTTP with Basic authentication: git's own http-backend behind Python's server."""

import base64
import subprocess

from local_server import LocalServer


class GitServer(LocalServer):
    """Serves the repositories below a folder to whoever knows the password, which a test may change."""

    def __init__(self, git, folder, environment):
        self.git, self.folder, self.environment = git, folder, environment
        self.user, self.password = "alice", "first"
        self.refused = self.admitted = 0
        super().__init__()

    def url(self, name):
        return f"http://{self.host}/{name}"

    def admits(self, header):
        if not header or not header.startswith("Basic "):
            return False
        return base64.b64decode(header[6:]) == f"{self.user}:{self.password}".encode()

    def answer(self, request, body):
        header = request.headers.get("Authorization")
        if not self.admits(header):
            self.refused += header is not None
            request.send_response(401)
            request.send_header("WWW-Authenticate", 'Basic realm="git"')
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        self.admitted += 1
        path, _, query = request.path.partition("?")
        environment = self.environment | {
            "GIT_PROJECT_ROOT": self.folder,
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": self.user,
            "REMOTE_ADDR": "127.0.0.1",
            "REQUEST_METHOD": request.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        ended = subprocess.run(
            [self.git, "http-backend"], input=body, capture_output=True, env=environment, check=True
        )
        head, _, content = ended.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        request.send_response(int(fields.pop("Status", "200 OK").split()[0]))
        for name, value in fields.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)
