"""From a request to its answer: access, route, handler, cache, sending."""

import asyncio
import inspect
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

from warren.serve import admin, page_files, v2, v3, v3_config
from warren.serve.http.access import READS
from warren.serve.http.answers import TEXT, Answer, Endless, Request, Stream, accepts_gzip, whole
from warren.serve.http.browsers import Browsers, header_of
from warren.serve.http.pipes import send_endless, send_large
from warren.serve.http.routes import Handler, Routes
from warren.serve.http.site import ActionFailed, Site
from warren.serve.http.startup import ServerSettings
from warren.serve.metrics.scrape import scrape
from warren.serve.page_files import page_or_refusal
from warren.serve.v4 import offsets, openapi, scale, silences
from warren.serve.v4.events import events
from warren.serve.v4.operations import OPERATIONS, handler

KINDS = ("storage", "evaluator", "cluster", "consumer", "notifier")


TABLE: dict[tuple[str, str], Handler] = {
    ("GET", "/"): page_files.page,
    ("GET", "/page/{}/{}"): page_files.asset,
    ("GET", "/page/{}/{}/{}"): page_files.asset,
    ("GET", "/burrow/admin"): admin.good,
    ("GET", "/burrow/admin/ready"): admin.ready,
    ("GET", "/v3/kafka"): v3.clusters,
    ("GET", "/v3/kafka/{}"): v3_config.cluster,
    ("GET", "/v3/kafka/{}/topic"): v3.topics,
    ("GET", "/v3/kafka/{}/topic/{}"): v3.topic,
    ("GET", "/v3/kafka/{}/topic/{}/consumers"): v3.groups_of_topic,
    ("GET", "/v3/kafka/{}/consumer"): v3.groups,
    ("GET", "/v3/kafka/{}/consumer/{}"): v3.group,
    ("GET", "/v3/kafka/{}/consumer/{}/status"): v3.status,
    ("GET", "/v3/kafka/{}/consumer/{}/lag"): v3.lag,
    ("DELETE", "/v3/kafka/{}/consumer/{}"): v3.delete_group,
    ("DELETE", "/v3/kafka/{}/consumer/{}/topic/{}"): v3.delete_topic_of_group,
    ("GET", "/v3/config"): v3_config.main,
    **{("GET", f"/v3/config/{kind}"): partial(v3_config.modules, kind) for kind in KINDS},
    **{("GET", f"/v3/config/{kind}/{{}}"): partial(v3_config.module, kind) for kind in KINDS},
    ("GET", "/v3/admin/loglevel"): admin.get_level,
    ("POST", "/v3/admin/loglevel"): admin.set_level,
    ("GET", "/metrics"): scrape,
    ("GET", "/v2/kafka"): v2.clusters,
    ("GET", "/v2/kafka/{}"): v2.cluster,
    ("GET", "/v2/kafka/{}/topic"): v2.topics,
    ("GET", "/v2/kafka/{}/topic/{}"): v2.topic,
    ("GET", "/v2/kafka/{}/consumer"): v2.groups,
    ("GET", "/v2/kafka/{}/consumer/{}/topic"): v2.group_topics,
    ("GET", "/v2/kafka/{}/consumer/{}/topic/{}"): v2.group_topic,
    ("GET", "/v2/kafka/{}/consumer/{}/status"): v2.status,
    ("GET", "/v2/kafka/{}/consumer/{}/lag"): v2.lag,
    ("GET", "/v4/health"): admin.health,
    ("GET", "/v4/config"): admin.config,
    ("GET", "/v4/events"): events,
    ("GET", silences.PATH): silences.list_silences,
    ("POST", silences.PATH): silences.add_silence,
    ("DELETE", f"{silences.PATH}/{{}}"): silences.end_silence,
    ("POST", offsets.PATH): offsets.report,
    ("GET", "/v4/openapi.json"): openapi.openapi,
    ("GET", "/v4/docs"): openapi.docs,
    ("GET", "/v4/scale/{}/{}"): scale.by_path,
    **{("GET", operation.path): handler(operation) for operation in OPERATIONS},
}


MOST_BODY_BYTES = 64 * 2**10
MOST_REPORT_BYTES = 2**20  # of offsets
BODY_SECONDS = 10
LARGE = 2**20  # bytes; an answer with more is sent only as fast as the client reads it
MOST_LISTENERS = 100
FAILED = "it could not be answered; the log says why"
# Their answers depend on the path alone, so they are cached by path.
CACHED_BY_PATH = ("/v2/", "/v3/", "/burrow/")
WAITING = (
    "/v4/events",
    "/v4/history",
    "/v4/report",
    silences.PATH,
    offsets.PATH,
)  # these wait for the pipeline; they do no work here

CHANGING = (silences.PATH, "/v4/history/progress")  # also between two boards

Report = Callable[[Request, Exception], None]

TOO_LARGE = Answer(413, [("content-type", TEXT)], b"Request Entity Too Large\n")
TOO_SLOW = Answer(408, [("content-type", TEXT)], b"Request Timeout\n")


class Slots:
    """How many may do something at once. Used by one event loop, so it needs no lock."""

    def __init__(self, count: int) -> None:
        self._free = count

    @property
    def is_full(self) -> bool:
        return self._free <= 0

    def __enter__(self) -> None:
        self._free -= 1

    def __exit__(self, *_: object) -> None:
        self._free += 1


