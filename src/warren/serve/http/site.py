"""What every handler of a worker can use: settings, the board, caches, calls to the pipeline.

The workers run at a higher priority than the pipeline, so that a few requests are answered without
delay. Many requests would starve the pipeline. So time is cut into slices (`AnswerPace`): when the
answers have used up their share of a slice, further ones wait for the next slice.
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
    """The pace of one worker, used by its event loop alone."""

    def __init__(self, share: float | None = None) -> None:
        """`share` is a fraction of one core."""
        self._share_s = SLICE_S * (share or SHARE * (os.cpu_count() or 1) / WORKERS)
        self._slice_end = 0.0
        self._cpu_at_start = 0.0

    def pause(self, now: float) -> float:
        """Seconds to wait before calling again; 0: answer now."""
        if now >= self._slice_end:
            self._slice_end, self._cpu_at_start = now + SLICE_S, time.process_time()
            return 0.0
        is_used_up = time.process_time() - self._cpu_at_start >= self._share_s
        return self._slice_end - now if is_used_up else 0.0


KEPT_BYTES = 64 * 2**20


class SiteSettings(msgspec.Struct):
    """All that a worker knows of the configuration; it holds no secrets."""

    host: str  # this machine's name
    allow_origin: str
    minimum_complete: float
    allowed_lag: int
    clusters: list[str]
    main: dict[str, object]  # /v3/config
    modules: dict[str, dict[str, dict[str, object]]]  # /v3/config/KIND/NAME
    max_series: int
    also: list[str]  # exporters whose metrics are served too
    grafana_url: str  # a link of the page; empty: none
    keeps_history: bool
    judged_every_s: int  # at most between two boards; the page says when they stop coming
    shown: dict[str, dict[str, str]]  # /v4/config: every setting by section and key


class ActionFailed(Exception):
    """The pipeline could not carry out the action of a request."""


Caller = Callable[[Action], Awaitable[str | None]]


@dataclass
class Site:
    settings: SiteSettings
    call: Caller  # sends an action to the pipeline's process
    view: View = field(default_factory=View.empty)
    boards: int = 0  # how many were shown so far
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
        """While the pipeline catches up, answer only as fast as leaves it enough processor time."""
        loop = asyncio.get_running_loop()
        pause = self._pace.pause(loop.time())
        while pause > 0:
            await asyncio.sleep(pause)
            pause = self._pace.pause(loop.time())

    async def wait_for_board_after(self, board: int) -> None:
        """Wait until a board with another number is shown."""
        while self.boards == board:
            await self._next.wait()

    def keep(self, name: str, answer: Answer) -> None:
        self._kept_bytes += len(answer.body) + 2 * len(name) + 500
        if self._kept_bytes > KEPT_BYTES:
            self._forget()
        self.kept[name] = answer

    def once(self, name: str, make: Callable[[View], bytes]) -> bytes:
        """Make something from this board on the first request, and reuse it for later ones."""
        if name not in self._made:
            self._made[name] = make(self.view)
        return self._made[name]

    def shared(
        self, name: Hashable, seconds: float, make: Callable[[], Coroutine[None, None, bytes]]
    ) -> asyncio.Task[bytes]:
        """Make something from this board once for all requests within this time."""
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
