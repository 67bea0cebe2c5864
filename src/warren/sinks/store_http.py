"""Stores with an HTTP API: Spark turns history into texts while our threads send earlier ones."""

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
# The cause is the store or the log-in, not the points: retry later.
WAITING = {401, 403, 404, 408, 425, 429}


class Server:
    """A store's server, with kept connections."""

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
        return self.request("POST", path, headers=headers, params=params, content=gzip(content))

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        params: dict[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx.Response:
        """Return any response; raise Undelivered if there is none."""
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
        """Raise Undelivered for a response that is not about the points."""
        code = response.status_code
        if code in allowed or (code < 500 and code not in WAITING and not 300 <= code < 400):
            return
        pause = response.headers.get("Retry-After", "")
        problem = f"{self._shown} answers {code} {response.reason_phrase}: {complaint(response)}"
        raise Undelivered(problem + hint, float(pause) if pause.isdecimal() else None)

    def close(self) -> None:
        self._client.close()


def complaint(response: httpx.Response) -> str:
    """The store's error message in one line."""
    return " ".join(response.text.split())[:ERROR_LENGTH]


def gzip(content: memoryview | bytes) -> bytes:
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31)
    return compressor.compress(content) + compressor.flush()


REQUESTS = 2  # at a time: while a store processes one, it reads the other


class Store(Protocol):
    """A server that accepts texts, some thousand in a request."""

    def prepare(self) -> None: ...
    def texts(self, history: DataFrame) -> DataFrame: ...
    def post(self, lines: pa.Array) -> StoreAnswer: ...
    def close(self) -> None: ...


class HttpTarget:
    def __init__(self, store: Store, size: int) -> None:
        self._store = store
        self._size = size
        self._is_prepared = False

    def deliver(self, rows: DataFrame, batch: PointBatch, delivery: StoreDelivery) -> None:  # noqa: ARG002  stores recognise repeated points
        if not self._is_prepared:
            delivery.retry(self._store.prepare, 0)
            self._is_prepared = True
        with closing(_Requests(self._store, delivery)) as requests:
            for last_ms, some in chunks(rows):
                texts = self._store.texts(some).toArrow()["text"]  # while the chunk before is sent
                requests.finish()
                requests.begin(slices(texts, self._size), last_ms)
            requests.finish()

    def close(self) -> None:
        self._store.close()


class _Requests:
    """Sends a chunk's requests in parallel; the next chunk starts when all are accepted."""

    def __init__(self, store: Store, delivery: StoreDelivery) -> None:
        self._store = store
        self._delivery = delivery
        self._pool = ThreadPoolExecutor(REQUESTS)
        self._started: list[Future[None]] = []
        self._last_ms = 0

    def begin(self, requests: Iterable[pa.Array], last_ms: int) -> None:
        post, send = self._store.post, self._delivery.send
        self._started = [self._pool.submit(send, lines, post) for lines in requests]
        self._last_ms = last_ms

    def finish(self) -> None:
        for request in self._started:
            request.result()
        self._delivery.note_delivered(self._last_ms)

    def close(self) -> None:
        """Cancel requests that have not started."""
        self._pool.shutdown(cancel_futures=True)
