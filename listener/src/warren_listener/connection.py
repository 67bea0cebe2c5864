"""Posts to Warren: within a time limit for the whole request, and to nobody else."""

from __future__ import annotations

import http.client
import io
import json
import ssl
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Tuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import socket

Answer = Tuple[int, bytes]

LONGEST_S = 86_400.0
MOST_ANSWER_BYTES = 2**18


class _InTime(io.RawIOBase):
    """What a server sends; all of it has to come in time, and not only each piece."""

    def __init__(self, pieces: io.RawIOBase, sock: socket.socket) -> None:
        self._pieces, self._sock = pieces, sock
        self._until_s = time.monotonic() + (sock.gettimeout() or LONGEST_S)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left_s)
        return self._pieces.readinto(buffer)

    def close(self) -> None:
        self._pieces.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *rest: Any, **named: Any) -> None:
        super().__init__(sock, *rest, **named)
        self.fp = io.BufferedReader(_InTime(self.fp.detach(), sock))


class _Http(http.client.HTTPConnection):
    response_class = _Response


class _Https(http.client.HTTPSConnection):
    response_class = _Response


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Http, req)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._trusted = context

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Https, req, context=self._trusted)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token goes to nobody else."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


class Connection:
    """Raises ValueError for a URL or a time that cannot be used, and OSError for certificates."""

    def __init__(self, url: str, token: str, cafile: str | None, timeout_s: float) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ValueError(f"{url!r} is no URL such as http://warren:8000")
        self._url = url.rstrip("/") + "/v4/offsets"
        self._headers = {"Content-Type": "application/json", "User-Agent": "warren-listener"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        context = ssl.create_default_context(cafile=cafile)
        handlers = (_HttpHandler(), _HttpsHandler(context), _NoRedirects())
        self._opener = urllib.request.build_opener(*handlers)
        self._timeout_s = checked_seconds("timeout_s", timeout_s)

    def post(self, body: bytes) -> Answer:
        """Status and body of the answer; the body only of one that is no success."""
        request = urllib.request.Request(self._url, body, self._headers, method="POST")  # noqa: S310  # http or https
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                return int(answer.status), b""
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(MOST_ANSWER_BYTES)


def checked_seconds(name: str, seconds: float) -> float:
    """Raises ValueError for what is no time, or an absurd one."""
    if not 0 < seconds <= LONGEST_S:
        raise ValueError(f"{name} is {seconds!r}; it must be over 0 and at most {LONGEST_S:.0f}")
    return seconds


def reason_in(body: bytes) -> tuple[str, int]:
    """What a refusal says, and how many reports it names."""
    try:
        said = json.loads(body)
        refused = len({each["item"] for each in said["refused"]}) if "refused" in said else 0
        return str(said["message"]), refused
    except (ValueError, TypeError, KeyError):
        return "", 0
