"""A real HTTP server on loopback that keeps requests as they came and answers as told."""

import contextlib
import gzip
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from support.servers.loopback import listening

Told = tuple[int, str, dict[str, str]]  # code, body, headers


class Request(NamedTuple):
    method: str
    path: str
    params: dict[str, list[str]]
    headers: dict[str, str]
    text: str  # unpacked


@dataclass
class Receiver:
    url: str = ""
    answers: list[Told] = field(default_factory=list)  # 204 when none
    requests: list[Request] = field(default_factory=list)
    login: str = ""  # the header of those who are let in; everybody if empty
    silent: bool = False
    released: threading.Event = field(default_factory=threading.Event)


@contextlib.contextmanager
def receiver(server_pem: Path | None = None) -> Iterator[Receiver]:
    """With a key and chain it speaks TLS."""
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            packed = self.headers["Content-Encoding"] == "gzip"
            url = urlsplit(self.path)
            text = (gzip.decompress(body) if packed else body).decode()
            kept.requests.append(
                Request(self.command, url.path, parse_qs(url.query), dict(self.headers), text)
            )
            if kept.silent:
                kept.released.wait(30)
                return
            code, answer, headers = self._answer()
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer.encode())

        def do_PUT(self) -> None:
            self.do_POST()

        def _answer(self) -> Told:
            if kept.login and self.headers["Authorization"] != kept.login:
                return 401, "who are you?", {}
            return kept.answers.pop(0) if kept.answers else (204, "", {})

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler, server_pem) as kept.url:
        try:
            yield kept
        finally:
            kept.released.set()
