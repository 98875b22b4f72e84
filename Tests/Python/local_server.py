"""An HTTP server of a test's own on 127.0.0.1, in a thread of its own."""

import http.server
import threading


class LocalServer:
    """`with LocalServer() as server:` each request goes to `answer(request, body)`, which a subclass has."""

    def __init__(self, tls=None):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
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
                owner.answer(self, self.body())

            do_HEAD = do_POST = do_GET

            def body(self):
                if self.headers.get("Transfer-Encoding") != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def log_message(self, *_):
                pass

        return Handler
