"""Asking over HTTP exactly as recorded, and comparing what comes back."""

import socket
from typing import NamedTuple

# What Go's server and ours each add by themselves.
OWN_HEADERS = {"date", "server", "connection", "content-length", "transfer-encoding"}


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str


def ask(port: int, method: str, path: str, body: str = "") -> Got:
    """No client library in between: some would refuse such paths."""
    sent = body.encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(f"{head}Content-Length: {len(sent)}\r\n\r\n".encode() + sent)
        received = b""
        while data := connection.recv(1 << 16):
            received += data
    return _parsed(received)


def _parsed(received: bytes) -> Got:
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = important(dict(line.split(": ", 1) for line in lines))
    if b"transfer-encoding: chunked" in head.lower():
        body = _unchunked(body)
    return Got(int(first.split()[1]), headers, body.decode())


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        whole += rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]
    return whole


def important(headers: dict[str, str]) -> dict[str, str]:
    small = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in small.items() if name not in OWN_HEADERS}
