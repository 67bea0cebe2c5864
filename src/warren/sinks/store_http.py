"""Stores that are servers: Spark makes texts of history, threads of ours send them meanwhile."""

import zlib
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Protocol

import httpx
import pyarrow as pa
from pyspark.sql import DataFrame

import warren
from warren.clients.tls import tls_context
from warren.config import HttpSink, Tls
from warren.config.secrets import masked_url
from warren.errors import Undelivered
from warren.sinks.points import chunks, slices
from warren.sinks.store_delivery import PointBatch, StoreAnswer, StoreDelivery

ERROR_LENGTH = 300
# The store's state or the log-in is wrong, not the points: they wait.
WAITING = {401, 403, 404, 408, 425, 429}


class Server:
    """One server of a store, with connections that are kept."""

    def __init__(self, settings: HttpSink, tls: Tls | None, headers: dict[str, str]) -> None:
        login = (settings.username, settings.password.reveal()) if settings.username else None
        self._shown = masked_url(settings.url)
        self._timeout = settings.timeout
        self._client = httpx.Client(
            base_url=settings.url,
            auth=login,
            headers={"User-Agent": f"warren/{warren.__version__}", **headers},
            timeout=settings.timeout,
            verify=tls_context(tls) if tls else True,
        )

    def post(
        self, path: str, content: memoryview | bytes, kind: str, params: dict[str, str]
    ) -> httpx.Response:
        headers = {"Content-Encoding": "gzip", "Content-Type": kind}
        return self.ask("POST", path, headers=headers, params=params, content=gzip(content))

    def ask(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        params: dict[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx.Response:
        """Give any answer at all; none is Undelivered."""
        try:
            return self._client.request(
                method, path, headers=headers, params=params, content=content
            )
        except httpx.TimeoutException as error:
            problem = f"{self._shown} does not answer within {self._timeout} s"
            raise Undelivered(problem) from error
        except httpx.HTTPError as error:
            raise Undelivered(f"{self._shown} cannot be reached: {error}") from error

    def wait_unless(self, response: httpx.Response, *allowed: int, hint: str = "") -> None:
        """Raise Undelivered for an answer that says nothing about the points."""
        code = response.status_code
        if code in allowed or (code < 500 and code not in WAITING and not 300 <= code < 400):
            return
        pause = response.headers.get("Retry-After", "")
        problem = f"{self._shown} answers {code} {response.reason_phrase}: {complaint(response)}"
        raise Undelivered(problem + hint, float(pause) if pause.isdecimal() else None)

    def close(self) -> None:
        self._client.close()


def complaint(response: httpx.Response) -> str:
    """What a store says, in a line."""
    return " ".join(response.text.split())[:ERROR_LENGTH]


def gzip(content: memoryview | bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(content) + packer.flush()


REQUESTS = 2  # at a time: while a store works at one, it reads the other


class Store(Protocol):
    """A server that takes texts, some thousand in a request."""

    def prepare(self) -> None: ...
    def texts(self, history: DataFrame) -> DataFrame: ...
    def post(self, lines: pa.Array) -> StoreAnswer: ...
    def close(self) -> None: ...


class HttpTarget:
    def __init__(self, store: Store, size: int) -> None:
        self._store = store
        self._size = size
        self._is_prepared = False

    def deliver(self, rows: DataFrame, batch: PointBatch, delivery: StoreDelivery) -> None:  # noqa: ARG002  points know their place themselves
        if not self._is_prepared:
            delivery.patiently(self._store.prepare, 0)
            self._is_prepared = True
        with closing(_Requests(self._store, delivery)) as requests:
            for reached_ms, some in chunks(rows):
                texts = self._store.texts(some).toArrow()["text"]  # while those before are sent
                requests.finish()
                requests.begin(slices(texts, self._size), reached_ms)
            requests.finish()

    def close(self) -> None:
        self._store.close()


class _Requests:
    """Some at a time; those of a later moment begin when all of the one before were taken."""

    def __init__(self, store: Store, delivery: StoreDelivery) -> None:
        self._store = store
        self._delivery = delivery
        self._pool = ThreadPoolExecutor(REQUESTS)
        self._begun: list[Future[None]] = []
        self._reaching_ms = 0

    def begin(self, requests: Iterable[pa.Array], reaching_ms: int) -> None:
        post, send = self._store.post, self._delivery.send
        self._begun = [self._pool.submit(send, lines, post) for lines in requests]
        self._reaching_ms = reaching_ms

    def finish(self) -> None:
        for request in self._begun:
            request.result()
        self._delivery.reached(self._reaching_ms)

    def close(self) -> None:
        """Leave out what has not begun."""
        self._pool.shutdown(cancel_futures=True)
