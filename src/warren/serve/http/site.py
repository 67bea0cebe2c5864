"""What every handler of a worker has at hand.

The workers have the higher priority, so that few requests are answered at once; many would take the
processor from the pipeline for as long as they come. So time is cut into slices (`AnswerPace`):
when answering has used up its part of one, the next answers wait for the next.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from dataclasses import dataclass, field

import msgspec

from warren.model.go_json import encode
from warren.serve.board_file.board_view import View
from warren.serve.http.answers import JSON, Answer, Request
from warren.serve.http.channel import Action

WORKERS = 2
SHARE = 0.1  # of all cores, for all workers
SLICE_S = 0.01


class AnswerPace:
    """One worker's; used by one event loop."""

    def __init__(self, share: float | None = None) -> None:
        """`share` is of one core."""
        self._part_s = SLICE_S * (share or SHARE * (os.cpu_count() or 1) / WORKERS)
        self._ends = 0.0
        self._worked = 0.0

    def pause(self, now: float) -> float:
        """Seconds to wait before asking again; 0: go on."""
        if now >= self._ends:
            self._ends, self._worked = now + SLICE_S, time.process_time()
            return 0.0
        is_used_up = time.process_time() - self._worked >= self._part_s
        return self._ends - now if is_used_up else 0.0


KEPT_BYTES = 64 * 2**20


class SiteSettings(msgspec.Struct):
    """All that a worker knows of the configuration; nothing secret is in it."""

    host: str  # this machine's name
    allow_origin: str
    minimum_complete: float
    allowed_lag: int
    clusters: list[str]
    main: dict[str, object]  # /v3/config
    modules: dict[str, dict[str, dict[str, object]]]  # /v3/config/KIND/NAME
    max_series: int
    keeps_history: bool
    judged_every_s: int  # at least; a page that sees no new board for long says so
    shown: dict[str, dict[str, str]]  # /v4/config: every setting by section and key


class ActionFailed(Exception):
    """The pipeline could not do what a request asked for."""


Caller = Callable[[Action], Awaitable[str | None]]


@dataclass
class Site:
    settings: SiteSettings
    call: Caller  # has the pipeline's process do it
    view: View = field(default_factory=View.empty)
    boards: int = 0  # shown so far
    kept: dict[str, Answer] = field(default_factory=dict)  # answers to GETs, until the next board
    _kept_bytes: int = 0
    _made: dict[str, bytes] = field(default_factory=dict)
    _shared: dict[Hashable, tuple[float, asyncio.Task[bytes]]] = field(default_factory=dict)
    is_catching_up: bool = False
    _pace: AnswerPace = field(default_factory=AnswerPace)
    _next: asyncio.Event = field(default_factory=asyncio.Event)

    def show(self, view: View) -> None:
        self.view, self._made, self._shared = view, {}, {}
        self.is_catching_up = view.facts.health.is_catching_up
        self.boards += 1
        self._next.set()
        self._next = asyncio.Event()
        self._forget()

    async def wait_for_turn(self) -> None:
        """While the pipeline catches up, answers are given no faster than it can bear."""
        loop = asyncio.get_running_loop()
        pause = self._pace.pause(loop.time())
        while pause > 0:
            await asyncio.sleep(pause)
            pause = self._pace.pause(loop.time())

    async def after(self, board: int) -> None:
        """Wait until another board is shown than the one of this number."""
        while self.boards == board:
            await self._next.wait()

    def keep(self, name: str, answer: Answer) -> None:
        self._kept_bytes += len(answer.body) + 2 * len(name) + 500
        if self._kept_bytes > KEPT_BYTES:
            self._forget()
        self.kept[name] = answer

    def once(self, name: str, make: Callable[[View], bytes]) -> bytes:
        """What is made of this board, made when it is first asked for."""
        if name not in self._made:
            self._made[name] = make(self.view)
        return self._made[name]

    def shared(
        self, name: Hashable, seconds: float, make: Callable[[], Coroutine[None, None, bytes]]
    ) -> asyncio.Task[bytes]:
        """What is made of this board for all who ask within this time."""
        now = asyncio.get_running_loop().time()
        since, making = self._shared.get(name, (-seconds, None))
        if making is None or now - since > seconds:
            making = asyncio.create_task(make())
            self._shared[name] = (now, making)
        return making

    def _forget(self) -> None:
        self.kept, self._kept_bytes = {}, 0

    def json(
        self, request: Request, code: int, message: str, *, error: bool = False, **data: object
    ) -> Answer:
        place = {"url": request.path, "host": self.settings.host}
        return self.raw(code, {"error": error, "message": message, **data, "request": place})

    def json_request_first(self, request: Request, message: str, **data: object) -> Answer:
        """Two of Burrow's answers name the request before the data."""
        place = {"url": request.path, "host": self.settings.host}
        return self.raw(200, {"error": False, "message": message, "request": place, **data})

    def problem(self, request: Request, code: int, message: str) -> Answer:
        return self.json(request, code, message, error=True)

    def raw(self, code: int, value: object) -> Answer:
        return Answer(code, [("content-type", JSON), *self.cors], encode(value))

    @property
    def cors(self) -> list[tuple[str, str]]:
        origin = self.settings.allow_origin
        return [("access-control-allow-origin", origin)] if origin else []
