"""A real HTTP or HTTPS server on loopback that answers as told and keeps what it got."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from support.servers.loopback import listening


@dataclass
class Received:
    method: str
    path: str  # as asked for: of a proxy, a whole URL
    headers: dict[str, str]  # names in small letters
    body: str
    port: int  # of the client: the same for requests on one connection
    status: int = 200  # as it was answered


@dataclass
class HttpReceiver:
    url: str = ""
    status: int = 200
    answer: bytes = b"ok"
    location: str = ""  # where to redirect to, once
    failing: str = ""  # a method that is answered 500
    largest: int = 2**30  # bytes; more are answered 413
    got: list[Received] = field(default_factory=list)
    may_answer: threading.Event = field(default_factory=threading.Event)

    @property
    def only(self) -> Received:
        assert len(self.got) == 1, self.got
        return self.got[0]


@contextlib.contextmanager
def http_receiver(server_pem: Path | None = None) -> Iterator[HttpReceiver]:
    """`with http_receiver() as receiver:`; with a key and chain it speaks TLS."""
    receiver = HttpReceiver()
    receiver.may_answer.set()
    with listening(_handler(receiver), server_pem) as receiver.url:
        try:
            yield receiver
        finally:
            receiver.may_answer.set()


def _handler(receiver: HttpReceiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __getattr__(self, name: str) -> object:
            if name.startswith("do_"):
                return self._take
            raise AttributeError(name)

        def _take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            port = self.client_address[1]
            status = 500 if self.command == receiver.failing else receiver.status
            status = 413 if len(body.encode()) > receiver.largest else status
            receiver.got.append(Received(self.command, self.path, headers, body, port, status))
            receiver.may_answer.wait(30)
            location, receiver.location = receiver.location, ""
            self.send_response(307 if location else status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(receiver.answer)))
            self.end_headers()
            with contextlib.suppress(OSError):  # who asked may have left
                self.wfile.write(receiver.answer)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
