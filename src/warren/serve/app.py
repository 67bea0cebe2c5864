"""A request comes in, an answer goes out."""

import asyncio
from typing import Any

from warren.serve.access import Access
from warren.serve.answers import TEXT, Answer, Request, Stream
from warren.serve.dashboard import instead_of
from warren.serve.routes import Handler, Routes
from warren.serve.site import ActionFailed, Site
from warren.serve.streams import send
from warren.serve.table import TABLE

MOST_BODY_BYTES = 64 * 2**10
BODY_SECONDS = 10
# Answers to these depend on the path alone.
KEPT = ("/v2/", "/v3/", "/burrow/")

TOO_LARGE = Answer(413, [("content-type", TEXT)], b"Request Entity Too Large\n")
TOO_SLOW = Answer(408, [("content-type", TEXT)], b"Request Timeout\n")


class App:
    """One listener's side of RSGI, granian's own interface."""

    def __init__(self, site: Site, access: Access) -> None:
        self._site = site
        self._access = access
        self._is_open = access.is_open
        self._routes = Routes(TABLE)

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        if self._is_open and scope.method == "GET":
            kept = self._site.kept.get(scope.path)
            if kept is not None:
                protocol.response_bytes(*kept)
                return
        await self._answer(scope, protocol)

    async def _answer(self, scope: Any, protocol: Any) -> None:
        header = scope.headers.get
        request = Request(
            scope.method,
            scope.path,
            scope.query_string,
            header("accept") or "",
            header("accept-encoding") or "",
        )
        refusal = self._access.refusal(self._site, request, header("authorization"))
        if refusal is not None:
            protocol.response_bytes(*instead_of(refusal, self._site, request))
            return
        found = self._routes.find(request.method, request.path)
        if found is None:
            protocol.response_bytes(*self._routes.otherwise(request))
            return
        answer = await self._handled(request, protocol, *found)
        if isinstance(answer, Stream):
            await send(answer, protocol, request.accept_encoding)
        else:
            protocol.response_bytes(*answer)

    async def _handled(
        self, request: Request, protocol: Any, handler: Handler, names: list[str]
    ) -> Answer | Stream:
        if request.method == "POST":
            body = await _body(protocol)
            if isinstance(body, Answer):
                return body
            request = request._replace(body=body)
        answer = handler(self._site, request, *names)
        if isinstance(answer, Stream):
            return answer
        if isinstance(answer, Answer):
            if request.path.startswith(KEPT):
                self._site.keep(request, answer)
            return answer
        try:
            changed: Answer = await answer
        except ActionFailed as error:
            return self._site.problem(request, 500, str(error))
        return changed


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
