"""A token server for the tests: prints its port, then a line for each request. What it does stands in the path.

    /token/rotate/SECONDS   a new access token and a new refresh token; the old one is spent
    /token/keep/SECONDS     a new access token only
    /token/held/SECONDS     the same as rotate, when a line has come on standard input
    /token/code/SECONDS     for a code, with the proof key checked
    /token/status/NUMBER    that status, with the error of invalid_grant
    /token/BODY             redirect, large, silent, broken, text: answers that no client may take
    /authorize/WAY          ok, deny, foreign (another state), bare (no state): back to the redirect address
"""
import base64
import hashlib
import http.server
import json
import ssl
import sys
import threading
import urllib.parse

LOCK = threading.Lock()
LINES = threading.Semaphore(0)
valid = {"RT0"}
issued = [0]
asked = {}


def say(line):
    with LOCK:
        print(line, flush=True)


def fresh(keeps, seconds):
    with LOCK:
        issued[0] += 1
        number = issued[0]
        body = {"access_token": f"AT{number}", "token_type": "Bearer", "expires_in": seconds}
        if not keeps:
            valid.add(f"RT{number}")
            body["refresh_token"] = f"RT{number}"
    return body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        fields = dict(urllib.parse.parse_qsl(form, strict_parsing=True))
        way, argument = (self.path.split("/") + ["", ""])[2:4]
        say(f"{fields['grant_type']} {fields.get('refresh_token', '-')} {fields['client_id']}")
        if way == "held":
            LINES.acquire()
        if way in ("rotate", "keep", "held"):
            return self.refresh(fields["refresh_token"], way == "keep", int(argument))
        if way == "code":
            return self.exchange(fields, int(argument))
        self.misbehave(way, argument)

    def refresh(self, token, keeps, seconds):
        with LOCK:
            is_valid = token in valid
            if is_valid and not keeps:
                valid.remove(token)
        if is_valid:
            self.answer(200, fresh(keeps, seconds))
        else:
            self.answer(400, {"error": "invalid_grant"})

    def exchange(self, fields, seconds):
        known = asked.pop(fields["code"], None)
        digest = hashlib.sha256(fields["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if known == (challenge, fields["redirect_uri"], fields["client_id"]):
            self.answer(200, fresh(False, seconds) | {"scope": "mail contacts"})
        else:
            self.answer(400, {"error": "invalid_grant"})

    def misbehave(self, way, argument):
        if way == "status":
            self.answer(int(argument), {"error": "invalid_grant", "error_description": "no RT0 here"})
        elif way == "redirect":
            self.answer(307, b"", [("Location", "/token/rotate/300")])
        elif way == "large":
            self.answer(200, b"{" + b" " * (1 << 20) + b"}")
        elif way == "silent":
            LINES.acquire()
        elif way == "broken":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"access_token": "AT')
            self.close_connection = True
        else:
            self.answer(200, b"<html>Sign in to this network first</html>")

    def do_GET(self):
        path, _, query = self.path.partition("?")
        fields = dict(urllib.parse.parse_qsl(query, strict_parsing=True))
        say("authorize " + " ".join(sorted(fields)))
        code = hashlib.sha256(query.encode()).hexdigest()
        asked[code] = (fields["code_challenge"], fields["redirect_uri"], fields["client_id"])
        back = {"code": code, "state": fields["state"]}
        way = path.split("/")[2]
        if way == "deny":
            back = {"error": "access_denied", "state": fields["state"]}
        elif way == "foreign":
            back["state"] = "A" * 43
        elif way == "bare":
            del back["state"]
        self.answer(302, b"", [("Location", fields["redirect_uri"] + "?" + urllib.parse.urlencode(back))])

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def main():
    server = Server(("127.0.0.1", 0), Handler)
    if len(sys.argv) > 1:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    say(str(server.server_address[1]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _ in sys.stdin:
        LINES.release()


main()
