"""A request comes in, an answer goes out. Answers are kept until the next board."""

import asyncio
import inspect
import time
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any

from granian._granian import RSGIProtocolClosed as ProtocolClosed

from warren.serve.answers import TEXT, Answer, Request
from warren.serve.metrics import CONTENT_TYPE, burrow_metrics, in_chunks
from warren.serve.own_metrics import own_metrics
from warren.serve.routes import Routes
from warren.serve.site import Site
from warren.serve.table import TABLE
from warren.serve.view import View

KEPT_BYTES = 64 * 2**20
MOST_BODY_BYTES = 64 * 2**10

TOO_LARGE = Answer(413, [("content-type", TEXT)], b"Request Entity Too Large\n")


class App:
    """One worker's side of RSGI, granian's own interface."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._routes = Routes({**TABLE, ("GET", "/metrics"): self._metrics})
        self._kept: dict[str, Answer] = {}
        self._kept_bytes = 0

    def show(self, view: View) -> None:
        self._site.view = view
        self._forget()

    def _forget(self) -> None:
        self._kept, self._kept_bytes = {}, 0

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        if scope.method == "GET":
            kept = self._kept.get(scope.path)
            if kept is not None:
                protocol.response_bytes(*kept)
                return
        await self._answer(scope, protocol)

    async def _answer(self, scope: Any, protocol: Any) -> None:
        request = Request(scope.method, scope.path, scope.query_string)
        found = self._routes.find(request.method, request.path)
        if found is None:
            protocol.response_bytes(*self._routes.otherwise(request))
            return
        handler, names = found
        if handler == self._metrics:
            await self._metrics(scope, protocol)
            return
        if request.method == "POST":
            body = await _body(protocol)
            if body is None:
                protocol.response_bytes(*TOO_LARGE)
                return
            request = request._replace(body=body)
        answer = handler(self._site, request, *names)
        if inspect.isawaitable(answer):
            answer = await answer
        else:
            self._keep(request, answer)
        protocol.response_bytes(*answer)

    def _keep(self, request: Request, answer: Answer) -> None:
        self._kept_bytes += len(answer.body) + 2 * len(request.path) + 500
        if self._kept_bytes > KEPT_BYTES:
            self._forget()
        self._kept[request.path] = answer

    async def _metrics(self, scope: Any, protocol: Any) -> None:
        """Sent while they are made: a million lines must not keep other requests waiting."""
        view = self._site.view
        texts = in_chunks(chain(burrow_metrics(view), own_metrics(view, time.time())))
        headers = [("content-type", CONTENT_TYPE)]
        if "gzip" in (scope.headers.get("accept-encoding") or ""):
            headers.append(("content-encoding", "gzip"))
            await _send(protocol, headers, texts, zlib.compressobj(1, wbits=31))
        else:
            await _send(protocol, headers, texts, None)


async def _send(
    protocol: Any, headers: list[tuple[str, str]], texts: Iterator[bytes], gzip: Any
) -> None:
    loop = asyncio.get_running_loop()
    stream = protocol.response_stream(200, headers)
    try:
        for text in texts:
            # zlib lets go of the interpreter: the others answer meanwhile.
            data = await loop.run_in_executor(None, gzip.compress, text) if gzip else text
            if data:
                await stream.send_bytes(data)
        if gzip:
            await stream.send_bytes(gzip.flush())
    except ProtocolClosed:
        return  # the client left


async def _body(protocol: Any) -> bytes | None:
    """The request's body, None when it is too large."""
    body = bytearray()
    async for chunk in protocol:
        body += chunk
        if len(body) > MOST_BODY_BYTES:
            return None
    return bytes(body)
