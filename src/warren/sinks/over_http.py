"""Stores that are servers: Spark makes texts of history, threads of ours send them meanwhile."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from warren.sinks.chunks import chunks, slices
from warren.sinks.delivery import Answer, Batch, Delivery

REQUESTS = 2  # at a time: while a store works at one, it reads the other


class Store(Protocol):
    """A server that takes texts, some thousand in a request."""

    def prepare(self) -> None: ...
    def texts(self, history: DataFrame) -> DataFrame: ...
    def post(self, lines: pa.Array) -> Answer: ...
    def close(self) -> None: ...


class OverHttp:
    def __init__(self, store: Store, size: int) -> None:
        self._store = store
        self._size = size
        self._is_prepared = False

    def deliver(self, rows: DataFrame, batch: Batch, delivery: Delivery) -> None:  # noqa: ARG002  points know their place themselves
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

    def __init__(self, store: Store, delivery: Delivery) -> None:
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