class App:
    """One listener's application for RSGI, the interface of granian."""

    def __init__(self, site: Site, server: ServerSettings, large: Slots, report: Report) -> None:
        self._site = site
        self._access = server.access
        self._browsers = Browsers(server.hosts, site.settings.allow_origin)
        self._seconds = server.timeout_s
        self._routes = Routes(TABLE)
        self._large = large
        self._report = report  # logs a request that could not be answered
        self._long_work = asyncio.Lock()
        self._listening = Slots(min(MOST_LISTENERS, max(server.max_connections // 2, 1)))

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        if self._site.is_catching_up:
            await self._site.wait_for_turn()
        is_open = not self._access.read and self._browsers.may_read(header_of(scope.headers))
        if scope.method == "GET" and is_open:
            kept = self._site.kept.get(scope.path)
            if kept is not None and len(kept.body) <= LARGE:
                protocol.response_bytes(*kept)
                return
        await self._answer(scope, protocol)

    async def _answer(self, scope: Any, protocol: Any) -> None:
        header = header_of(scope.headers)
        request = Request(
            scope.method,
            scope.path,
            scope.query_string,
            header("accept") or "",
            header("accept-encoding") or "",
        )
        refusal = self._browsers.refusal(self._site, request, header)
        if refusal is not None:
            protocol.response_bytes(*refusal)
            return
        refusal = self._access.refusal(self._site, request, header("authorization"))
        if refusal is not None:
            protocol.response_bytes(*page_or_refusal(refusal, self._site, request))
            return
        if request.method not in READS:
            token = self._access.token(header("authorization"))
            request = request._replace(address=scope.client, token=token)
        name = _cache_name(request)
        answer = self._site.kept.get(name) or await self._answer_or_problem(request, protocol, name)
        if isinstance(answer, Endless):
            await self._send_events(answer, request, protocol)
        else:
            await self._send(answer, request, protocol)

    async def _answer_or_problem(
        self, request: Request, protocol: Any, name: str
    ) -> Answer | Endless:
        """The answer; if the handler fails, a 500, and the log says why."""
        try:
            return await self._route(request, protocol, name)
        except Exception as error:  # noqa: BLE001  # one handler's fault is one 500, and logged
            self._report(request, error)
            reason = str(error) if isinstance(error, ActionFailed) else FAILED
            return self._site.problem(request, 500, reason)

    async def _route(self, request: Request, protocol: Any, name: str) -> Answer | Endless:
        found = self._routes.find(request.method, request.path)
        if found is None:
            return self._routes.otherwise(request)
        if request.method == "POST":
            is_report = request.path == offsets.PATH
            body = await _body(protocol, MOST_REPORT_BYTES if is_report else MOST_BODY_BYTES)
            if isinstance(body, Answer):
                return body
            request = request._replace(body=body)
        return await self._handle(request, name, *found)

    async def _handle(
        self, request: Request, name: str, handler: Handler, names: list[str]
    ) -> Answer | Endless:
        if _may_take_long(request):
            async with self._long_work:
                kept = self._site.kept.get(name)  # another request may have made it meanwhile
                return kept or await self._call(request, name, handler, names, in_thread=True)
        return await self._call(request, name, handler, names, in_thread=False)

    async def _call(
        self, request: Request, name: str, handler: Handler, names: list[str], *, in_thread: bool
    ) -> Answer | Endless:
        board = self._site.boards
        if in_thread:
            # In a thread, so that other requests are answered meanwhile. On a copy of the site,
            # so that the board stays the same.
            work = partial(handler, copy(self._site), request, *names)
            answer = await asyncio.get_running_loop().run_in_executor(None, work)
        else:
            answer = handler(self._site, request, *names)
        if inspect.isawaitable(answer):
            later: Answer = await answer
            return later
        if isinstance(answer, Stream):
            answer = await whole(answer, request.accept_encoding)
        if isinstance(answer, Answer) and name and self._site.boards == board:
            self._site.keep(name, answer)
        given: Answer | Endless = answer
        return given

    async def _send(self, answer: Answer, request: Request, protocol: Any) -> None:
        if len(answer.body) <= LARGE:
            protocol.response_bytes(*answer)
        elif self._large.is_full:
            busy = self._site.problem(request, 503, "too many large answers are being sent")
            protocol.response_bytes(busy.status, [*busy.headers, ("retry-after", "1")], busy.body)
        else:
            with self._large:
                await send_large(answer, protocol, self._seconds)

    async def _send_events(self, answer: Endless, request: Request, protocol: Any) -> None:
        if self._listening.is_full:
            many = self._site.problem(request, 429, "too many listeners already")
            protocol.response_bytes(*many)
        else:
            with self._listening:
                try:
                    await send_endless(answer, protocol, self._seconds)
                except Exception as error:  # noqa: BLE001  # the answer has begun: only the log is left
                    self._report(request, error)


def _may_take_long(request: Request) -> bool:
    """Whether the answer may cover every commit of a group, or much of a cluster."""
    is_ours = request.path == "/" or request.path.startswith("/v4/")
    return is_ours and not request.path.startswith(WAITING)


def _cache_name(request: Request) -> str:
    """The name under which the answer is cached until the next board; empty: it is not cached."""
    if request.method != "GET" or request.path in CHANGING:
        return ""
    if request.path.startswith(CACHED_BY_PATH):
        return request.path
    if request.path.startswith("/v4/"):
        packed = "gzip" if accepts_gzip(request.accept_encoding) else ""
        return f"{request.path}?{request.query} {packed}"
    return ""


async def _body(protocol: Any, most: int) -> bytes | Answer:
    """The request's body, or the answer when it is too large or too slow."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in protocol:
                body += chunk
                if len(body) > most:
                    return TOO_LARGE
    except TimeoutError:
        return TOO_SLOW
    return bytes(body)
