"""Stands in for the user's browser: opens the address, follows the redirect to the program that waits, and prints the
status and the body of each answer. With a word it does something else on the way:

    strangers   first what others on this machine may try at the port, each on a connection that stays open
    nothing     opens the address and never comes back
    inject      comes back with the state of the address and a code that somebody else asked for
"""
import http.client
import re
import socket
import sys
import urllib.parse


def get(address):
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request("GET", parts.path + "?" + parts.query)
    return connection.getresponse()


def send(port, data):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(data)
    return connection


def status(connection):
    """The status, and whether anything that was sent came back."""
    answer = b""
    try:
        while piece := connection.recv(65536):
            answer += piece
    except ConnectionResetError:
        pass
    return answer.split(b" ")[1].decode() + (" reflected" if b"sentinel" in answer else "")


def strangers(port):
    host = f"Host: 127.0.0.1:{port}\r\n\r\n"
    silent = [send(port, b"") for _ in range(40)]
    half = send(port, b"GET /?state=x HTTP/1.1\r\n")
    state = "A" * 43
    for line in [
        f"GET /?code=sentinel&state={state} HTTP/1.1\r\n" + host,
        f"GET /?error=sentinel HTTP/1.1\r\n" + host,
        "GET /sentinel HTTP/1.1\r\n" + host,
        "POST /?sentinel HTTP/1.1\r\n" + host,
        "GET / HTTP/1.1\r\nHost: sentinel.example\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET /?a=1&a=2 HTTP/1.1\r\n" + host,
        "GET /?a=%zz HTTP/1.1\r\n" + host,
        "sentinel\r\n\r\n",
        "GET /" + "sentinel" * 4000 + " HTTP/1.1\r\n",
    ]:
        print(line.split(" ")[0][:8], status(send(port, line.encode())), flush=True)
    return silent, half


def main():
    address, way = sys.argv[1], (sys.argv + [""])[2]
    redirect = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))["redirect_uri"]
    kept = strangers(urllib.parse.urlsplit(redirect).port) if way == "strangers" else None
    if way == "inject":
        address = re.sub("code_challenge=[^&]*", "code_challenge=" + "B" * 43, address)
    answer = get(address)
    if way == "nothing":
        return
    back = get(answer.headers["Location"])
    print(back.status, back.read().decode().strip(), flush=True)
    del kept


main()
