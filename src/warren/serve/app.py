"""A request comes in, an answer goes out."""

import asyncio
import time
import zlib
from collections.abc import Awaitable, Iterator
from itertools import chain
from typing import Any

from granian._granian import RSGIProtocolClosed as ProtocolClosed

from warren.serve.access import Access
from warren.serve.answers import TEXT, Answer, Request
from warren.serve.metrics import CONTENT_TYPE, burrow_metrics, in_chunks
from warren.serve.own_metrics import own_metrics
from warren.serve.routes import Handler, Routes
from warren.serve.site import Site
from warren.serve.table import TABLE

MOST_BODY_BYTES = 64 * 2**10
BODY_SECONDS = 10

TOO_LARGE = Answer(413, [("content-type", TEXT)], b"Request Entity Too Large\n")
TOO_SLOW = Answer(408, [("content-type", TEXT)], b"Request Timeout\n")


class App:
    """One listener's side of RSGI, granian's own interface."""

    def __init__(self, site: Site, access: Access) -> None:
        self._site = site
        self._access = access
        self._is_open = access.is_open
        self._routes = Routes({**TABLE, ("GET", "/metrics"): self._metrics})

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        if self._is_open and scope.method == "GET":
            kept = self._site.kept.get(scope.path)
            if kept is not None:
                protocol.response_bytes(*kept)
                return
        await self._answer(scope, protocol)

    async def _answer(self, scope: Any, protocol: Any) -> None:
        request = Request(scope.method, scope.path, scope.query_string)
        authorization = scope.headers.get("authorization")
        refusal = self._access.refusal(self._site, request, authorization)
        if refusal is not None:
            protocol.response_bytes(*refusal)
            return
        found = self._routes.find(request.method, request.path)
        if found is None:
            protocol.response_bytes(*self._routes.otherwise(request))
        elif found[0] == self._metrics:
            await self._metrics(scope, protocol)
        else:
            protocol.response_bytes(*await self._handled(request, protocol, *found))

    async def _handled(
        self, request: Request, protocol: Any, handler: Handler, names: list[str]
    ) -> Answer:
        if request.method == "POST":
            body = await _body(protocol)
            if isinstance(body, Answer):
                return body
            request = request._replace(body=body)
        answer: Answer | Awaitable[Answer] = handler(self._site, request, *names)
        if not isinstance(answer, Answer):
            return await answer
        self._site.keep(request, answer)
        return answer

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


async def _body(protocol: Any) -> bytes | Answer:
    """The request's body, or what to say when it is too large or too slow."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in protocol:
                body += chunk
                if len(body) > MOST_BODY_BYTES:
                    return TOO_LARGE
    except TimeoutError:
        return TOO_SLOW
    return bytes(body)
